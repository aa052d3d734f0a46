"""Convolution over any number of spatial axes, channels last, in groups; its work is done by BLAS.

The windows of a block of the batch are copied into the rows of a matrix that fits the cache, and one product with the filters follows. The
gradient with respect to the input is such a convolution again, one for each position modulo the strides, so nothing is multiplied by the zeros that
a stride would put in between. Filters that see one channel each go another way: ``depthwise``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import lru_cache
from math import gcd, prod
from typing import Any, NamedTuple

from treadle.declare import kernel
from treadle.runtime import workers
from treadle_array.kernels import depthwise
from treadle_array.kernels.window import blocks, deliver, frame, geometry, scratch, seen, shares, widened, windows

SCATTER = 4
"""Output channels per input channel of a filter from which the gradient of the input is scattered from one product."""


class Parts(NamedTuple):
    """Functions that do parts of a convolution, which a device may do in another way.

    Attributes:
        columns: see ``columns``.
        correlate: of ``depthwise``.
        collect: of ``depthwise``.
    """

    columns: Callable[..., Iterator[tuple[slice, slice, Any]]]
    correlate: Callable[..., None]
    collect: Callable[..., Any]


@kernel("conv", out=True)
def conv(xp: Any, parts: Parts | None = None) -> Any:
    """See the op.

    Args:
        xp: the array module.
        parts: what does the parts of the work, here and in the gradients.
    """
    parts = parts or PARTS

    def run(input: Any, filters: Any, *, strides: Any, padding: Any, dilations: Any, out: Any = None) -> Any:
        groups = groups_of(input.shape, filters.shape, len(strides))
        counts, before = geometry(input.shape[1:-1], filters.shape[:-2], strides, dilations, padding)
        x, w = widened(xp, input), widened(xp, filters)
        direct = out is not None and out.dtype == x.dtype
        result = out if direct else xp.empty((x.shape[0], *counts, w.shape[-1]), x.dtype)
        correlate(xp, x, w, tuple([-b for b in before]), strides, dilations, groups, result, parts)
        return deliver(result, input.dtype, out)

    return run


@kernel("conv_backprop_input", out=True)
def conv_backprop_input(xp: Any, parts: Parts | None = None) -> Any:
    """See the op."""
    parts = parts or PARTS

    def run(input_sizes: Any, filters: Any, g: Any, *, strides: Any, padding: Any, dilations: Any, out: Any = None) -> Any:
        groups = groups_of(input_sizes, filters.shape, len(strides))
        counts, before = geometry(input_sizes[1:-1], filters.shape[:-2], strides, dilations, padding)
        require_output(g.shape, (input_sizes[0], *counts, filters.shape[-1]))
        wide, w = widened(xp, g), widened(xp, filters)
        direct = out is not None and out.dtype == wide.dtype
        result = out if direct else xp.empty(input_sizes, wide.dtype)
        _spread(xp, wide, w, before, strides, dilations, groups, result, parts)
        return deliver(result, g.dtype, out)

    return run


@kernel("conv_backprop_filter", out=True)
def conv_backprop_filter(xp: Any, parts: Parts | None = None) -> Any:
    """See the op."""
    parts = parts or PARTS

    def run(input: Any, filter_sizes: Any, g: Any, *, strides: Any, padding: Any, dilations: Any, out: Any = None) -> Any:
        groups = groups_of(input.shape, filter_sizes, len(strides))
        counts, before = geometry(input.shape[1:-1], filter_sizes[:-2], strides, dilations, padding)
        require_output(g.shape, (input.shape[0], *counts, filter_sizes[-1]))
        x, wide = widened(xp, input), widened(xp, g)
        result = _collect(xp, x, wide, tuple([-b for b in before]), filter_sizes, strides, dilations, groups, parts)
        return deliver(result, input.dtype, out)

    return run


def groups_of(input_sizes: Any, filter_sizes: Any, rank: int) -> int:
    """How many groups the channels fall into.

    Raises:
        ValueError: the ranks are not ``rank + 2``, or the channels do not divide.
    """
    if len(input_sizes) != rank + 2 or len(filter_sizes) != rank + 2:
        raise ValueError(f"input and filters need rank {rank + 2}")
    channels, (inner, outer) = input_sizes[-1], filter_sizes[-2:]
    if channels == inner:
        return 1
    if inner < 1 or channels < 1 or channels % inner or outer % (channels // inner):
        raise ValueError(f"{channels} input channels do not fit filters of {inner} input and {outer} output channels")
    return channels // inner


def require_output(have: tuple[int, ...], want: tuple[int, ...]) -> None:
    """Refuse a cotangent of another shape than the output.

    Raises:
        ValueError: the shapes differ.
    """
    if have != want:
        raise ValueError(f"the cotangent has shape {have}; the output of this convolution has {want}")


def correlate(xp: Any, x: Any, w: Any, begin: tuple[int, ...], strides: Any, dilations: Any, groups: int, out: Any, parts: Parts) -> None:
    """Fill ``out`` with the products of ``w`` and the windows over ``x``, the first of which starts at ``begin``; zeros are around ``x``."""
    if not out.size:
        return
    if not x.size or not w.size:
        out[...] = 0
        return
    window, counts = w.shape[:-2], out.shape[1:-1]
    if groups > 1 and w.shape[-2] == 1:
        parts.correlate(xp, x, w.reshape(*window, w.shape[-1]), begin, strides, dilations, out)
        return
    matrices = _filter_matrices(w, groups)
    for items, rows, met in parts.columns(xp, x, begin, counts, window, strides, dilations, groups):
        xp.matmul(met, matrices, out=_matrices(out[items, rows], groups))


def _matrices(x: Any, groups: int) -> Any:
    """A channels-last array as a matrix of its channels, or one per group."""
    rows = x.reshape(-1, x.shape[-1])
    return rows if groups == 1 else rows.reshape(rows.shape[0], groups, -1).transpose(1, 0, 2)


def _filter_matrices(w: Any, groups: int) -> Any:
    """Filters as a matrix ``(taps and input channels, output channels)``, or one per group."""
    depth = prod(w.shape[:-1])
    return w.reshape(depth, -1) if groups == 1 else w.reshape(depth, groups, -1).transpose(1, 0, 2)


def columns(xp: Any, x: Any, begin: Any, counts: Any, window: Any, strides: Any, dilations: Any, groups: int) -> Iterator[tuple[slice, slice, Any]]:
    """Blocks of windows, each as slices of the batch and of the first axis, and the matrix ``(windows, taps and channels)``, or one per group.

    Elements that lie side by side in a window are copied together. Where these are few, and an axis has many windows, the matrix is laid out
    transposed, and elements at one place of neighbouring windows are copied together.
    """
    if is_matrix(x, begin, counts, window, strides):
        yield slice(None), slice(None), _matrices(x, groups)
        return
    rank, width = len(window), x.shape[-1] // groups
    depth = prod(window) * width
    transposed = is_transposed(counts, window, dilations, width)
    lengths = seen(counts, window, strides, dilations)
    row_size = prod(counts[1:]) * depth * groups
    memory, current, view = None, None, None
    try:
        for items, rows in blocks(xp, x.shape[0], counts[0], row_size * x.dtype.itemsize):
            if items != current:
                current, part = items, frame(xp, x[items], begin, lengths)
                if groups > 1:
                    part = xp.ascontiguousarray(xp.moveaxis(part.reshape(*part.shape[:-1], groups, width), -2, 0))
                view = windows(xp, part, counts, window, strides, dilations)
            block = view[..., rows, *(slice(None),) * (2 * rank)]
            number = block.size // (depth * groups)
            if memory is None:
                memory = scratch(xp).take(block.size, x.dtype)
            matrix = memory[: block.size]
            if transposed:
                lead = block.ndim - 2 * rank - 1
                batch = range(lead - 1, lead + rank)
                block = block.transpose(*range(lead - 1), *range(lead + rank, block.ndim), *batch)
                _copy(xp, block, matrix.reshape(block.shape))
                matrix = matrix.reshape(groups, depth, number).swapaxes(1, 2)
            else:
                _copy(xp, block, matrix.reshape(block.shape))
                matrix = matrix.reshape(groups, number, depth)
            yield items, rows, matrix[0] if groups == 1 else matrix
    finally:
        if memory is not None:
            scratch(xp).give(memory)


def is_matrix(x: Any, begin: Any, counts: Any, window: Any, strides: Any) -> bool:
    """Whether the elements are the windows."""
    return x.shape[1:-1] == counts and max(window) == max(strides) == 1 and not any(begin)


def is_transposed(counts: Any, window: Any, dilations: Any, width: int) -> bool:
    """Whether the few elements that lie side by side in a window make the matrix be laid out transposed."""
    run = window[-1] * width if dilations[-1] == 1 else width
    return run <= 10 and counts[-1] > run


PARTS = Parts(columns, depthwise.correlate, depthwise.collect)


def _copy(xp: Any, x: Any, out: Any) -> None:
    """Copy an array into another one, on the host by several threads."""
    axis = next((axis for axis, size in enumerate(x.shape) if size > 1), 0)

    def fill(part: slice) -> None:
        here = (slice(None),) * axis + (part,)
        out[here] = x[here]

    workers.together(fill, shares(xp, x.shape[axis], x.size))


def _collect(xp: Any, x: Any, g: Any, begin: Any, filter_sizes: Any, strides: Any, dilations: Any, groups: int, parts: Parts) -> Any:
    """The gradient with respect to the filters: the products of all windows with the cotangents of what they gave."""
    window, inner, outer = filter_sizes[:-2], filter_sizes[-2], filter_sizes[-1]
    if not x.size or not g.size:
        return xp.zeros(filter_sizes, x.dtype)
    if groups > 1 and inner == 1:
        return parts.collect(xp, x, g, begin, window, strides, dilations).reshape(filter_sizes)
    total = None
    for items, rows, met in parts.columns(xp, x, begin, g.shape[1:-1], window, strides, dilations, groups):
        part = xp.matmul(met.swapaxes(-1, -2), _matrices(g[items, rows], groups))
        total = part if total is None else xp.add(total, part, out=total)
    if groups > 1:
        total = xp.ascontiguousarray(total.transpose(1, 0, 2))
    return total.reshape(*window, inner, outer)


def _spread(xp: Any, g: Any, w: Any, before: Any, strides: Any, dilations: Any, groups: int, out: Any, parts: Parts) -> None:
    """Fill ``out`` with the gradient with respect to the input, by the way that copies less."""
    if not out.size:
        return
    inner, width = w.shape[-2], w.shape[-1] // groups
    if not g.size or not w.size:
        out[...] = 0
    elif groups > 1 and inner == 1:
        _by_remainders(xp, g, w, before, strides, dilations, w.shape[-1], out, parts)
    elif width >= SCATTER * inner:
        _by_scattering(xp, g, w, before, strides, dilations, groups, out)
    else:
        rank = w.ndim - 2
        turned = w.reshape(*w.shape[:-1], groups, width).transpose(*range(rank), rank + 2, rank + 1, rank)
        _by_remainders(xp, g, turned.reshape(*w.shape[:-2], width, groups * inner), before, strides, dilations, groups, out, parts)


def _by_scattering(xp: Any, g: Any, w: Any, before: Any, strides: Any, dilations: Any, groups: int, out: Any) -> None:
    """One product gives what every tap of every window hands to its element; the planes of the taps are added up, channels first."""
    window, inner, counts = w.shape[:-2], w.shape[-2], g.shape[1:-1]
    matrices = _filter_matrices(w, groups)
    depth = matrices.shape[-2]
    lengths = seen(counts, window, strides, dilations)
    memory, current, total = None, None, None
    for items, rows in blocks(xp, g.shape[0], counts[0], prod(counts[1:]) * depth * groups * g.dtype.itemsize):
        block = g[items, rows]
        if items != current:
            current, total = items, xp.zeros((groups, inner, block.shape[0], *lengths), g.dtype)
        number = prod(block.shape[:-1])
        if memory is None:
            memory = scratch(xp).take(groups * depth * number, g.dtype)
        planes = memory[: groups * depth * number].reshape(groups, depth, number)
        cotangents = _matrices(block, groups)
        xp.matmul(matrices, cotangents.swapaxes(-1, -2), out=planes if groups > 1 else planes[0])
        planes = planes.reshape(groups, *window, inner, *block.shape[:-1])
        for tap in itertools.product(*map(range, window)):
            starts = [t * d for t, d in zip(tap, dilations, strict=True)]
            starts[0] += rows.start * strides[0]
            met = tuple([slice(b, b + (n - 1) * s + 1, s) for b, n, s in zip(starts, block.shape[1:-1], strides, strict=True)])
            target = total[:, :, :, *met]
            xp.add(target, planes[:, *tap], out=target)
        if rows.stop == counts[0]:
            kept = tuple([slice(b, b + n) for b, n in zip(before, out.shape[1:-1], strict=True)])
            part = total[:, :, :, *kept]
            part = part.transpose(*range(2, part.ndim), 0, 1)
            place = out[items]
            if part.shape[1:-2] != out.shape[1:-1]:
                place[...] = 0
                place = place[:, *(slice(0, n) for n in part.shape[1:-2])]
            place.reshape(part.shape)[...] = part
    scratch(xp).give(memory)


def _by_remainders(xp: Any, g: Any, turned: Any, before: Any, strides: Any, dilations: Any, groups: int, out: Any, parts: Parts) -> None:
    """Convolutions of ``g``, one for the elements of each remainder modulo the strides.

    Element ``a`` of the input met tap ``i`` of window ``o`` where ``o * stride + i * dilation == a + before``. For the elements of one
    remainder the taps that they meet are regular, and ``o`` moves as ``a`` does: a convolution of ``g`` with these taps reversed.
    """
    dense = max(strides) == 1 and turned.shape[-1] == out.shape[-1]
    for remainders in itertools.product(*(range(min(s, n)) for s, n in zip(strides, out.shape[1:-1], strict=True))):
        target = out[:, *(slice(r, None, s) for r, s in zip(remainders, strides, strict=True))]
        plans = [_taps_met(*axis) for axis in zip(turned.shape[:-2], strides, dilations, before, remainders, strict=True)]
        if any(p is None for p in plans):
            target[...] = 0
            continue
        begin, taps, steps = zip(*plans, strict=True)
        part = xp.ascontiguousarray(turned[taps])
        result = out if dense else xp.empty((*target.shape[:-1], part.shape[-1]), g.dtype)
        correlate(xp, g, part, begin, (1,) * len(steps), steps, groups, result, parts)
        if not dense:
            target[...] = _sum_of_multiplier(result, out.shape[-1])


def _sum_of_multiplier(x: Any, channels: int) -> Any:
    """The sum over the outputs that each channel has in a depthwise convolution."""
    width = x.shape[-1] // channels
    if width == 1:
        return x
    split = x.reshape(*x.shape[:-1], channels, width)
    total = split[..., 0] + split[..., 1]
    for i in range(2, width):
        total += split[..., i]
    return total


@lru_cache(maxsize=4096)
def _taps_met(window: int, stride: int, dilation: int, before: int, remainder: int) -> tuple[int, slice, int] | None:
    """For elements ``remainder + stride * b``: where in ``g`` their windows begin, their taps in reverse, and the step between these in ``g``.

    None if they meet no tap.
    """
    base, rest = divmod(remainder + before, stride)
    period = stride // gcd(stride, dilation)
    first = next((i for i in range(min(period, window)) if i * dilation % stride == rest), None)
    if first is None:
        return None
    number = (window - 1 - first) // period + 1
    step = period * dilation // stride
    last = first + (number - 1) * period
    begin = base - (first * dilation - rest) // stride - (number - 1) * step
    return begin, slice(last, first - 1 if first else None, -period), step
