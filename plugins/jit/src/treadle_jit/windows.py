"""Compiled loops over windows, called with arrays: what they take, where windows lie, and how rows are shared out to threads.

The arrays are channels-last with one or two spatial axes. Sizes, dtypes and attributes say whether a call is worth it, so that the same arguments
always go the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

from treadle.runtime import workers
from treadle_jit.functions import function, is_usable
from treadle_jit.place import Place

LEAST = 1 << 20
"""Multiply-adds from which compiled loops are taken, a tenth of a millisecond in NumPy. LLVM takes 40 to load, and 15 to 150 for a function."""

LEAST_CHANNELS = 8
"""Channels from which they are: fewer leave most of a vector empty."""

_FARTHEST = 1 << 40
"""Strides, dilations and padding up to which no place of a tap leaves 64 bits."""

_MOST_TAPS = 64
"""More would fill pages of code."""

_SUMS_AT_ONCE, _COPIES_AT_ONCE = 32, 2
"""Multiply-adds, and elements of a large matrix, in the time of one elementary operation of NumPy, about."""
_MOST_SUMS = 8
_DTYPES = {"f4": False, "f8": True}


def takes(window: Sequence[int], channels: int, work: int, steps: Any, *arrays: Any) -> bool:
    """Whether compiled loops do this work.

    Args:
        window: sizes of a window.
        channels: that a vector is made of.
        work: multiply-adds.
        steps: strides, dilations and padding.
        *arrays: all that go in and out.
    """
    kind = arrays[0].dtype
    return (
        0 < work >= LEAST
        and channels >= LEAST_CHANNELS
        and len(window) <= 2
        and prod(window) <= _MOST_TAPS
        and kind.str[1:] in _DTYPES
        and kind.isnative
        and all(a.dtype == kind and a.flags.c_contiguous for a in arrays)
        and all(-_FARTHEST < n < _FARTHEST for some in steps for n in some)
        and is_usable()
    )


def fill_weighted(x: Any, weights: Any, out: Any, window: Any, begin: Any, strides: Any, dilations: Any) -> None:
    """Fill ``out (batch, *counts, channels)`` with what windows over ``x`` meet, times ``weights (*window, channels)``, summed over the taps."""
    numbers = _numbers(x.shape[1:-1], out.shape[1:-1], tuple(window), tuple(begin), tuple(strides), tuple(dilations))
    addresses = (_address(x), _address(weights), _address(out))
    rows = slice(0, prod(out.shape[:-2]))
    _share(function("weighted_sum", _is_double(x), _pair(window)), addresses, rows, out.shape[-1], out.size * prod(window) // _SUMS_AT_ONCE, numbers)


def fill_from_planes(planes: Any, out: Any, window: Any, begin: Any, dilations: Any) -> None:
    """Fill ``out (batch, *counts, channels)`` with the sum over the taps of what each meets in ``planes (batch, *sizes, taps, channels)``."""
    sizes = planes.shape[1 : 1 + len(window)]
    numbers = _numbers(sizes, out.shape[1:-1], tuple(window), tuple(begin), (1,) * len(window), tuple(dilations))
    addresses = (_address(planes), _address(out))
    rows = slice(0, prod(out.shape[:-2]))
    _share(function("sum_of_planes", _is_double(out)), addresses, rows, out.shape[-1], planes.size // _COPIES_AT_ONCE, numbers)


def fill_unfolded(x: Any, out: Any, counts: Any, window: Any, begin: Any, strides: Any, dilations: Any, rows: slice) -> None:
    """Fill ``out (windows, taps * channels)`` with the windows over ``x``, those whose rows ``(batch, *counts[:-1])`` are in a slice.

    One core writes as fast as two can, and a product that follows waits longer for what the other one wrote.
    """
    numbers = _numbers(x.shape[1:-1], tuple(counts), tuple(window), tuple(begin), tuple(strides), tuple(dilations))
    row_bytes = out.nbytes // (rows.stop - rows.start)
    fill = function("unfolded", _is_double(x))
    fill(_address(x), _address(out) - rows.start * row_bytes, rows.start, rows.stop, x.shape[-1], *numbers)


def products_with(xp: Any, x: Any, g: Any, window: Any, begin: Any, strides: Any, dilations: Any) -> Any:
    """The sum over all windows of what each tap meets in ``x`` times ``g (batch, *counts, channels)``, as ``(*window, channels)``.

    Parts of the rows are summed apart, the same ones for any number of threads.
    """
    numbers = _numbers(x.shape[1:-1], g.shape[1:-1], tuple(window), tuple(begin), tuple(strides), tuple(dilations))
    multiply = function("products", _is_double(x), _pair(window))
    rows = prod(g.shape[:-2])
    parts = workers.cut(rows, min(_MOST_SUMS, rows))
    sums = xp.zeros((len(parts), *window, g.shape[-1]), x.dtype)
    here, there, where, step = _address(x), _address(g), _address(sums), sums[0].nbytes

    def run(group: slice) -> None:
        for part in range(group.start, group.stop):
            multiply(here, there, where + part * step, parts[part].start, parts[part].stop, g.shape[-1], *numbers)

    workers.together(run, workers.shares(len(parts), g.size * prod(window) // _SUMS_AT_ONCE))
    return xp.add.reduce(sums, axis=0)


def _share(fill: Callable[..., None], addresses: Any, rows: slice, channels: int, work: int, numbers: tuple[int, ...]) -> None:
    """Go through rows, some in each thread that is worth it."""

    def run(part: slice) -> None:
        fill(*addresses, rows.start + part.start, rows.start + part.stop, channels, *numbers)

    workers.together(run, workers.shares(rows.stop - rows.start, work))


@lru_cache(maxsize=1024)
def _numbers(sizes: Any, counts: Any, window: Any, begin: Any, strides: Any, dilations: Any) -> tuple[int, ...]:
    """The numbers of both places, height first; there is one height where there is one axis."""
    places = [Place.of(*axis) for axis in zip(sizes, counts, begin, strides, dilations, window, strict=True)]
    if len(places) == 1:
        places.insert(0, Place.of(1, 1, 0, 1, 1, 1))
    return (*places[0], *places[1])


def _is_double(array: Any) -> bool:
    return _DTYPES[array.dtype.str[1:]]


def _pair(window: Any) -> tuple[int, int]:
    return (1, *window) if len(window) == 1 else tuple(window)


def _address(array: Any) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
