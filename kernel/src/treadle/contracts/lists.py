"""The buffer of a value that is a list of tensors (its dtype is ``dtypes.list_of``), the same for every device.

For everything but the ops made for it, such a value is an opaque scalar: it can be captured, carried round a loop, given back by a branch.
"""

from __future__ import annotations

from typing import Any, ClassVar


class BufferList:
    """Buffers by their position. It is never changed, as no buffer is; a position without one stands for zeros.

    Args:
        items: position to buffer.
        size: the number of positions.
    """

    __slots__ = ("items", "size")

    shape: ClassVar[tuple[int, ...]] = ()
    ndim: ClassVar[int] = 0

    def __init__(self, items: dict[int, Any], size: int) -> None:
        self.items = items
        self.size = size

    def __repr__(self) -> str:
        return f"<list of {self.size} tensors, {len(self.items)} of them set>"
