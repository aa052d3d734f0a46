"""Grey-scale dilation: the maximum over a window of elements plus those of a filter; the gradient goes to the first of the largest sums.

NaN is no candidate, and a window with no sum greater gives the lowest finite number.
"""

from __future__ import annotations

from math import prod
from typing import Any

from treadle.declare import kernel
from treadle_array.kernels.pooling import inside_taps, kept, lowest, pick, put, scatter, taps
from treadle_array.kernels.window import deliver, for_batches, geometry, widened


@kernel("dilation2d")
def dilation2d(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, filters: Any, *, strides: Any, padding: Any, dilations: Any) -> Any:
        x, w, maxima, before = _prepared(xp, input, filters, strides, padding, dilations)
        if maxima.size:
            counts, least = maxima.shape[1:-1], maxima[:1, :1, :1, :1].copy()

            def fill(items: slice) -> None:
                block, largest = x[items], maxima[items]
                for _, tap, which, met in taps(block, counts, w.shape[:2], strides, dilations, before):
                    target = largest[which]
                    xp.maximum(target, block[met] + w[tap], out=target)

            for_batches(xp, x, 2 * prod(w.shape[:2]), fill)
            if x.dtype.kind not in "iu" and bool(xp.isnan(maxima).any()):
                maxima[...] = least
                _note_first(xp, x, w, maxima, strides, dilations, before)
        return deliver(maxima, input.dtype, None)

    return run


@kernel("dilation2d_backprop_input")
def dilation2d_backprop_input(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, filters: Any, g: Any, *, strides: Any, padding: Any, dilations: Any) -> Any:
        maxima, first, before = _dilate(xp, input, filters, strides, padding, dilations)
        _require_shape(g, maxima.shape)
        wide = widened(xp, g)
        result = xp.zeros(input.shape, wide.dtype)
        if g.size:
            scatter(xp, first, wide, filters.shape[:2], strides, dilations, before, result)
        return deliver(result, g.dtype, None)

    return run


@kernel("dilation2d_pick_input")
def dilation2d_pick_input(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, filters: Any, x: Any, *, strides: Any, padding: Any, dilations: Any) -> Any:
        maxima, first, before = _dilate(xp, input, filters, strides, padding, dilations)
        _require_shape(x, input.shape)
        result = xp.zeros(maxima.shape, x.dtype)
        if result.size:
            pick(xp, first, x, filters.shape[:2], strides, dilations, before, result)
        return result

    return run


@kernel("dilation2d_backprop_filter")
def dilation2d_backprop_filter(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, filters: Any, g: Any, *, strides: Any, padding: Any, dilations: Any) -> Any:
        maxima, first, _ = _dilate(xp, input, filters, strides, padding, dilations)
        _require_shape(g, maxima.shape)
        wide = widened(xp, g)
        result = xp.zeros(filters.shape, wide.dtype)
        rows = result.reshape(prod(filters.shape[:2]), filters.shape[2])
        if g.size:
            for number in range(rows.shape[0]):
                rows[number] = xp.add.reduce(kept(xp, wide, xp.equal(first, number)), axis=(0, 1, 2), dtype=wide.dtype)
        return deliver(result, g.dtype, None)

    return run


@kernel("dilation2d_pick_filter")
def dilation2d_pick_filter(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, filters: Any, w: Any, *, strides: Any, padding: Any, dilations: Any) -> Any:
        _, first, _ = _dilate(xp, input, filters, strides, padding, dilations)
        _require_shape(w, filters.shape)
        return w.reshape(prod(filters.shape[:2]), filters.shape[2])[first, xp.arange(filters.shape[2])]

    return run


def _prepared(xp: Any, input: Any, filters: Any, strides: Any, padding: Any, dilations: Any) -> tuple[Any, Any, Any, Any]:
    """Input and filters in the dtype of the sums, the lowest number for every window, and the padding before the first element."""
    if input.ndim != 4 or filters.ndim != 3 or input.shape[3] != filters.shape[2]:
        raise ValueError(f"input of shape {input.shape} and filters of shape {filters.shape} do not fit")
    counts, before = geometry(input.shape[1:3], filters.shape[:2], strides, dilations, padding)
    x, w = widened(xp, input), widened(xp, filters)
    return x, w, xp.full((x.shape[0], *counts, x.shape[3]), xp.array(lowest(input.dtype), x.dtype), x.dtype), before


def _dilate(xp: Any, input: Any, filters: Any, strides: Any, padding: Any, dilations: Any) -> tuple[Any, Any, Any]:
    """The largest sums, the numbers of the taps that gave them first, and the padding before the first element."""
    x, w, maxima, before = _prepared(xp, input, filters, strides, padding, dilations)
    return maxima, _note_first(xp, x, w, maxima, strides, dilations, before), before


def _note_first(xp: Any, x: Any, w: Any, maxima: Any, strides: Any, dilations: Any, before: Any) -> Any:
    """Raise ``maxima`` to the largest sums, NaN being none; the numbers of the taps that gave them first."""
    window, counts = w.shape[:2], maxima.shape[1:-1]
    first = inside_taps(xp, x, counts, window, strides, dilations, before)
    if maxima.size:
        for number, tap, which, met in taps(x, counts, window, strides, dilations, before):
            sums = x[met] + w[tap]
            larger = xp.greater(sums, maxima[which])
            put(xp, maxima[which], sums, larger)
            put(xp, first[which], xp.array(number, first.dtype), larger)
    return first


def _require_shape(x: Any, shape: tuple[int, ...]) -> None:
    if x.shape != shape:
        raise ValueError(f"shape {x.shape} instead of {shape}")
