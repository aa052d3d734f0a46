"""Means and variances over neighbouring axes, in blocks."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle.runtime import workers
from treadle_array.axis_sums import BLOCK_BYTES, LANES, summation
from treadle_array.blocks import CALLS, is_short
from treadle_array.kernels.moments import moments as array_moments
from treadle_array.kernels.reductions import reduced_shape
from treadle_array.kernels.statistics import reduce_variance as array_variance
from treadle_cpu.rows import FEW, NARROW, column_sum, row_sum

_add_up = summation(np)
_NARROW_COLUMNS = 48
"""Columns up to which a matrix is halved instead of summed in runs of rows."""


@kernel("moments")
def moments(xp: Any) -> Any:
    """See the op; the mean is subtracted before anything is squared."""
    over_any_axes = array_moments(np)

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        found = _layout(x.shape, axis, keepdims)
        if found is None or not x.size:
            return over_any_axes(x, axis=axis, keepdims=keepdims)
        lead, count, inner, shape = found
        if inner == 1 and (lead > 1 or count <= FEW):
            mean, variance = of_rows(x.reshape(lead, count))
        elif lead == 1:
            mean, variance = of_columns(x.reshape(count, inner))
        else:
            return over_any_axes(x, axis=axis, keepdims=keepdims)
        return mean.astype(x.dtype, copy=False).reshape(shape), variance.astype(x.dtype, copy=False).reshape(shape)

    return run


@kernel("reduce_variance")
def reduce_variance(xp: Any) -> Any:
    """See the op; over the first axes block by block."""
    over_any_axes = array_variance(np)

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        found = _layout(x.shape, axis, keepdims)
        if found is None or not x.size or x.dtype.kind == "c" or found[0] > 1 or found[2] < _NARROW_COLUMNS:
            return over_any_axes(x, axis=axis, keepdims=keepdims)
        _, count, inner, shape = found
        return of_columns(x.reshape(count, inner))[1].astype(x.dtype, copy=False).reshape(shape)

    return run


@lru_cache(1024)
def _layout(shape: tuple[int, ...], axis: tuple[int, ...] | None, keepdims: bool) -> tuple[int, int, int, tuple[int, ...]] | None:
    """Elements before, along and after the axes, and the shape of the result; None where the axes are not neighbours."""
    result = reduced_shape(shape, axis, keepdims)
    rank = len(shape)
    gone = sorted(range(rank) if axis is None else [a % rank for a in axis])
    if not gone or gone[-1] - gone[0] + 1 != len(gone):
        return None
    return math.prod(shape[: gone[0]]), math.prod([shape[a] for a in gone]), math.prod(shape[gone[-1] + 1 :]), result


def of_rows(x: Any) -> tuple[Any, Any]:
    """The moments of each row."""
    rows, count = x.shape
    dtype = np.dtype(np.float32) if is_short(x.dtype) else x.dtype
    if x.size <= FEW and dtype is x.dtype:
        return _rows_at_once(x, np.empty_like(x), count)
    mean, variance = np.empty((rows, 1), dtype), np.empty((rows, 1), dtype)
    step = max(1, BLOCK_BYTES // (count * dtype.itemsize))

    def fill(starts: range) -> None:
        scratch = np.empty((min(step, rows), count), dtype)
        for start in starts:
            here = slice(start, start + step)
            part = x[here]
            if count <= NARROW:
                turned = part.T.astype(dtype, "C")
                center = column_sum(turned) / count
                np.subtract(turned, center, turned)
                np.multiply(turned, turned, turned)
                mean[here, 0], variance[here, 0] = center, column_sum(turned) / count
            else:
                mean[here], variance[here] = _rows_at_once(part.astype(dtype, copy=False), scratch[: len(part)], count)

    workers.together(fill, workers.starts(rows, step, CALLS * x.size))
    return mean, variance


def _rows_at_once(x: Any, scratch: Any, count: int) -> tuple[Any, Any]:
    mean = row_sum(x) / count
    np.subtract(x, mean, scratch)
    np.multiply(scratch, scratch, scratch)
    return mean, row_sum(scratch) / count


def of_columns(x: Any) -> tuple[Any, Any]:
    """The moments of each column."""
    count, width = x.shape
    wide = x.astype(np.float32) if is_short(x.dtype) else x
    if width < _NARROW_COLUMNS:
        mean = column_sum(wide) / count
        return mean, column_sum(np.square(wide - mean)) / count
    mean = _add_up(wide, (0,), False) / count
    center = np.tile(mean, LANES)

    def squares(part: Any, out: Any) -> Any:
        deviation = np.subtract(part, center[: part.shape[-1]], out=out)  # several rows may lie side by side in a part
        return np.multiply(deviation, deviation, deviation)

    return mean, _add_up(wide, (0,), False, squares) / count
