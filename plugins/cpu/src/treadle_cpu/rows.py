"""Softmax and its kin along an axis, in blocks that stay in the cache, by NumPy's fastest way for the length of the axis.

A reduction along rows costs NumPy some tens of nanoseconds a row, less by ``reduceat``; along columns it runs at full speed. So narrow rows are
transposed block by block, and an axis that is not the last one is worked on as columns where it lies.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from treadle.runtime import workers
from treadle_array.axis_sums import BLOCK_BYTES, RUN, sums_of_runs
from treadle_array.blocks import CALLS, is_short

FEWEST_ROWS = 8
"""A block has no fewer rows, however long they are."""

NARROW = 24
"""Up to here rows are transposed, if there are many."""

FEW = 2048
"""Elements below which the fewest calls win."""

_SHORT_RUN, _LONG_RUN = 48, 4096
"""Elements of a run along columns that are too few to work on, and enough to be taken as they lie."""

_MOST_STARTS = 64
_starts: dict[tuple[int, int], Any] = {}


def row_max(x: Any) -> Any:
    """The largest element of each row of a contiguous matrix, ``(rows, 1)``, or of a vector, ``(1,)``; NaN where there is one."""
    if x.ndim == 1:
        return np.maximum.reduce(x, 0, None, None, True)
    return np.maximum.reduceat(x.reshape(-1), row_starts(x.shape))[:, None]


def row_sum(x: Any) -> Any:
    """The pairwise sum of each row of a contiguous matrix, ``(rows, 1)``, or of a vector, ``(1,)``."""
    if x.ndim == 1:
        return np.add.reduce(x, 0, None, None, True)
    return np.add.reduceat(x.reshape(-1), row_starts(x.shape))[:, None]


def row_starts(shape: tuple[int, int]) -> Any:
    """Where each row of a matrix starts in the flat array: what ``reduceat`` takes."""
    found = _starts.get(shape)
    if found is None:
        if len(_starts) >= _MOST_STARTS:
            _starts.clear()
        rows, width = shape
        found = _starts[shape] = np.arange(0, rows * width, width)
    return found


def column_sum(x: Any) -> Any:
    """The sum over the rows of a matrix: runs of a few rows, and the sums of these in pairs; by halves where the rows are short."""
    count, width = x.shape
    if width >= _SHORT_RUN:
        return sums_of_runs(np, x[None])[0]
    if width == 1:
        return np.add.reduce(x[:, 0], keepdims=True)
    while count > RUN:
        half = count // 2
        total = np.add(x[:half], x[count - half : count])
        if count & 1:
            np.add(total[0], x[half], total[0])
        x, count = total, half
    return np.add.reduce(x, 0)


def along_axis(by_rows: Callable[..., None], by_columns: Callable[..., None], narrow: int = NARROW) -> Callable[..., Any]:
    """A kernel that fills a result of the shape of its inputs, slice by slice along an axis.

    Args:
        by_rows: ``by_rows(*inputs, out)`` on contiguous matrices whose rows are the slices, or on vectors.
        by_columns: the same on matrices whose columns are the slices; ``out`` may have strides, and may be the first input.
        narrow: up to here rows are transposed.
    """

    def run(*inputs: Any, axis: int, out: Any = None) -> Any:
        first = inputs[0]
        shape, dtype = first.shape, first.dtype
        rank = len(shape)
        if not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is out of range for a tensor of rank {rank}")
        if inputs[-1].shape != shape:
            raise ValueError(f"the inputs have the shapes {shape} and {inputs[-1].shape}")
        result = np.empty(shape, dtype) if out is None else out
        size = first.size
        small = size <= FEW and not is_short(dtype)
        if not size:
            pass
        elif axis == -1 or axis == rank - 1:
            if small and rank <= 2:
                by_rows(*inputs, result)
                return result
            inputs, rows = tuple([x.reshape(-1, shape[-1]) for x in inputs]), result.reshape(-1, shape[-1])
            if small:
                by_rows(*inputs, rows)
            else:
                _rows(by_rows, by_columns if shape[-1] <= narrow else None, inputs, rows)
        elif small and axis in (0, -rank):
            by_columns(*[x.reshape(shape[0], -1) for x in inputs], result.reshape(shape[0], -1))
        else:
            _planes(by_rows, by_columns, narrow, inputs, result, axis % rank)
        return result

    return run


def _rows(by_rows: Any, by_columns: Any, inputs: tuple[Any, ...], result: Any) -> None:
    """Matrices whose rows are the slices; transposed if ``by_columns`` is given."""
    rows, width = result.shape
    short = is_short(result.dtype)
    dtype = np.dtype(np.float32) if short else result.dtype
    step = max(FEWEST_ROWS, BLOCK_BYTES // (width * dtype.itemsize))

    def fill(starts: range) -> None:
        for start in starts:
            parts = [x[start : start + step] for x in inputs]
            part = result[start : start + step]
            if by_columns is not None:
                parts = [x.T.astype(dtype, "C") for x in parts]
                by_columns(*parts, parts[0])
                part[...] = parts[0].T
            elif short:
                between = np.empty(part.shape, dtype)
                by_rows(*[x.astype(dtype) for x in parts], between)
                part[...] = between
            else:
                by_rows(*parts, part)

    workers.together(fill, workers.starts(rows, step, CALLS * result.size))


def _planes(by_rows: Any, by_columns: Any, narrow: int, inputs: tuple[Any, ...], result: Any, axis: int) -> None:
    """Tensors whose slices run along an axis that is not the last."""
    shape, width = result.shape, result.shape[axis]
    lead, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    if inner < _SHORT_RUN or (lead > 1 and width * inner < FEW):
        moved = [np.moveaxis(x, axis, -1) for x in inputs]
        there = np.empty(moved[0].shape, result.dtype)
        rows = tuple([np.ascontiguousarray(x).reshape(-1, width) for x in moved])
        _rows(by_rows, by_columns if width <= narrow else None, rows, there.reshape(-1, width))
        result[...] = np.moveaxis(there, -1, axis)
        return
    short = is_short(result.dtype)
    dtype = np.dtype(np.float32) if short else result.dtype
    step = inner if inner <= _LONG_RUN else max(_LONG_RUN // 2, BLOCK_BYTES // (width * dtype.itemsize))
    planes = [x.reshape(lead, width, inner) for x in inputs]
    target = result.reshape(lead, width, inner)
    blocks = [(i, slice(start, start + step)) for i in range(lead) for start in range(0, inner, step)]

    def fill(some: slice) -> None:
        for i, here in blocks[some]:
            parts = [x[i, :, here] for x in planes]
            part = target[i, :, here]
            if short:
                between = np.empty(part.shape, dtype)
                by_columns(*[x.astype(dtype, "C") for x in parts], between)
                part[...] = between
            else:
                by_columns(*parts, part)

    workers.together(fill, workers.shares(len(blocks), CALLS * result.size))
