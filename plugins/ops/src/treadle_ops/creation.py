"""Tensors made from nothing but a shape: zeros, ones, fill, and those like another tensor."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op, public
from treadle.dtypes import DType, as_dtype, float32
from treadle_ops.arguments import shape_argument, tensor
from treadle_ops.reductions import reduce_sum_op
from treadle_ops.inference import dims_of_value, require_rank


@op("zeros")
def zeros_op(shape: HostSpec, *, dtype: DType) -> Spec:
    """A tensor of zeros."""
    return Spec(dims_of_value(shape), dtype)


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
    return Spec(dims_of_value(shape), dtype)


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
    return Spec(dims_of_value(shape), value.dtype)


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
    return Spec(x.dims, dtype)


@op("ones_like", spec_only=True)
def ones_like_op(x: Spec, *, dtype: DType) -> Spec:
    """Ones of the shape of ``x``."""
    return Spec(x.dims, dtype)


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
