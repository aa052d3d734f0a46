"""Sizes as tensors: the number of elements, the number of axes, and what shapes broadcast to."""

from __future__ import annotations

from typing import Any

from treadle import dims
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, op, public
from treadle.dims import Dim
from treadle.dtypes import DType, int32
from treadle.errors import DTypeError, ShapeError
from treadle.shapes import TensorShape
from treadle_ops.arguments import dtype_argument, tensor, tensor_argument
from treadle_ops.inference import dims_of_value


@op("size", spec_only=True)
def size_op(x: Spec, *, out_type: DType) -> Spec:
    """The number of elements."""
    return Spec((), out_type, Dim.symbol() if x.size is None else x.size)


@public("size")
def size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The number of elements of a tensor, as a tensor.

    Args:
        input: any shape, any dtype.
        out_type: int32 or int64; int32 by default.
        name: ignored.

    Returns:
        A scalar of ``out_type``.

    Sources:
        TensorFlow ``tf.size``.
    """
    return size_op(tensor(input), out_type=dtype_argument(out_type, int32))


@op("rank", spec_only=True)
def rank_op(x: Spec) -> Spec:
    """The number of axes."""
    return Spec((), int32, Dim.symbol() if x.dims is None else len(x.dims))


@public("rank")
def rank(input: Any, name: str | None = None) -> Any:
    """The number of axes of a tensor, as a tensor.

    Args:
        input: any shape, any dtype.
        name: ignored.

    Returns:
        An int32 scalar.

    Sources:
        TensorFlow ``tf.rank``.
    """
    return rank_op(tensor(input))


@op("broadcast_dynamic_shape", can_fail=True)
def broadcast_dynamic_shape_op(x: HostSpec, y: HostSpec, *, out_type: DType) -> Spec:
    """The shape that two shapes broadcast to."""
    left, right = dims_of_value(x), dims_of_value(y)
    if left is None or right is None:
        return Spec((Dim.symbol(),), out_type)
    found = dims.broadcast(left, right) or ()
    return Spec((len(found),), out_type, found)


@public("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape that two shapes broadcast to, as a tensor.

    Args:
        shape_x: a vector of integers.
        shape_y: a vector of integers.

    Returns:
        A vector of the dtype of ``shape_x``.

    Raises:
        ShapeError: the shapes do not broadcast.

    Sources:
        TensorFlow ``tf.broadcast_dynamic_shape``.
    """
    x, y = (tensor_argument(shape, hint=int32) for shape in (shape_x, shape_y))
    if x.dtype is not y.dtype or not x.dtype.is_integer:
        raise DTypeError(f"broadcast_dynamic_shape: shapes must be integers of one dtype, got {x.dtype.name} and {y.dtype.name}. Use td.cast.")
    return broadcast_dynamic_shape_op(x, y, out_type=x.dtype)


@public("broadcast_static_shape")
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that two perhaps partly known shapes broadcast to.

    Args:
        shape_x: a ``TensorShape``.
        shape_y: a ``TensorShape``.

    Returns:
        A ``TensorShape``; None where a size cannot be told.

    Raises:
        ShapeError: the shapes do not broadcast.

    Sources:
        TensorFlow ``tf.broadcast_static_shape``.
    """
    x, y = TensorShape(shape_x), TensorShape(shape_y)
    if x.rank is None or y.rank is None:
        return TensorShape(None)
    rank = max(x.rank, y.rank)
    columns = zip([1] * (rank - x.rank) + x.as_list(), [1] * (rank - y.rank) + y.as_list(), strict=True)
    return TensorShape([_broadcast_sizes(a, b, x, y) for a, b in columns])


def _broadcast_sizes(a: int | None, b: int | None, x: TensorShape, y: TensorShape) -> int | None:
    """One size of two that broadcast; one that is known and not 1 decides."""
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if a is None or b is None:
        return b if a is None else a
    raise ShapeError(f"broadcast_static_shape: shapes {x} and {y} have the sizes {a} and {b} on one axis; they must be equal, or one of them 1")
