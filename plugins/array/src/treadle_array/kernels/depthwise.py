"""Convolution in which every filter sees one channel: multiply-adds of whole rows, for the kernels of ``convolution``.

A row of outputs is ``windows x channels`` long and contiguous. The filters are repeated along it once, and then every tap is one multiply-add of a
row of the input into a row of the output, which stays in the nearest cache: ``einsum`` does just that, on one core, so that items of the batch are
shared out to several.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from math import prod
from typing import Any, ClassVar, NamedTuple

from treadle.runtime import workers
from treadle_array.kernels.window import CACHE_BYTES, framing, items_in, seen, shares

_AXES, _TAPS = "bcdefgh", "ijklmno"
"""Subscripts of einsum; x is a place along a row."""
_MOST_SUMS, _MOST_GEOMETRIES, _MOST_FRAMES = 8, 8, 4
_NEAR_BYTES = 1 << 20
"""Bytes of input and output of a block that is gone over once, row by row: the frame around it stays in a second-level cache."""


def correlate(xp: Any, x: Any, w: Any, begin: Any, strides: Any, dilations: Any, out: Any) -> None:
    """Fill ``out`` with the products of filters ``(*window, outputs)`` and the windows over ``x``; the outputs of a channel are neighbours."""
    window, counts = w.shape[:-1], out.shape[1:-1]
    tiled = xp.empty((*window, counts[-1], w.shape[-1]), w.dtype)
    tiled[...] = w[..., None, :]
    tiled = tiled.reshape(*window, -1)
    target = out.reshape(*out.shape[:-2], -1)
    lead, taps = _AXES[: len(window)], _TAPS[: len(window)]
    convolve = _einsum(xp, f"{lead}{taps}x,{taps}x->{lead}x")

    def share(items: slice, rows: slice) -> Rows:
        geometry = Geometry(
            (begin[0] + rows.start * strides[0], *begin[1:]), window, strides, dilations, (rows.stop - rows.start, *counts[1:]), w.shape[-1]
        )
        return Rows(xp, x[items], target[items] if len(counts) == 1 else target[items, rows], geometry, _NEAR_BYTES)

    def fill(rows: Rows) -> None:
        for load, results in rows.blocks:
            convolve(load(), tiled, results)

    parts = [share(*part) for part in _parts(xp, x.shape[0], counts, out.size * prod(window))]
    workers.together(fill, parts)
    for rows in parts:
        rows.release()


def _parts(xp: Any, batch: int, counts: Any, work: int) -> list[tuple[slice, slice]]:
    """Parts of the output that are filled apart from each other, as slices of the batch and of the first spatial axis."""
    everything = slice(0, counts[0])
    if batch == 1 and len(counts) > 1:
        return [(slice(0, 1), rows) for rows in shares(xp, counts[0], work)]
    return [(items, everything) for items in shares(xp, batch, work)]


def collect(xp: Any, x: Any, g: Any, begin: Any, window: Any, strides: Any, dilations: Any) -> Any:
    """The gradient with respect to the filters, ``(*window, outputs)``."""
    counts, outputs = g.shape[1:-1], g.shape[-1]
    cotangents = g.reshape(*g.shape[:-2], -1)
    lead = _AXES[: len(window)]
    multiply = _einsum(xp, f"{lead}x,{lead}x->x")
    taps = [((slice(None),) * len(window) + tap, tap) for tap in product(*map(range, window))]

    def collected(rows: Rows) -> Any:
        total = part = None
        for load, results in rows.blocks:
            view = load()
            if total is not None:
                part = xp.empty_like(total) if part is None else part
            here = xp.empty((*window, cotangents.shape[-1]), x.dtype) if total is None else part
            for met, tap in taps:
                multiply(view[met], results, here[tap])
            total = here if total is None else xp.add(total, here, out=total)
        return total

    geometry = Geometry(begin, window, strides, dilations, counts, outputs)
    parts = [Rows(xp, x[items], cotangents[items], geometry, CACHE_BYTES) for items in _sums(xp, len(g), g.size * prod(window))]
    total, *others = workers.together(collected, parts)
    for other in others:
        xp.add(total, other, out=total)
    for rows in parts:
        rows.release()
    return xp.add.reduce(total.reshape(*window, counts[-1], outputs), axis=len(window), dtype=x.dtype)


def _sums(xp: Any, batch: int, work: int) -> list[slice]:
    """Slices of the batch that are summed apart, the same ones for any number of threads, so that the bits are the same."""
    return workers.cut(batch, min(_MOST_SUMS, batch, max(1, work // (2 * workers.LEAST))) if xp.__name__ == "numpy" else 1)


class Rows:
    """The windows along rows of the input, for blocks of the batch; made before the work begins, as threads wait for each other in Python code.

    Attributes:
        blocks: per block a function that gives the view ``(batch, *counts[:-1], *window, counts[-1] * outputs)`` of rows of the input, and the rows
            of ``results`` that belong to it. The next block may take the memory of the last one.
    """

    def __init__(self, xp: Any, x: Any, results: Any, geometry: Geometry, block_bytes: int) -> None:
        self._frame: Frame | None = None
        lengths = geometry.lengths
        inside, _ = framing(x.shape[1:-1], geometry.begin, lengths)
        part = x[inside]
        if part.shape[1:-1] == lengths:
            self.blocks = [(lambda: geometry.windows(xp, part), results)]
            return
        batch = len(x)
        step = min(batch, items_in(xp, block_bytes, 2 * x[:1].nbytes * (geometry.outputs // x.shape[-1])))
        self._frame = frame = Frame.taken(xp, x, geometry, step)
        if step == batch:
            self.blocks = [(lambda: frame.load(part), results)]
        else:
            self.blocks = [(partial(frame.load, part[b : b + step]), results[b : b + step]) for b in range(0, batch, step)]

    def release(self) -> None:
        """Let the memory serve again."""
        if self._frame is not None:
            self._frame.give()


class Geometry(NamedTuple):
    """Where windows lie in the input.

    Attributes:
        begin: the first element that the first window sees; negative before the input.
        window: its sizes.
        strides: from window to window.
        dilations: from tap to tap.
        counts: how many windows there are.
        outputs: channels of the output.
    """

    begin: tuple[int, ...]
    window: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    counts: tuple[int, ...]
    outputs: int

    @property
    def lengths(self) -> tuple[int, ...]:
        """Of what all windows together see."""
        return seen(self.counts, self.window, self.strides, self.dilations)

    def windows(self, xp: Any, x: Any) -> Any:
        """The view ``(batch, *counts[:-1], *window, counts[-1] * outputs)`` of a frame."""
        window, strides, counts = self.window, self.strides, self.counts
        if self.outputs > x.shape[-1]:
            x = repeated(xp, x, self.outputs // x.shape[-1])
        *steps, step, channel = x.strides
        if strides[-1] == 1:
            tap = step * self.dilations[-1]
        else:
            x = _gathered(xp, x, window[-1], strides[-1], self.dilations[-1], counts[-1])
            *steps, tap, _, channel = x.strides
        shape = (x.shape[0], *counts[:-1], *window, counts[-1] * self.outputs)
        apart = [a * s for a, s in zip(steps[1:], strides[:-1], strict=True)]
        between = [a * d for a, d in zip(steps[1:], self.dilations[:-1], strict=True)]
        return xp.lib.stride_tricks.as_strided(x, shape, (steps[0], *apart, *between, tap, channel))


class Frame:
    """Memory for the input of some items with zeros around, which stay zeros from call to call, and the view of its windows.

    Taking and giving back are atomic, so calls nest and run in any number of threads.
    """

    _free: ClassVar[dict[Any, list[Frame]]] = {}

    def __init__(self, xp: Any, x: Any, geometry: Geometry, items: int, key: Any) -> None:
        self._xp = xp
        self._key = key
        self._geometry = geometry
        self._memory = xp.zeros((items, *geometry.lengths, x.shape[-1]), x.dtype)
        self._inner = self._memory[framing(x.shape[1:-1], geometry.begin, geometry.lengths)[1]]
        is_view = geometry.strides[-1] == 1 and geometry.outputs == x.shape[-1]
        self._view = geometry.windows(xp, self._memory) if is_view else None

    @classmethod
    def taken(cls, xp: Any, x: Any, geometry: Geometry, items: int) -> Frame:
        """A frame for an input like ``x``, of so many items."""
        key = (xp, x.shape[1:], x.dtype, geometry, items)
        try:
            return cls._free[key].pop()
        except (KeyError, IndexError):
            return cls(xp, x, geometry, items, key)

    def give(self) -> None:
        """Keep the frame for the next call; large ones are not kept, nor many."""
        if self._memory.nbytes <= CACHE_BYTES:
            free = self._free
            if len(free) >= _MOST_GEOMETRIES:
                free.clear()
            kept = free.setdefault(self._key, [])
            if len(kept) < _MOST_FRAMES:
                kept.append(self)

    def load(self, part: Any) -> Any:
        """The windows of some items, after these have been copied in."""
        items = len(part)
        if part.size:  # else all of the frame lies in the padding
            self._inner[:items] = part
        return self._geometry.windows(self._xp, self._memory[:items]) if self._view is None else self._view[:items]


def repeated(xp: Any, x: Any, multiplier: int) -> Any:
    """Every channel as often as it has outputs."""
    result = xp.empty((*x.shape, multiplier), x.dtype)
    for i in range(multiplier):
        result[..., i] = x
    return result.reshape(*x.shape[:-1], -1)


def _gathered(xp: Any, x: Any, window: int, stride: int, dilation: int, count: int) -> Any:
    """``(..., window, count, channels)``: what each tap meets along the last spatial axis, side by side in spite of the stride."""
    *steps, step, channel = x.strides
    view = xp.lib.stride_tricks.as_strided(x, (*x.shape[:-2], window, count, x.shape[-1]), (*steps, step * dilation, step * stride, channel))
    return xp.ascontiguousarray(view)


def _einsum(xp: Any, subscripts: str) -> Any:
    """``einsum`` of two arrays that fills a third; CuPy's cannot."""
    if xp.__name__ == "numpy":
        return lambda a, b, out: xp.einsum(subscripts, a, b, out=out)

    def run(a: Any, b: Any, out: Any) -> None:
        out[...] = xp.einsum(subscripts, a, b)

    return run
