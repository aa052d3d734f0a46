"""Slices of a tensor at given indices along an axis.

Indices must lie in ``[0, size)``; negative ones do not count from the end. Gradients add up where an index repeats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, IndexSpec, gradient, op, public
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import axis_argument, static_integer, tensor
from treadle_ops.broadcasting import axis_size, shape_of
from treadle_ops.indexed_slices import IndexedSlices
from treadle_ops.inference import INTEGER, dims_of_value, normalize_axis, require_kind
from treadle_ops.known import carried, known
from treadle_ops.shaping import reshape_op


@op("gather", can_fail=True)
def gather_op(params: Spec, indices: IndexSpec, *, axis: int, batch_dims: int) -> Spec:
    """The slices of ``params`` along an axis at indices; the first ``batch_dims`` axes of both belong together."""
    require_kind(indices, INTEGER, "indices")
    if indices.dims is not None and not -len(indices.dims) <= batch_dims <= len(indices.dims):
        raise InvalidArgumentError(f"batch_dims {batch_dims} is out of range for indices of rank {len(indices.dims)} (shape {indices.shape})")
    if params.dims is None or indices.dims is None:
        if params.dims is not None:
            normalize_axis(axis, len(params.dims))
        return Spec(None, params.dtype)
    at = normalize_axis(axis, len(params.dims))
    batch = batch_dims + len(indices.dims) if batch_dims < 0 else batch_dims
    if at < batch:
        raise InvalidArgumentError(f"axis {axis} is one of the batch axes: batch_dims is {batch}; axis must not be less")
    if any(sizes.known_different(a, b) for a, b in zip(params.dims[:batch], indices.dims[:batch], strict=True)):
        raise ShapeError(
            f"params of shape {params.shape} and indices of shape {indices.shape} differ in the first {batch} axes; batch axes must be equal"
        )
    dims = (*params.dims[:at], *indices.dims[batch:], *params.dims[at + 1 :])
    return Spec(dims, params.dtype, _picked(params, indices, at, batch))


def _picked(params: Spec, indices: Spec, axis: int, batch: int) -> Any:
    """The value of a gather of known values at known indices; None where something is not known."""
    at, size = known(indices), (params.dims or ())[axis]
    if batch or at is None or not all(isinstance(i, int) and isinstance(size, int) and 0 <= i < size for i in at.flat):
        return None
    return carried(lambda array: np.asarray(array.take(at.astype(np.int64), axis), object), params)


@op("gather_grad", can_fail=True)
def gather_grad(g: Spec, indices: IndexSpec, shape: HostSpec, *, axis: int, batch_dims: int) -> Spec:
    """Zeros of a shape, with the slices of ``g`` added at indices."""
    return Spec(dims_of_value(shape), g.dtype)


@gradient(gather_op)
def _(ctx: Any, g: Any) -> Any:
    params, indices = ctx.inputs
    if ctx.axis == 0 and ctx.batch_dims == 0 and params.dims is not None:
        return _rows(g, indices, params), None
    return gather_grad(g, indices, shape_of(params), axis=ctx.axis, batch_dims=ctx.batch_dims), None


def _rows(g: Any, indices: Any, params: Any) -> IndexedSlices:
    """The cotangent of ``params`` as the rows that it has: where ``g`` came from."""
    if indices.dims is None or len(indices.dims) != 1:
        row = [size if type(size) is int else axis_size(params, axis=i) for i, size in enumerate(params.dims) if i]
        g = reshape_op(g, (-1, *row) if all(type(size) is int for size in row) else [-1, *row])
        indices = reshape_op(indices, (-1,))
    return IndexedSlices(g, indices, shape_of(params))


def dense_rows(values: Any, indices: Any, shape: Any) -> Any:
    """Rows of a larger tensor of a shape, which is 0 elsewhere, as that tensor; rows of one index add up."""
    return gather_grad(values, indices, shape, axis=0, batch_dims=0)


@gradient(gather_grad)
def _(ctx: Any, g: Any) -> Any:
    return gather_op(g, ctx.inputs[1], axis=ctx.axis, batch_dims=ctx.batch_dims), None, None


@public("gather")
def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: Any = 0, name: str | None = None) -> Any:
    """The slices of a tensor along an axis at given indices.

    Args:
        params: any shape of rank 1 or more, any dtype.
        indices: any shape, integers in ``[0, params.shape[axis])``.
        validate_indices: ignored; indices are always checked.
        axis: along which to gather; by default ``batch_dims``.
        batch_dims: how many first axes of ``params`` and ``indices`` are the same batch.
        name: ignored.

    Returns:
        ``params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]`` of the dtype of ``params``.

    Raises:
        IndexOutOfRangeError: an index is out of range.
        InvalidArgumentError: the axis or ``batch_dims`` is out of range.
        ShapeError: the batch axes differ.
        DTypeError: the indices are no integers.

    Sources:
        TensorFlow ``tf.gather``.
    """
    batch = static_integer(batch_dims, "batch_dims")
    if axis is not None:
        at = axis_argument(axis)
    elif batch >= 0:
        at = batch
    else:
        indices = tensor(indices)
        if indices.dims is None:
            raise InvalidArgumentError(
                f"gather: axis is not given, and batch_dims {batch} is counted from the end of indices of unknown rank; give axis"
            )
        at = batch + len(indices.dims)
    return gather_op(params, indices, axis=at, batch_dims=batch)
