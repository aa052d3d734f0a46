"""Means and variances over neighbouring axes, in blocks."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle_array.blocks import is_short
from treadle_array.kernels.moments import moments as array_moments
from treadle_array.kernels.reductions import reduced_shape
from treadle_cpu.rows import BLOCK_BYTES, FEW, NARROW, column_sum, row_sum


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
        dtype = x.dtype
        if mean.dtype is not dtype:
            mean, variance = mean.astype(dtype), variance.astype(dtype)
        return mean.reshape(shape), variance.reshape(shape)

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
    scratch = np.empty((min(step, rows), count), dtype)
    for start in range(0, rows, step):
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
    return mean, variance


def _rows_at_once(x: Any, scratch: Any, count: int) -> tuple[Any, Any]:
    mean = row_sum(x) / count
    np.subtract(x, mean, scratch)
    np.multiply(scratch, scratch, scratch)
    return mean, row_sum(scratch) / count


def of_columns(x: Any) -> tuple[Any, Any]:
    """The moments of each column, the sum of each block of rows on its own."""
    count, width = x.shape
    dtype = np.dtype(np.float32) if is_short(x.dtype) else x.dtype
    step = min(count, max(1, BLOCK_BYTES // (width * dtype.itemsize)))
    blocks = [x[start : start + step] for start in range(0, count, step)]
    if dtype is not x.dtype:
        blocks = [part.astype(dtype) for part in blocks]
        mean = _sum_of_blocks([column_sum(part) for part in blocks]) / count
    else:
        mean = column_sum(x) / count
    center = np.empty((step, width), dtype)
    center[...] = mean
    scratch, sums = np.empty((step, width), dtype), []
    for part in blocks:
        deviation = np.subtract(part, center[: len(part)], scratch[: len(part)])
        np.multiply(deviation, deviation, deviation)
        sums.append(column_sum(deviation))
    return mean, _sum_of_blocks(sums) / count


def _sum_of_blocks(sums: list[Any]) -> Any:
    return sums[0] if len(sums) == 1 else column_sum(np.stack(sums))
