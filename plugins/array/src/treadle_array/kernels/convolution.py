"""Convolution over any number of spatial axes, channels last, in groups; its work is done by BLAS.

The windows of a block of the batch are copied into the rows of a matrix that fits the cache, and one product with the filters follows. The
gradient with respect to the input is such a convolution again, one for each position modulo the strides, so nothing is multiplied by the zeros that
a stride would put in between. Filters that see one channel each go another way: ``depthwise``.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from math import gcd, prod
from typing import Any

from treadle.declare import kernel
from treadle_array.kernels import depthwise
from treadle_array.kernels.window import blocks, deliver, frame, geometry, seen, widened, windows


@kernel("conv", out=True)
def conv(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, filters: Any, *, strides: Any, padding: Any, dilations: Any, out: Any = None) -> Any:
        groups = groups_of(input.shape, filters.shape, len(strides))
        counts, before = geometry(input.shape[1:-1], filters.shape[:-2], strides, dilations, padding)
        x, w = widened(xp, input), widened(xp, filters)
        direct = out is not None and out.dtype == x.dtype
        result = out if direct else xp.empty((x.shape[0], *counts, w.shape[-1]), x.dtype)
        correlate(xp, x, w, tuple([-b for b in before]), strides, dilations, groups, result)
        return deliver(result, input.dtype, out)

    return run


@kernel("conv_backprop_input", out=True)
def conv_backprop_input(xp: Any) -> Any:
    """See the op."""

    def run(input_sizes: Any, filters: Any, g: Any, *, strides: Any, padding: Any, dilations: Any, out: Any = None) -> Any:
        groups = groups_of(input_sizes, filters.shape, len(strides))
        counts, before = geometry(input_sizes[1:-1], filters.shape[:-2], strides, dilations, padding)
        _require_output(g.shape, (input_sizes[0], *counts, filters.shape[-1]))
        wide, w = widened(xp, g), widened(xp, filters)
        direct = out is not None and out.dtype == wide.dtype
        result = out if direct else xp.empty(input_sizes, wide.dtype)
        _spread(xp, wide, w, before, strides, dilations, groups, result)
        return deliver(result, g.dtype, out)

    return run


@kernel("conv_backprop_filter", out=True)
def conv_backprop_filter(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, filter_sizes: Any, g: Any, *, strides: Any, padding: Any, dilations: Any, out: Any = None) -> Any:
        groups = groups_of(input.shape, filter_sizes, len(strides))
        counts, before = geometry(input.shape[1:-1], filter_sizes[:-2], strides, dilations, padding)
        _require_output(g.shape, (input.shape[0], *counts, filter_sizes[-1]))
        x, wide = widened(xp, input), widened(xp, g)
        result = _collect(xp, x, wide, tuple([-b for b in before]), filter_sizes, strides, dilations, groups)
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


def _require_output(have: tuple[int, ...], want: tuple[int, ...]) -> None:
    if have != want:
        raise ValueError(f"the cotangent has shape {have}; the output of this convolution has {want}")


def correlate(xp: Any, x: Any, w: Any, begin: tuple[int, ...], strides: Any, dilations: Any, groups: int, out: Any) -> None:
    """Fill ``out`` with the products of ``w`` and the windows over ``x``, the first of which starts at ``begin``; zeros are around ``x``."""
    if not out.size:
        return
    if not x.size or not w.size:
        out[...] = 0
        return
    window, counts = w.shape[:-2], out.shape[1:-1]
    if groups > 1 and w.shape[-2] == 1:
        depthwise.correlate(xp, x, w.reshape(*window, w.shape[-1]), begin, strides, dilations, out)
        return
    matrices = _filter_matrices(w, groups)
    if _is_pointwise(x, window, begin, strides, counts):
        _multiply(xp, _rows(x, groups), matrices, out)
        return
    scratch = Columns(xp, x, counts, window, dilations, groups)
    lengths = seen(counts, window, strides, dilations)
    current, view = None, None
    for items, rows in blocks(x.shape[0], counts[0], scratch.row_bytes):
        if items != current:
            current, view = items, windows(xp, frame(xp, x[items], begin, lengths), counts, window, strides, dilations)
        _multiply(xp, scratch.fill(view[:, rows]), matrices, out[items, rows])


def _is_pointwise(x: Any, window: Any, begin: Any, strides: Any, counts: Any) -> bool:
    return x.shape[1:-1] == counts and max(window) == max(strides) == 1 and not any(begin)


def _rows(x: Any, groups: int) -> Any:
    """A channels-last array as a matrix of its channels, or one per group."""
    rows = x.reshape(-1, x.shape[-1])
    return rows if groups == 1 else rows.reshape(rows.shape[0], groups, -1).transpose(1, 0, 2)


def _filter_matrices(w: Any, groups: int) -> Any:
    """Filters as a matrix ``(taps and input channels, output channels)``, or one per group."""
    depth = prod(w.shape[:-1])
    return w.reshape(depth, -1) if groups == 1 else w.reshape(depth, groups, -1).transpose(1, 0, 2)


def _multiply(xp: Any, rows: Any, matrices: Any, out: Any) -> None:
    xp.matmul(rows, matrices, out=_rows(out, rows.shape[0] if rows.ndim == 3 else 1))


class Columns:
    """Scratch memory in which the windows of a block become the rows of a matrix, or of one per group.

    Elements that lie side by side in a window are copied together. Where these are few, and an axis has many windows, the matrix is laid out
    transposed, and elements at one place of neighbouring windows are copied together.
    """

    def __init__(self, xp: Any, x: Any, counts: Any, window: Any, dilations: Any, groups: int) -> None:
        channels = x.shape[-1]
        depth = prod(window) * channels
        run = window[-1] * channels if dilations[-1] == 1 and groups == 1 else channels // groups
        self.xp = xp
        self.groups = groups
        self.taps = len(window)
        self.depth = depth // groups
        self.transposed = run < 16 and counts[-1] > 2 * run
        self.row_bytes = prod(counts[1:]) * depth * x.dtype.itemsize
        self._memory = None
        self._dtype = x.dtype

    def fill(self, view: Any) -> Any:
        """The matrix ``(windows, taps and channels)`` of a view of windows, or ``(groups, ...)`` of them."""
        taps, groups = self.taps, self.groups
        spatial = range(1 + taps, 1 + 2 * taps)
        if groups > 1:
            view = self._grouped(view)
        lead = range(1 + taps)
        tail = () if groups == 1 else (1 + 2 * taps,)
        order = (*tail, *spatial, view.ndim - 1, *lead) if self.transposed else (*tail, *lead, *spatial, view.ndim - 1)
        view = view.transpose(order)
        if self._memory is None:
            self._memory = self.xp.empty(view.size, self._dtype)
        self._memory[: view.size].reshape(view.shape)[...] = view
        rows = view.size // (groups * self.depth)
        if self.transposed:
            matrix = self._memory[: view.size].reshape(groups, self.depth, rows).transpose(0, 2, 1)
        else:
            matrix = self._memory[: view.size].reshape(groups, rows, self.depth)
        return matrix[0] if groups == 1 else matrix

    def _grouped(self, view: Any) -> Any:
        """The view with its channels split into groups; a view still, as the last axis is contiguous."""
        width = view.shape[-1] // self.groups
        return self.xp.lib.stride_tricks.as_strided(view, (*view.shape[:-1], self.groups, width), (*view.strides[:-1], view.strides[-1] * width, view.strides[-1]))


def _collect(xp: Any, x: Any, g: Any, begin: Any, filter_sizes: Any, strides: Any, dilations: Any, groups: int) -> Any:
    """The gradient with respect to the filters: the products of all windows with the cotangents of what they gave."""
    window, inner, outer = filter_sizes[:-2], filter_sizes[-2], filter_sizes[-1]
    counts = g.shape[1:-1]
    if not x.size or not g.size:
        return xp.zeros(filter_sizes, x.dtype)
    if groups > 1 and inner == 1:
        return depthwise.collect(xp, x, g, begin, window, strides, dilations).reshape(filter_sizes)
    if _is_pointwise(x, window, begin, strides, counts):
        total = xp.matmul(_rows(x, groups).swapaxes(-1, -2), _rows(g, groups))
    else:
        scratch = Columns(xp, x, counts, window, dilations, groups)
        lengths = seen(counts, window, strides, dilations)
        current, view, total = None, None, None
        for items, rows in blocks(x.shape[0], counts[0], scratch.row_bytes):
            if items != current:
                current, view = items, windows(xp, frame(xp, x[items], begin, lengths), counts, window, strides, dilations)
            part = xp.matmul(scratch.fill(view[:, rows]).swapaxes(-1, -2), _rows(g[items, rows], groups))
            total = part if total is None else xp.add(total, part, total)
    if groups > 1:
        total = xp.ascontiguousarray(total.transpose(1, 0, 2))
    return total.reshape(*window, inner, outer)


def _spread(xp: Any, g: Any, w: Any, before: Any, strides: Any, dilations: Any, groups: int, out: Any) -> None:
    """Fill ``out`` with the gradient with respect to the input.

    Element ``a`` of the input met tap ``i`` of window ``o`` where ``o * stride + i * dilation == a + before``. For the elements of one
    remainder modulo the stride the taps that they meet are regular, and ``o`` moves as ``a`` does: a convolution of ``g`` with these taps reversed.
    """
    if not out.size:
        return
    window, inner, outer = w.shape[:-2], w.shape[-2], w.shape[-1]
    width = outer // groups
    turned = w.reshape(*window, inner, groups, width)
    rank = len(window)
    turned = turned.transpose(*range(rank), rank + 2, rank + 1, rank).reshape(*window, width, groups * inner)
    multiplied = groups > 1 and inner == 1
    if multiplied:
        turned, channel_groups = w, outer
    else:
        channel_groups = groups
    dense = max(strides) == 1 and not (multiplied and width > 1)
    for remainders in itertools.product(*(range(min(s, n)) for s, n in zip(strides, out.shape[1:-1], strict=True))):
        target = out if dense else out[(slice(None), *(slice(r, None, s) for r, s in zip(remainders, strides, strict=True)))]
        plans = [_taps_met(*axis) for axis in zip(window, strides, dilations, before, remainders, strict=True)]
        if any(p is None for p in plans):
            target[...] = 0
            continue
        begin, taps, steps = zip(*plans, strict=True)
        part = xp.ascontiguousarray(turned[taps])
        result = target if dense else xp.empty((*target.shape[:-1], part.shape[-1]), g.dtype)
        correlate(xp, g, part, begin, (1,) * rank, steps, channel_groups, result)
        if dense:
            continue
        target[...] = result if part.shape[-1] == target.shape[-1] else _sum_multiplier(result, width)


def _sum_multiplier(x: Any, width: int) -> Any:
    """The sum over the outputs that each channel has in a depthwise convolution."""
    split = x.reshape(*x.shape[:-1], -1, width)
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
