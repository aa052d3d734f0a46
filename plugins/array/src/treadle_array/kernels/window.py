"""Windows that slide over the spatial axes of a channels-last array, for the kernels of convolution, pooling and morphology.

Here are the sizes and offsets of windows, the part of an array that they see (with zeros outside), the view of all windows, and the blocks of work
that fit a cache. No kernel is declared here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any

from treadle.runtime import workers

BLOCK_BYTES = 12 << 20
"""Bytes of a matrix of windows on the host: larger ones would leave the last cache, smaller ones would call BLAS too often."""
CACHE_BYTES = 2 << 20
"""Bytes of arrays that are gone over several times on the host: more would leave the cache of a core."""
CARD_BYTES = 256 << 20
"""Both on a card, which needs more work at a time."""

Padding = str | tuple[tuple[int, int], ...]


@lru_cache(maxsize=4096)
def geometry(
    sizes: tuple[int, ...], window: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...], padding: Padding
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many windows there are per axis, and how many elements of padding come before the first element.

    Raises:
        ValueError: a window is empty, or larger than what it slides over; a stride or a dilation is not positive.
    """
    if min(*strides, *dilations, 1) < 1:
        raise ValueError(f"strides {list(strides)} and dilations {list(dilations)} must be 1 or more")
    counts, before = [], []
    for axis, (size, length, stride, dilation) in enumerate(zip(sizes, window, strides, dilations, strict=True)):
        extent = (length - 1) * dilation + 1
        if padding == "SAME":
            count = -(-size // stride)
            start = max((count - 1) * stride + extent - size, 0) // 2
        else:
            start, end = (0, 0) if isinstance(padding, str) else padding[axis]
            if length < 1 or (size + start + end < extent and extent > 1):
                raise ValueError(f"a window of {length} elements (dilation {dilation}) does not fit {size} elements with padding {start} and {end}")
            count = (size + start + end - extent) // stride + 1
        if length < 1:
            raise ValueError("a window has no elements")
        counts.append(count)
        before.append(start)
    return tuple(counts), tuple(before)


@lru_cache(maxsize=4096)
def valid_windows(size: int, count: int, stride: int, offset: int) -> tuple[slice, slice]:
    """Of windows whose tap lies at ``index * stride + offset``: which have it inside, and the elements that it meets there."""
    first = max(0, -(offset // stride))
    last = min(count, (size - 1 - offset) // stride + 1)
    if last <= first:
        return slice(0, 0), slice(0, 0)
    start = first * stride + offset
    return slice(first, last), slice(start, start + (last - first - 1) * stride + 1, stride)


def frame(xp: Any, x: Any, begin: tuple[int, ...], lengths: tuple[int, ...]) -> Any:
    """The part of ``x`` that starts at ``begin`` (negative: before it) and has ``lengths``, with zeros outside; a view where nothing is outside."""
    inside, place = framing(x.shape[1:-1], begin, lengths)
    part = x[inside]
    if part.shape[1:-1] == lengths:
        return part
    whole = xp.zeros((x.shape[0], *lengths, x.shape[-1]), x.dtype)
    if part.size:
        whole[place] = part
    return whole


@lru_cache(maxsize=4096)
def framing(sizes: tuple[int, ...], begin: tuple[int, ...], lengths: tuple[int, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """What of a channels-last array of these sizes is in a frame, and its place there."""
    inside = [slice(max(b, 0), max(min(b + n, s), 0)) for b, n, s in zip(begin, lengths, sizes, strict=True)]
    place = [slice(s.start - b, s.stop - b) for s, b in zip(inside, begin, strict=True)]
    return (slice(None), *inside), (slice(None), *place)


def seen(counts: tuple[int, ...], window: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...]) -> tuple[int, ...]:
    """The lengths that so many windows reach over."""
    return tuple((n - 1) * s + (k - 1) * d + 1 for n, k, s, d in zip(counts, window, strides, dilations, strict=True))


def windows(xp: Any, x: Any, counts: tuple[int, ...], window: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...]) -> Any:
    """The view ``(..., *counts, *window, channels)`` of all windows over a frame ``(..., *lengths, channels)``."""
    first = x.ndim - 1 - len(window)
    lead, steps, channel = x.strides[:first], x.strides[first:-1], x.strides[-1]
    return xp.lib.stride_tricks.as_strided(
        x,
        (*x.shape[:first], *counts, *window, x.shape[-1]),
        (*lead, *[a * s for a, s in zip(steps, strides, strict=True)], *[a * d for a, d in zip(steps, dilations, strict=True)], channel),
    )


def blocks(xp: Any, batch: int, rows: int, row_bytes: int) -> Iterator[tuple[slice, slice]]:
    """Slices of the batch and of the first spatial axis whose windows fit a block; whole items together, or rows of one item."""
    limit = BLOCK_BYTES if xp.__name__ == "numpy" else CARD_BYTES
    images = max(1, limit // max(1, rows * row_bytes))
    step = rows if rows * row_bytes <= limit else max(1, limit // row_bytes)
    for b in range(0, batch, images):
        for r in range(0, rows, step):
            yield slice(b, min(b + images, batch)), slice(r, min(r + step, rows))


def shares(xp: Any, count: int, work: int) -> list[slice]:
    """``range(count)`` in as many slices as threads are worth it on the host; a card takes all at once."""
    return workers.shares(count, work) if xp.__name__ == "numpy" else [slice(0, count)]


def for_batches(xp: Any, x: Any, calls: int, function: Callable[[slice], None]) -> None:
    """Call a function for slices of the batch whose work stays in the cache, in whole items, several at the same time on the host.

    Args:
        xp: the array module.
        x: what is worked on, of which a result has the size too.
        calls: how many calls per element the function makes, about.
        function: works on some items of ``x``.
    """
    batch = x.shape[0]
    step = items_in(xp, CACHE_BYTES, 2 * x[:1].nbytes)

    def run(starts: range) -> None:
        for start in starts:
            function(slice(start, min(start + step, batch)))

    if xp.__name__ == "numpy":
        workers.together(run, workers.starts(batch, step, calls * x.size))
    else:
        run(range(0, batch, step))


def items_in(xp: Any, host_bytes: int, item_bytes: int) -> int:
    """How many items of the batch fit so many bytes on the host, or the cache of a card; one at least."""
    return max(1, (host_bytes if xp.__name__ == "numpy" else CARD_BYTES) // max(1, item_bytes))


def widened(xp: Any, x: Any) -> Any:
    """Short floats as float32, in which they are accumulated; anything else as it is."""
    return x.astype(xp.float32) if x.dtype.itemsize < 4 and x.dtype.kind not in "iu" else x


class Scratch:
    """Memory that kernels use again from call to call: fresh megabytes cost more in page faults than the work that fills them.

    Taking and giving back are atomic, so calls nest and run in any number of threads. CuPy has a pool of its own, which knows of streams.
    """

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self._free: list[Any] | None = [] if xp.__name__ == "numpy" else None

    def take(self, size: int, dtype: Any) -> Any:
        """A flat array of ``size`` elements with any content."""
        needed = size * dtype.itemsize
        if self._free:
            try:
                memory = self._free.pop()
            except IndexError:
                memory = None
            if memory is not None and memory.nbytes >= needed:
                return memory[:needed].view(dtype)
        return self._xp.empty(needed, self._xp.uint8)[:].view(dtype)

    def give(self, taken: Any) -> None:
        """Hand back what was taken, for the next call; large pieces are not kept, nor many."""
        if self._free is not None and len(self._free) < 2 and taken.base.nbytes <= BLOCK_BYTES:
            self._free.append(taken.base)


@cache
def scratch(xp: Any) -> Scratch:
    """The scratch memory of an array module."""
    return Scratch(xp)


def deliver(result: Any, dtype: Any, out: Any) -> Any:
    """A result in the dtype that it is to have, put into ``out`` if there is one."""
    if out is None:
        return result if result.dtype == dtype else result.astype(dtype)
    if out is not result:
        out[...] = result
    return out
