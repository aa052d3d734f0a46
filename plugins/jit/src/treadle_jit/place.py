"""How windows lie over an axis of an array."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """An axis, its windows and their taps.

    Attributes:
        size: of the axis.
        count: of windows.
        begin: where the first tap of the first window lies; negative before the array.
        stride: from window to window.
        dilation: from tap to tap; negative where taps go backwards.
        taps: of a window.
        first: of the windows that have all taps inside.
        last: the one after these.
    """

    size: int
    count: int
    begin: int
    stride: int
    dilation: int
    taps: int
    first: int
    last: int

    @classmethod
    def of(cls, size: int, count: int, begin: int, stride: int, dilation: int, taps: int) -> Place:
        """One, with the windows that have all taps inside."""
        far = begin + (taps - 1) * dilation
        low, high = min(begin, far), max(begin, far)
        first = min(count, max(0, -(low // stride)))
        last = max(first, min(count, (size - 1 - high) // stride + 1))
        return cls(size, count, begin, stride, dilation, taps, first, last)
