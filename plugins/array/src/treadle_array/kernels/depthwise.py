"""Convolution in which every filter sees one channel: multiply-adds of whole rows, for the kernels of ``convolution``.

A row of outputs is ``windows x channels`` long and contiguous. The filters are repeated along it once, and then every tap is one multiply-add of a
row of the input into a row of the output, which stays in the nearest cache: ``einsum`` does just that, on one core, so that items of the batch are
shared out to several.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

from treadle.runtime import workers
from treadle_array.kernels.window import batches, frame, seen

_AXES, _TAPS = "bcdefgh", "ijklmno"
"""Subscripts of einsum; x is a place along a row."""
_MOST_SUMS = 8


def correlate(xp: Any, x: Any, w: Any, begin: Any, strides: Any, dilations: Any, out: Any) -> None:
    """Fill ``out`` with the products of filters ``(*window, outputs)`` and the windows over ``x``; the outputs of a channel are neighbours."""
    window, counts = w.shape[:-1], out.shape[1:-1]
    tiled = xp.empty((*window, counts[-1], w.shape[-1]), w.dtype)
    tiled[...] = w[..., None, :]
    tiled = tiled.reshape(*window, -1)
    target = out.reshape(*out.shape[:-2], -1)
    lead, taps = _AXES[: len(window)], _TAPS[: len(window)]
    convolve = _einsum(xp, f"{lead}{taps}x,{taps}x->{lead}x")

    def fill(part: tuple[slice, slice]) -> None:
        items, rows = part
        first, number = (begin[0] + rows.start * strides[0], *begin[1:]), (rows.stop - rows.start, *counts[1:])
        results = target[items] if len(counts) == 1 else target[items, rows]
        for block, view in _row_windows(xp, x[items], first, window, strides, dilations, number, w.shape[-1]):
            convolve(view, tiled, results[block])

    workers.together(fill, _parts(xp, x.shape[0], counts, out.size * prod(window)))


def _parts(xp: Any, batch: int, counts: Any, work: int) -> list[tuple[slice, slice]]:
    """Parts of the output that are filled apart from each other, as slices of the batch and of the first spatial axis."""
    everything = slice(0, counts[0])
    if xp.__name__ != "numpy":
        return [(slice(0, batch), everything)]
    if batch == 1 and len(counts) > 1:
        return [(slice(0, 1), rows) for rows in workers.shares(counts[0], work)]
    return [(items, everything) for items in workers.shares(batch, work)]


def collect(xp: Any, x: Any, g: Any, begin: Any, window: Any, strides: Any, dilations: Any) -> Any:
    """The gradient with respect to the filters, ``(*window, outputs)``."""
    counts, outputs = g.shape[1:-1], g.shape[-1]
    rows = g.reshape(*g.shape[:-2], -1)
    lead = _AXES[: len(window)]
    multiply = _einsum(xp, f"{lead}x,{lead}x->x")
    taps = [((slice(None),) * len(window) + tap, tap) for tap in product(*map(range, window))]

    def collected(items: slice) -> Any:
        total = xp.zeros((*window, rows.shape[-1]), x.dtype)
        part = xp.empty_like(total)
        for block, view in _row_windows(xp, x[items], begin, window, strides, dilations, counts, outputs):
            cotangents = rows[items][block]
            for met, tap in taps:
                multiply(view[met], cotangents, part[tap])
            xp.add(total, part, out=total)
        return total

    total, *others = workers.together(collected, _sums(xp, g.shape[0], g.size * prod(window)))
    for other in others:
        xp.add(total, other, out=total)
    return xp.add.reduce(total.reshape(*window, counts[-1], outputs), axis=len(window), dtype=x.dtype)


def _sums(xp: Any, batch: int, work: int) -> list[slice]:
    """Slices of the batch that are summed apart, the same ones for any number of threads, so that the bits are the same."""
    return workers.cut(batch, min(_MOST_SUMS, batch, max(1, work // workers.LEAST)) if xp.__name__ == "numpy" else 1)


def _row_windows(xp: Any, x: Any, begin: Any, window: Any, strides: Any, dilations: Any, counts: Any, outputs: int) -> Any:
    """For blocks of the batch, the view ``(batch, *counts[:-1], *window, counts[-1] * outputs)`` of rows of the input."""
    lengths = seen(counts, window, strides, dilations)
    multiplier = outputs // x.shape[-1]
    for items in batches(xp, x.shape[0], 2 * x[:1].nbytes * multiplier):
        part = frame(xp, x[items], begin, lengths)
        if multiplier > 1:
            part = _repeated(xp, part, multiplier)
        *steps, step, channel = part.strides
        if strides[-1] == 1:
            tap = step * dilations[-1]
        else:
            part = _gathered(xp, part, window[-1], strides[-1], dilations[-1], counts[-1])
            *steps, tap, _, channel = part.strides
        shape = (part.shape[0], *counts[:-1], *window, counts[-1] * outputs)
        apart = [a * s for a, s in zip(steps[1:], strides[:-1], strict=True)]
        inside = [a * d for a, d in zip(steps[1:], dilations[:-1], strict=True)]
        yield items, xp.lib.stride_tricks.as_strided(part, shape, (steps[0], *apart, *inside, tap, channel))


def _repeated(xp: Any, x: Any, multiplier: int) -> Any:
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
