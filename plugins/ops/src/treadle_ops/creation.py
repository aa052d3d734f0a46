"""Tensors made from nothing but a shape: zeros, ones, fill, eye, and those like another tensor."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.declare import HostSpec, gradient, op, public
from treadle.dtypes import DType, as_dtype, float32, int64
from treadle.errors import ShapeError
from treadle_ops.arguments import integer_argument, integers_argument, shape_argument, tensor
from treadle_ops.casting import cast
from treadle_ops.inference import dims_of_value, require_rank
from treadle_ops.joining import concat_op
from treadle_ops.known import repeated
from treadle_ops.reductions import reduce_sum_op


@op("zeros")
def zeros_op(shape: HostSpec, *, dtype: DType) -> Spec:
    """A tensor of zeros."""
    dims = dims_of_value(shape)
    return Spec(dims, dtype, repeated(0, dims, dtype))


@public("zeros")
def zeros(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    """A tensor of zeros (False for bool).

    Args:
        shape: integers.
        dtype: of the result.
        name: ignored.
        layout: ignored.

    Returns:
        A tensor of ``shape`` and ``dtype``.

    Raises:
        ShapeError: a size is negative.
    """
    return zeros_op(shape_argument(shape), dtype=as_dtype(dtype))


@op("ones")
def ones_op(shape: HostSpec, *, dtype: DType) -> Spec:
    """A tensor of ones."""
    dims = dims_of_value(shape)
    return Spec(dims, dtype, repeated(1, dims, dtype))


@public("ones")
def ones(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    """A tensor of ones (True for bool).

    Args:
        shape: integers.
        dtype: of the result.
        name: ignored.
        layout: ignored.

    Returns:
        A tensor of ``shape`` and ``dtype``.

    Raises:
        ShapeError: a size is negative.
    """
    return ones_op(shape_argument(shape), dtype=as_dtype(dtype))


@op("fill")
def fill_op(shape: HostSpec, value: Spec) -> Spec:
    """A tensor of one value."""
    require_rank(value, 0, "the value")
    dims = dims_of_value(shape)
    return Spec(dims, value.dtype, repeated(value.value, dims, value.dtype))


@gradient(fill_op)
def _(ctx: Any, g: Any) -> Any:
    return None, reduce_sum_op(g, axis=None, keepdims=False)


@public("fill")
def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """A tensor of one value.

    Args:
        dims: the shape, integers.
        value: a scalar, any dtype.
        name: ignored.
        layout: ignored.

    Returns:
        A tensor of shape ``dims`` and the dtype of ``value``.

    Raises:
        ShapeError: ``value`` is not a scalar, or a size is negative.
    """
    return fill_op(shape_argument(dims), tensor(value))


@op("zeros_like", spec_only=True)
def zeros_like_op(x: Spec, *, dtype: DType) -> Spec:
    """Zeros of the shape of ``x``."""
    return Spec(x.dims, dtype, repeated(0, x.dims, dtype))


@op("ones_like", spec_only=True)
def ones_like_op(x: Spec, *, dtype: DType) -> Spec:
    """Ones of the shape of ``x``."""
    return Spec(x.dims, dtype, repeated(1, x.dims, dtype))


@public("zeros_like")
def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Zeros of the shape of another tensor.

    Args:
        input: any shape, any dtype.
        dtype: of the result; by default that of ``input``.
        name: ignored.
        layout: ignored.

    Returns:
        The shape of ``input``, of ``dtype``.
    """
    return _like(input, dtype, zeros_op, zeros_like_op)


@public("ones_like")
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Ones of the shape of another tensor.

    Args:
        input: any shape, any dtype.
        dtype: of the result; by default that of ``input``.
        name: ignored.
        layout: ignored.

    Returns:
        The shape of ``input``, of ``dtype``.
    """
    return _like(input, dtype, ones_op, ones_like_op)


def _like(input: Any, dtype: Any, by_shape: Any, by_tensor: Any) -> Any:
    x = tensor(input)
    wanted = x.dtype if dtype is None else as_dtype(dtype)
    dims = x.dims
    if dims is not None and all(type(d) is int for d in dims):
        return by_shape(tuple(dims), dtype=wanted)
    return by_tensor(x, dtype=wanted)


@op("eye")
def eye_op(shape: HostSpec, *, dtype: DType) -> Spec:
    """Matrices with ones on the main diagonal and zeros elsewhere."""
    dims = dims_of_value(shape)
    if dims is not None and len(dims) < 2:
        raise ShapeError(f"eye: the shape {list(dims)} has fewer than two axes")
    return Spec(dims, dtype)


@public("eye", "linalg.eye")
def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = float32, name: str | None = None) -> Any:
    """An identity matrix, or several.

    Args:
        num_rows: an integer.
        num_columns: an integer; ``num_rows`` by default.
        batch_shape: integers, the leading axes of the result; none by default.
        dtype: of the result.
        name: ignored.

    Returns:
        ``(*batch_shape, num_rows, num_columns)`` of ``dtype``, with ones on the diagonal.

    Raises:
        ShapeError: a size is negative.

    Sources:
        TensorFlow ``tf.eye``.
    """
    rows = integer_argument(num_rows, "num_rows")
    columns = rows if num_columns is None else integer_argument(num_columns, "num_columns")
    matrix = integers_argument([rows, columns], "the numbers of rows and columns")
    batch = () if batch_shape is None else shape_argument(batch_shape)
    if isinstance(batch, tuple) and isinstance(matrix, tuple):
        shape: Any = (*batch, *matrix)
    else:
        shape = concat_op([cast(convert_to_tensor(part, dtype_hint=int64), int64) for part in (batch, matrix)], axis=0)
    return eye_op(shape, dtype=as_dtype(dtype))
