"""Softmax and its kin along an axis, in blocks that stay in the cache, by NumPy's fastest way for the length of the axis.

A reduction along rows costs NumPy some tens of nanoseconds a row, less by ``reduceat``; along columns it runs at full speed. So narrow rows are
transposed block by block, and an axis that is not the last one is worked on as columns where it lies.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from treadle_array.blocks import is_short

_BLOCK = 256 * 1024
"""Bytes of one buffer of a block."""

_NARROW = 24
"""Up to here rows are transposed."""

_FEW = 2048
"""Elements below which the fewest calls win."""

_MOST_STARTS = 64
_starts: dict[tuple[int, int], Any] = {}


def row_starts(x: Any) -> Any:
    """Where each row of a matrix starts in the flat array: what ``reduceat`` takes."""
    found = _starts.get(x.shape)
    if found is None:
        if len(_starts) >= _MOST_STARTS:
            _starts.clear()
        rows, width = x.shape
        found = _starts[x.shape] = np.arange(0, rows * width, width)
    return found


def per_row(reduceat: Callable[..., Any], x: Any, starts: Any) -> Any:
    """A reduction of each row of a contiguous matrix, ``(rows, 1)``; sums are pairwise."""
    return reduceat(x.reshape(-1), starts)[:, None]


def column_sum(x: Any) -> Any:
    """The sum over the rows of a matrix, by halves."""
    count = len(x)
    if count == 1:
        return x[0]
    half = count // 2
    total = np.add(x[:half], x[count - half :])
    if count & 1:
        np.add(total[0], x[half], total[0])
    while half > 1:
        count, half = half, half // 2
        if count & 1:
            np.add(total[0], total[half], total[0])
        np.add(total[:half], total[count - half : count], total[:half])
    return total[0]


def along_axis(by_rows: Callable[..., None], by_columns: Callable[..., None]) -> Callable[..., Any]:
    """A kernel that fills a result of the shape of its inputs, slice by slice along an axis.

    Args:
        by_rows: ``by_rows(*inputs, out)`` on contiguous matrices whose rows are the slices.
        by_columns: the same on matrices whose columns are the slices; ``out`` may have strides.
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
        size, width = first.size, shape[axis]
        if axis in (-1, rank - 1):
            if size <= _FEW and size and not is_short(dtype):
                if rank == 2:
                    by_rows(*inputs, result)
                else:
                    by_rows(*[x.reshape(-1, width) for x in inputs], result.reshape(-1, width))
            elif size:
                _rows(by_rows, by_columns, [x.reshape(-1, width) for x in inputs], result.reshape(-1, width))
        elif size:
            _planes(by_rows, by_columns, inputs, result, axis % rank)
        return result

    return run


def _rows(by_rows: Any, by_columns: Any, inputs: list[Any], result: Any) -> None:
    """Matrices whose rows are the slices."""
    rows, width = result.shape
    short = is_short(result.dtype)
    dtype = np.dtype(np.float32) if short else result.dtype
    step = max(1, _BLOCK // (width * dtype.itemsize))
    turned = width <= _NARROW
    for start in range(0, rows, step):
        parts = [x[start : start + step] for x in inputs]
        part = result[start : start + step]
        if turned:
            parts = [x.T.astype(dtype, "C") for x in parts]
            by_columns(*parts, parts[0])
            part[...] = parts[0].T
        elif short:
            between = np.empty(part.shape, dtype)
            by_rows(*[x.astype(dtype) for x in parts], between)
            part[...] = between
        else:
            by_rows(*parts, part)


def _planes(by_rows: Any, by_columns: Any, inputs: tuple[Any, ...], result: Any, axis: int) -> None:
    """Tensors whose slices run along an axis that is not the last."""
    shape, width = result.shape, result.shape[axis]
    lead, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    if inner < 2 * _NARROW:
        as_columns = lead == 1 and result.size <= _FEW
    else:
        as_columns = lead == 1 or width * inner >= _FEW
    if not as_columns:
        moved = [np.moveaxis(x, axis, -1) for x in inputs]
        there = np.empty(moved[0].shape, result.dtype)
        _rows(by_rows, by_columns, [np.ascontiguousarray(x).reshape(-1, width) for x in moved], there.reshape(-1, width))
        result[...] = np.moveaxis(there, -1, axis)
        return
    short = is_short(result.dtype)
    dtype = np.dtype(np.float32) if short else result.dtype
    step = max(2 * _NARROW, _BLOCK // (width * dtype.itemsize))
    planes = [x.reshape(lead, width, inner) for x in inputs]
    target = result.reshape(lead, width, inner)
    for i in range(lead):
        for start in range(0, inner, step):
            parts = [x[i, :, start : start + step] for x in planes]
            part = target[i, :, start : start + step]
            if short:
                between = np.empty(part.shape, dtype)
                by_columns(*[x.astype(dtype, "C") for x in parts], between)
                part[...] = between
            else:
                by_columns(*parts, part)
