"""Pooling by shifted maxima and sums, one axis after the other; the gradient of a maximum goes to the first element that has it.

NaN is no candidate for a maximum, and a window with no number greater gives the lowest finite one.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from math import prod
from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType, from_numpy
from treadle_array.kernels.window import deliver, for_batches, geometry, valid_windows, widened


@kernel("max_pool", out=True)
def max_pool(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, *, window: Any, strides: Any, padding: Any, dilations: Any, out: Any = None) -> Any:
        counts, before = _geometry(input, window, strides, dilations, padding)
        x = widened(xp, input)
        result = _target(xp, out, (x.shape[0], *counts, x.shape[-1]), x.dtype)
        if result.size:
            _maxima(xp, x, lowest(input.dtype), window, strides, dilations, before, result)
        return deliver(result, input.dtype, out)

    return run


@kernel("max_pool_with_argmax")
def max_pool_with_argmax(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, *, window: Any, strides: Any, padding: Any, output_dtype: DType, include_batch_in_index: bool) -> Any:
        ones = (1,) * len(window)
        counts, before = _geometry(input, window, strides, ones, padding)
        x = widened(xp, input)
        result = xp.empty((x.shape[0], *counts, x.shape[-1]), x.dtype)
        if not result.size:
            return result.astype(input.dtype), xp.zeros(result.shape, output_dtype.numpy)
        _maxima(xp, x, lowest(input.dtype), window, strides, ones, before, result)
        first = first_taps(xp, x, result, window, strides, ones, before)
        steps = [prod(x.shape[axis + 2 :]) for axis in range(len(window))]
        offsets = [sum(t * n for t, n in zip(tap, steps, strict=True)) for tap in itertools.product(*map(range, window))]
        index = xp.take(xp.array(offsets, xp.int64), first)
        for axis, (count, stride, start, step) in enumerate(zip(counts, strides, before, steps, strict=True)):
            index += along((xp.arange(count) * stride - start) * step, axis + 1, index.ndim)
        index += xp.arange(x.shape[-1])
        if include_batch_in_index:
            index += along(xp.arange(x.shape[0]) * prod(x.shape[1:]), 0, index.ndim)
        return deliver(result, input.dtype, None), index.astype(output_dtype.numpy)

    return run


@kernel("max_pool_grad")
def max_pool_grad(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, output: Any, g: Any, *, window: Any, strides: Any, padding: Any, dilations: Any) -> Any:
        counts, before = _geometry(input, window, strides, dilations, padding)
        _require_shape(g, (input.shape[0], *counts, input.shape[-1]))
        _require_shape(output, g.shape)
        wide = widened(xp, g)
        result = xp.zeros(input.shape, wide.dtype)

        def spread(items: slice) -> None:
            first = first_taps(xp, widened(xp, input[items]), widened(xp, output[items]), window, strides, dilations, before)
            scatter(xp, first, wide[items], window, strides, dilations, before, result[items])

        if g.size:
            for_batches(xp, input, 4, spread)
        return deliver(result, g.dtype, None)

    return run


@kernel("max_pool_pick")
def max_pool_pick(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, output: Any, x: Any, *, window: Any, strides: Any, padding: Any, dilations: Any) -> Any:
        counts, before = _geometry(input, window, strides, dilations, padding)
        _require_shape(x, input.shape)
        _require_shape(output, (input.shape[0], *counts, input.shape[-1]))
        result = xp.zeros(output.shape, x.dtype)
        if result.size:
            first = first_taps(xp, widened(xp, input), widened(xp, output), window, strides, dilations, before)
            pick(xp, first, x, window, strides, dilations, before, result)
        return result

    return run


@kernel("avg_pool", out=True)
def avg_pool(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, *, window: Any, strides: Any, padding: Any, dilations: Any, out: Any = None) -> Any:
        counts, before = _geometry(input, window, strides, dilations, padding)
        x = widened(xp, input)
        result = _target(xp, out, (x.shape[0], *counts, x.shape[-1]), x.dtype)
        if result.size:
            zero = xp.zeros((), x.dtype)
            for_batches(xp, x, 1, lambda items: slide(xp, xp.add, x[items], zero, window, strides, dilations, before, result[items]))
            xp.divide(result, _numbers(xp, x.shape[1:-1], counts, window, strides, dilations, before, x.dtype), out=result)
        return deliver(result, input.dtype, out)

    return run


@kernel("avg_pool_grad")
def avg_pool_grad(xp: Any) -> Any:
    """See the op."""

    def run(input_sizes: Any, g: Any, *, window: Any, strides: Any, padding: Any, dilations: Any) -> Any:
        if len(input_sizes) != len(window) + 2:
            raise ValueError(f"the input must have rank {len(window) + 2}")
        sizes = input_sizes[1:-1]
        counts, before = geometry(sizes, window, strides, dilations, padding)
        _require_shape(g, (input_sizes[0], *counts, input_sizes[-1]))
        wide = widened(xp, g)
        if not g.size:
            return xp.zeros(input_sizes, g.dtype)
        spread = xp.divide(wide, _numbers(xp, sizes, counts, window, strides, dilations, before, wide.dtype))
        if window == strides and sizes == tuple([n * k for n, k in zip(counts, window, strict=True)]) and not any(before) and max(dilations) == 1:
            return deliver(_repeated(xp, spread, window), g.dtype, None)
        for axis, size in enumerate(sizes):
            if (window[axis], strides[axis], counts[axis]) == (1, 1, size):
                continue
            total = xp.zeros((*spread.shape[: axis + 1], size, *spread.shape[axis + 2 :]), wide.dtype)
            for tap in range(window[axis]):
                which, met = valid_windows(size, counts[axis], strides[axis], tap * dilations[axis] - before[axis])
                target = total[at(axis, met)]
                xp.add(target, spread[at(axis, which)], out=target)
            spread = total
        return deliver(spread, g.dtype, None)

    return run


# ---------------------------------------------------------------------- what morphology uses too


def lowest(dtype: Any) -> Any:
    """The lowest finite number of a dtype."""
    return from_numpy[dtype].min


def at(axis: int, which: slice) -> tuple[slice, ...]:
    """An index that selects along a spatial axis."""
    return (*(slice(None),) * (axis + 1), which)


def along(values: Any, axis: int, rank: int) -> Any:
    """A vector laid along one axis of ``rank``."""
    return values.reshape(*(1,) * axis, -1, *(1,) * (rank - axis - 1))


def taps(x: Any, counts: Any, window: Any, strides: Any, dilations: Any, before: Any) -> Any:
    """Every tap of a window in order: its number, its place, an index of the windows that have it inside, and one of the elements that they meet."""
    axes = [
        [valid_windows(size, count, s, t * d - p) for t in range(k)]
        for size, count, k, s, d, p in zip(x.shape[1:-1], counts, window, strides, dilations, before, strict=True)
    ]
    for number, tap in enumerate(itertools.product(*map(range, window))):
        chosen = [axis[t] for axis, t in zip(axes, tap, strict=True)]
        yield number, tap, (slice(None), *[c[0] for c in chosen]), (slice(None), *[c[1] for c in chosen])


def inside_taps(xp: Any, x: Any, counts: Any, window: Any, strides: Any, dilations: Any, before: Any) -> Any:
    """For every window the number of its first tap that lies inside, ``(batch, *counts, channels)``."""
    dtype = xp.uint8 if prod(window) < 256 else xp.int32
    first = xp.zeros((x.shape[0], *counts, x.shape[-1]), dtype)
    for axis, (stride, dilation, start) in enumerate(zip(strides, dilations, before, strict=True)):
        if start:
            outside = xp.maximum(start - xp.arange(counts[axis]) * stride, 0)
            tap = xp.minimum((outside + (dilation - 1)) // dilation, window[axis] - 1)
            first += along((tap * prod(window[axis + 1 :])).astype(dtype), axis + 1, first.ndim)
    return first


def first_taps(xp: Any, x: Any, maxima: Any, window: Any, strides: Any, dilations: Any, before: Any) -> Any:
    """For every window the number of its first tap whose element is the maximum; the first inside where none is (NaN, -inf)."""
    counts = maxima.shape[1:-1]
    first = inside_taps(xp, x, counts, window, strides, dilations, before)
    for number, _, which, met in reversed(list(taps(x, counts, window, strides, dilations, before))):
        put(xp, first[which], xp.array(number, first.dtype), xp.equal(x[met], maxima[which]))
    return first


def scatter(xp: Any, first: Any, g: Any, window: Any, strides: Any, dilations: Any, before: Any, out: Any) -> None:
    """Add the cotangents of windows to the elements, zeros so far, that their taps ``first`` met."""
    apart = all((k - 1) * d < s for k, s, d in zip(window, strides, dilations, strict=True))
    for number, _, which, met in taps(out, g.shape[1:-1], window, strides, dilations, before):
        target, chosen = out[met], xp.equal(first[which], number)
        if apart:
            keep(xp, g[which], chosen, target)
        else:
            xp.add(target, kept(xp, g[which], chosen), out=target)


def pick(xp: Any, first: Any, x: Any, window: Any, strides: Any, dilations: Any, before: Any, out: Any) -> None:
    """Take the elements that the taps ``first`` of the windows meet."""
    for number, _, which, met in taps(x, out.shape[1:-1], window, strides, dilations, before):
        put(xp, out[which], x[met], xp.equal(first[which], number))


def kept(xp: Any, x: Any, chosen: Any) -> Any:
    """``x`` where it is chosen, else 0."""
    bits, mask = _bits(xp, x, chosen)
    return xp.bitwise_and(x.view(bits), mask, out=mask).view(x.dtype)


def keep(xp: Any, x: Any, chosen: Any, out: Any) -> None:
    """Fill ``out`` with ``x`` where it is chosen, else with 0."""
    bits, mask = _bits(xp, x, chosen)
    xp.bitwise_and(x.view(bits), mask, out=out.view(bits))


def put(xp: Any, target: Any, value: Any, chosen: Any) -> None:
    """Copy ``value`` to the chosen places of ``target``; by bits, as a copy that branches takes ten times as long."""
    bits, mask = _bits(xp, target, chosen)
    xp.bitwise_and(mask, xp.bitwise_xor(target.view(bits), value.view(bits)), out=mask)
    xp.bitwise_xor(target.view(bits), mask, out=target.view(bits))


def _bits(xp: Any, x: Any, chosen: Any) -> tuple[Any, Any]:
    """An integer dtype of the size of that of ``x``, and integers of it with all bits set where chosen."""
    bits = (None, xp.uint8, xp.uint16, None, xp.uint32, None, None, None, xp.uint64)[x.dtype.itemsize]
    mask = chosen.view(xp.uint8).astype(bits)
    return bits, xp.negative(mask, out=mask)


def slide(xp: Any, combine: Any, x: Any, neutral: Any, window: Any, strides: Any, dilations: Any, before: Any, out: Any) -> None:
    """Combine the elements of every window, axis by axis; windows with nothing inside give ``neutral``."""
    counts = out.shape[1:-1]
    active = [a for a in range(len(window)) if (window[a], strides[a], before[a], counts[a]) != (1, 1, 0, x.shape[a + 1])]
    if not active:
        out[...] = x
    for axis in active:
        shape = (*x.shape[: axis + 1], counts[axis], *x.shape[axis + 2 :])
        target = out if axis == active[-1] else xp.empty(shape, x.dtype)
        found = [valid_windows(x.shape[axis + 1], counts[axis], strides[axis], t * dilations[axis] - before[axis]) for t in range(window[axis])]
        whole = [f for f in found if f[0] == slice(0, counts[axis])]
        if len(whole) > 1:
            combine(x[at(axis, whole[0][1])], x[at(axis, whole[1][1])], out=target)
        else:
            target[...] = x[at(axis, whole[0][1])] if whole else neutral
        for which, met in [f for f in found if f not in whole] + whole[2:]:
            part = target[at(axis, which)]
            combine(part, x[at(axis, met)], out=part)
        x = target


# ---------------------------------------------------------------------- what only pooling uses


def _geometry(x: Any, window: Any, strides: Any, dilations: Any, padding: Any) -> Any:
    if x.ndim != len(window) + 2:
        raise ValueError(f"the input has rank {x.ndim}; expected {len(window) + 2}")
    return geometry(x.shape[1:-1], window, strides, dilations, padding)


def _require_shape(x: Any, shape: tuple[int, ...]) -> None:
    if x.shape != shape:
        raise ValueError(f"shape {x.shape} instead of {shape}")


def _target(xp: Any, out: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    return out if out is not None and out.dtype == dtype else xp.empty(shape, dtype)


def _maxima(xp: Any, x: Any, least: Any, window: Any, strides: Any, dilations: Any, before: Any, out: Any) -> None:
    """Fill ``out`` with the maxima. ``fmax`` would do for NaN, but which of -0.0 and 0.0 it gives depends on the place in memory."""
    neutral = xp.array(least, x.dtype)

    def fill(items: slice) -> None:
        block, target = x[items], out[items]
        slide(xp, xp.maximum, block, neutral, window, strides, dilations, before, target)
        if x.dtype.kind in "iu" or bool(target.min() >= neutral):  # no NaN, no -inf
            return
        if bool(xp.isnan(target).any()):
            slide(xp, xp.maximum, xp.where(xp.isnan(block), neutral, block), neutral, window, strides, dilations, before, target)
        xp.maximum(target, neutral, out=target)

    for_batches(xp, x, 2, fill)


def _repeated(xp: Any, x: Any, window: Any) -> Any:
    """Every element filling a window of its own: windows side by side."""
    apart = [n for pair in zip(x.shape[1:-1], window, strict=True) for n in pair]
    result = xp.empty((x.shape[0], *apart, x.shape[-1]), x.dtype)
    once = [n for size in x.shape[1:-1] for n in (size, 1)]
    result[...] = x.reshape(x.shape[0], *once, x.shape[-1])
    return result.reshape(x.shape[0], *[n * k for n, k in zip(x.shape[1:-1], window, strict=True)], x.shape[-1])


def _numbers(xp: Any, sizes: Any, counts: Any, window: Any, strides: Any, dilations: Any, before: Any, dtype: Any) -> Any:
    """How many elements each window has inside, in a shape that broadcasts over ``(batch, *counts, channels)``."""
    number = xp.ones((), dtype)
    for axis, (size, count, length, stride, dilation, start) in enumerate(zip(sizes, counts, window, strides, dilations, before, strict=True)):
        inside = _inside(size, count, length, stride, dilation, start)
        number = number * (xp.array(inside[0], dtype) if len(inside) == 1 else along(xp.array(inside, dtype), axis + 1, len(sizes) + 2))
    return number


@lru_cache(maxsize=4096)
def _inside(size: int, count: int, length: int, stride: int, dilation: int, start: int) -> tuple[int, ...]:
    """How many taps each window has inside along an axis; one number where it is the same for all."""
    numbers = [sum(0 <= i * stride - start + t * dilation < size for t in range(length)) for i in range(count)]
    return tuple(numbers if len(set(numbers)) > 1 else numbers[:1])
