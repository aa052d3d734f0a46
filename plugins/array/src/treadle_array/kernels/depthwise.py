"""Convolution in which every filter sees one channel: multiply-adds of whole rows, for the kernels of ``convolution``.

A row of outputs is ``windows x channels`` long and contiguous. The filters are repeated along it once, and then every tap is one multiply-add of a
row of the input into a row of the output, which stays in the nearest cache: ``einsum`` does just that.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from treadle_array.kernels.window import batches, frame, seen


def correlate(xp: Any, x: Any, w: Any, begin: Any, strides: Any, dilations: Any, out: Any) -> None:
    """Fill ``out`` with the products of filters ``(*window, outputs)`` and the windows over ``x``; the outputs of a channel are neighbours."""
    window, counts = w.shape[:-1], out.shape[1:-1]
    tiled = xp.empty((*window, counts[-1], w.shape[-1]), w.dtype)
    tiled[...] = w[..., None, :]
    tiled = tiled.reshape(*window, -1)
    rows = out.reshape(*out.shape[:-2], -1)
    convolve = _einsum(xp, _subscripts(len(window))[0])
    for items, view in _row_windows(xp, x, begin, window, strides, dilations, counts, w.shape[-1]):
        convolve(view, tiled, rows[items])


def collect(xp: Any, x: Any, g: Any, begin: Any, window: Any, strides: Any, dilations: Any) -> Any:
    """The gradient with respect to the filters, ``(*window, outputs)``."""
    counts, outputs = g.shape[1:-1], g.shape[-1]
    rows = g.reshape(*g.shape[:-2], -1)
    subscripts = _subscripts(len(window))[1]
    total = None
    for items, view in _row_windows(xp, x, begin, window, strides, dilations, counts, outputs):
        part = xp.einsum(subscripts, view, rows[items])
        total = part if total is None else xp.add(total, part, out=total)
    return xp.add.reduce(total.reshape(*window, counts[-1], outputs), axis=len(window), dtype=x.dtype)


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


@lru_cache(maxsize=16)
def _subscripts(rank: int) -> tuple[str, str]:
    """Einsum subscripts of the convolution and of the gradient of its filters; x is a place along a row."""
    lead, taps = "bcdefgh"[:rank], "ijklmno"[:rank]
    return f"{lead}{taps}x,{taps}x->{lead}x", f"{lead}{taps}x,{lead}x->{taps}x"


def _einsum(xp: Any, subscripts: str) -> Any:
    """``einsum`` of two arrays that fills a third; CuPy's cannot."""
    if xp.__name__ == "numpy":
        return lambda a, b, out: xp.einsum(subscripts, a, b, out=out)

    def run(a: Any, b: Any, out: Any) -> None:
        out[...] = xp.einsum(subscripts, a, b)

    return run
