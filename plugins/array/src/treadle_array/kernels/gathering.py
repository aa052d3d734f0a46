"""Rows of a tensor at given indices, and their sums, which are the gradients."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle_array.places import of_coordinates, require_in_range, with_axis
from treadle_array.row_sums import Summer, sum_rows, sums_of_rows

_BLOCK = 8192
"""Indices that are widened at a time."""


@kernel("gather")
def gather(xp: Any) -> Any:
    """See the op."""
    on_host = xp.__name__ == "numpy"

    def run(params: Any, indices: Any, *, axis: int, batch_dims: int) -> Any:
        at = axis if 0 <= axis < params.ndim else with_axis(axis, params.ndim)
        size = params.shape[at]
        require_in_range(indices, size)
        if not batch_dims:
            is_widened = on_host and params.ndim == 1 and indices.size > 2 * _BLOCK and indices.itemsize < 8
            return _elements(xp, params, indices) if is_widened else params.take(indices, at)
        batch = _batch(params.shape, indices, at, batch_dims)
        width = math.prod(params.shape[at + 1 :])
        rows = _rows(xp, params.shape, indices, at, batch)
        result = params.reshape(math.prod(params.shape[: at + 1]), width).take(rows, 0)
        return result.reshape((*params.shape[:at], *indices.shape[batch:], *params.shape[at + 1 :]))

    return run


def _elements(xp: Any, params: Any, indices: Any) -> Any:
    """Elements at indices that are known to be in range; these are widened by blocks, as ``take`` would make a whole array of them."""
    result = xp.empty(indices.shape, params.dtype)
    flat, target = indices.reshape(-1), result.reshape(-1)
    for start in range(0, indices.size, _BLOCK):
        params.take(flat[start : start + _BLOCK].astype(xp.int64), 0, target[start : start + _BLOCK], mode="wrap")
    return result


def _batch(shape: tuple[int, ...], indices: Any, axis: int, batch_dims: int) -> int:
    if not -indices.ndim <= batch_dims <= indices.ndim:
        raise ValueError(f"batch_dims {batch_dims} is out of range for indices of shape {indices.shape}")
    batch = batch_dims % indices.ndim if batch_dims < 0 else batch_dims
    if axis < batch or shape[:batch] != indices.shape[:batch]:
        raise ValueError(f"batch_dims {batch_dims} does not fit shape {shape}, indices of shape {indices.shape} and axis {axis}")
    return batch


def _rows(xp: Any, shape: tuple[int, ...], indices: Any, axis: int, batch: int) -> Any:
    """Which rows of an array of ``shape``, seen as a matrix whose rows begin after ``axis``, are gathered."""
    outer, inner = math.prod(shape[:batch]), math.prod(shape[batch:axis])
    blocks = xp.arange(outer * inner).reshape(outer, inner, 1)
    index = indices.reshape(outer, 1, math.prod(indices.shape[batch:])).astype(xp.int64)
    return (blocks * shape[axis] + index).reshape(-1)


def gather_grad_with(xp: Any, summer: Summer) -> Any:
    """The kernel of gather_grad with a way to sum rows."""

    def run(g: Any, indices: Any, shape: tuple[int, ...], *, axis: int, batch_dims: int) -> Any:
        at = with_axis(axis, len(shape))
        require_in_range(indices, shape[at])
        batch = _batch(shape, indices, at, batch_dims) if batch_dims else 0
        rows = _rows(xp, shape, indices, at, batch) if at else indices.reshape(-1)
        width = math.prod(shape[at + 1 :])
        return sum_rows(xp, rows, g.reshape(rows.shape[0], width), math.prod(shape[: at + 1]), summer).reshape(shape)

    return run


@kernel("gather_grad")
def gather_grad(xp: Any) -> Any:
    """See the op."""
    return gather_grad_with(xp, sums_of_rows)


@kernel("gather_nd")
def gather_nd(xp: Any) -> Any:
    """See the op."""

    def run(params: Any, indices: Any, *, batch_dims: int, ignore: bool) -> Any:
        places, bad, count = row_places(xp, indices, params.shape, batch_dims, ignore)
        rest = params.shape[batch_dims + indices.shape[-1] :]
        rows = params.reshape(count, math.prod(rest))
        if bad is None:
            result = rows.take(places, 0)
        else:
            result = rows.take(places, 0) if count else xp.empty((places.shape[0], rows.shape[1]), rows.dtype)
            result[bad] = 0
        return result.reshape((*indices.shape[:-1], *rest))

    return run


def row_places(xp: Any, indices: Any, shape: tuple[int, ...], batch_dims: int, ignore: bool) -> tuple[Any, Any, int]:
    """Which rows of an array coordinates point to, a mask of those to pass over, and how many rows there are.

    Raises:
        ValueError: the coordinates do not fit the shape.
    """
    if not indices.ndim or indices.shape[-1] + batch_dims > len(shape):
        raise ValueError(f"indices of shape {indices.shape} do not fit shape {shape}")
    depth = indices.shape[-1]
    if not 0 <= batch_dims < indices.ndim or shape[:batch_dims] != indices.shape[:batch_dims]:
        raise ValueError(f"batch_dims {batch_dims} does not fit shape {shape} and indices of shape {indices.shape}")
    inner = shape[batch_dims : batch_dims + depth]
    places, bad = of_coordinates(xp, indices, inner, ignore)
    if batch_dims and places.size:
        batch = math.prod(shape[:batch_dims])
        places = (places.reshape(batch, -1) + xp.arange(batch).reshape(-1, 1) * math.prod(inner)).reshape(-1)
    return places, bad, math.prod(shape[: batch_dims + depth])
