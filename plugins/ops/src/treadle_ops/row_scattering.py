"""Rows put into a tensor at their indices: what the ``scatter`` methods of a Variable compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import axis_size
from treadle_ops.division import truncatediv
from treadle_ops.elementwise import divide_op, multiply
from treadle_ops.indexed_slices import IndexedSlices
from treadle_ops.scattering import (
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from treadle_ops.segments import unsorted_segment_prod
from treadle_ops.shaping import expand_dims


def scatter_rows(x: Any, rows: Any, how: str) -> Any:
    """A tensor with rows added, subtracted, multiplied, ... at their indices.

    Args:
        x: ``(n, ...)``.
        rows: an ``IndexedSlices`` of the dtype of ``x``.
        how: a name of ``WAYS``.

    Raises:
        TypeError: ``rows`` is no ``IndexedSlices``.
        InvalidArgumentError: an index is out of range.
    """
    if not isinstance(rows, IndexedSlices):
        raise TypeError(f"scatter_{how}: the rows are a {type(rows).__name__}; give a td.IndexedSlices(values, indices)")
    return WAYS[how](x, rows.indices, tensor(rows.values, x))


def _by_element(scatter: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, indices, values: scatter(x, expand_dims(indices, -1), values)


def _multiply(x: Any, indices: Any, values: Any) -> Any:
    return multiply(x, _products(x, indices, values))


def _divide(x: Any, indices: Any, values: Any) -> Any:
    return (truncatediv if x.dtype.is_integer else divide_op)(x, _products(x, indices, values))


def _products(x: Any, indices: Any, values: Any) -> Any:
    """Per row of ``x`` the product of the values for it; 1 where there is none."""
    return unsorted_segment_prod(values, indices, x.dims[0] if isinstance(x.dims[0], int) else axis_size(x, axis=0))


WAYS: dict[str, Callable[..., Any]] = {
    "add": _by_element(tensor_scatter_nd_add),
    "sub": _by_element(tensor_scatter_nd_sub),
    "max": _by_element(tensor_scatter_nd_max),
    "min": _by_element(tensor_scatter_nd_min),
    "update": _by_element(tensor_scatter_nd_update),
    "mul": _multiply,
    "div": _divide,
}
