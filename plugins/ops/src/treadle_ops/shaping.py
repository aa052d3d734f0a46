"""Shapes of tensors and how to change them: shape, reshape, broadcast_to, transpose, expand_dims, squeeze, ensure_shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op, public
from treadle.dims import Dim, Size
from treadle.dtypes import int32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.shapes import TensorShape
from treadle.tensor import Tensor
from treadle_ops.arguments import axes_argument, axes_or_tensor, axis_argument, dtype_argument, shape_argument, tensor
from treadle_ops.broadcasting import broadcast_to_op, shape_of, shape_op
from treadle_ops.called_function import subject
from treadle_ops.elementwise import conj
from treadle_ops.flow import identity
from treadle_ops.inference import dims_of_value, normalize_axes, normalize_axis
from treadle_ops.known import carried
from treadle_ops.run_time_order import axis_from_front, transpose_by


@public("shape")
def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The sizes of a tensor's axes, as a tensor.

    Args:
        input: any shape, any dtype.
        out_type: int32 or int64; int32 by default.
        name: ignored.

    Returns:
        ``(rank,)`` of ``out_type``.
    """
    return shape_op(tensor(input), out_type=dtype_argument(out_type, int32))


@op("reshape", aliases=True)
def reshape_op(x: Spec, shape: HostSpec) -> Spec:
    """The same elements in another shape."""
    value = shape.value
    if value is None:
        return Spec(dims_of_value(shape), x.dtype)
    wanted: list[Size] = list(value) if isinstance(value, tuple) else [value]
    unknown = [i for i, d in enumerate(wanted) if isinstance(d, int) and d == -1]
    if any(isinstance(d, int) and d < -1 for d in wanted):
        raise ShapeError(f"{subject()}reshape to {list(value)}: a size is negative; sizes are 0 or more, or -1 once for what is left")
    if len(unknown) > 1:
        raise ShapeError(f"reshape to {list(value)}: only one size can be -1")
    total = x.size
    if unknown:
        known = sizes.product(d for i, d in enumerate(wanted) if i != unknown[0])
        wanted[unknown[0]] = _left_over(total, known, x, value)
    elif total is not None and sizes.known_different(total, sizes.product(wanted)):
        count = sizes.product(wanted)
        raise ShapeError(f"reshape of shape {x.shape} ({total} elements) to {list(value)} ({count} elements): the numbers of elements must be equal")
    dims = tuple(wanted)
    return Spec(dims, x.dtype, carried(lambda v: v.reshape(dims), x) if x.value is not None and Spec(dims, x.dtype).is_static else None)


def _left_over(total: Size | None, known: Size, x: Spec, value: Any) -> Size:
    """What -1 stands for; where both have a size of 0, the quotient of the other sizes, as in TensorFlow."""
    if isinstance(total, int) and isinstance(known, int) and total and (known == 0 or total % known):
        raise ShapeError(f"{subject()}reshape of shape {x.shape} ({total} elements) to {list(value)}: {total} is not a multiple of {known}")
    if known == 0 and x.is_static and all(isinstance(d, int) for d in value):
        return math.prod(d for d in x.dims or () if d) // math.prod(d for d in value if d > 0)
    if total is None or known == 0 or (total == 0 and not isinstance(known, int)):
        return Dim.symbol()
    return sizes.floordiv(total, known)


@gradient(reshape_op)
def _(ctx: Any, g: Any) -> Any:
    return reshape_op(g, shape_of(ctx.inputs[0])), None


@public("reshape")
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in another shape.

    Args:
        tensor: any shape, any dtype.
        shape: integers; one of them may be -1, for what is left.
        name: ignored.

    Returns:
        A tensor of ``shape`` and the dtype of ``tensor``.

    Raises:
        ShapeError: the numbers of elements differ.
    """
    return reshape_op(tensor, shape_argument(shape))


@public("broadcast_to")
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Repeat axes of size 1 until the shape is ``shape``.

    Args:
        input: any shape that broadcasts to ``shape``, any dtype.
        shape: integers.
        name: ignored.

    Returns:
        A tensor of ``shape`` and the dtype of ``input``.

    Raises:
        ShapeError: the shape of ``input`` does not broadcast to it.
    """
    return broadcast_to_op(input, shape_argument(shape))


@op("transpose", aliases=True)
def transpose_op(x: Spec, *, perm: tuple[int, ...] | None) -> Spec:
    """Axes in another order; None reverses them."""
    if x.dims is None:
        return Spec(None if perm is None else tuple(Dim.symbol() for _ in perm), x.dtype)
    rank = len(x.dims)
    order = tuple(reversed(range(rank))) if perm is None else tuple(p + rank if p < 0 else p for p in perm)
    if sorted(order) != list(range(rank)):
        raise InvalidArgumentError(f"transpose: perm {list(perm or ())} is not a permutation of the {rank} axes of shape {x.shape}")
    return Spec(tuple(x.dims[p] for p in order), x.dtype, carried(lambda v: v.transpose(order), x))


@gradient(transpose_op)
def _(ctx: Any, g: Any) -> Any:
    if ctx.perm is None:
        return transpose_op(g, perm=None)
    rank = len(ctx.perm)
    inverse = [0] * rank
    for i, p in enumerate(ctx.perm):
        inverse[p % rank] = i
    return transpose_op(g, perm=tuple(inverse))


@public("transpose")
def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Any:
    """A tensor with its axes in another order.

    Args:
        a: any shape, any dtype.
        perm: which axis comes where; by default they are reversed.
        conjugate: conjugate complex elements too.
        name: ignored.

    Returns:
        The shape permuted, the dtype of ``a``.

    Raises:
        InvalidArgumentError: ``perm`` is not a permutation of the axes.
    """
    order = None if perm is None else axes_or_tensor(perm, "perm")
    turned = transpose_by(a, order) if isinstance(order, Tensor) else transpose_op(a, perm=(order,) if isinstance(order, int) else order)
    return conj(turned) if conjugate else turned


@op("expand_dims", aliases=True)
def expand_dims_op(x: Spec, *, axis: int) -> Spec:
    """A new axis of size 1."""
    if x.dims is None:
        return Spec(None, x.dtype)
    at = normalize_axis(axis, len(x.dims) + 1)
    return Spec((*x.dims[:at], 1, *x.dims[at:]), x.dtype, carried(lambda v: np.expand_dims(v, at), x))


@gradient(expand_dims_op)
def _(ctx: Any, g: Any) -> Any:
    return reshape_op(g, shape_of(ctx.inputs[0]))


@public("expand_dims")
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """A tensor with a new axis of size 1.

    Args:
        input: any shape, any dtype.
        axis: where the new axis stands; negative ones count from the end.
        name: ignored.

    Returns:
        The shape with a 1 at ``axis``, the dtype of ``input``.

    Raises:
        InvalidArgumentError: the axis is out of range.
    """
    at = axes_or_tensor(axis)
    if isinstance(at, Tensor):
        return axis_from_front(expand_dims_op(input, axis=0), at)
    return expand_dims_op(input, axis=axis_argument(at))


@op("squeeze", aliases=True)
def squeeze_op(x: Spec, *, axis: tuple[int, ...] | None) -> Spec:
    """Without axes of size 1."""
    if x.dims is None:
        return Spec(None, x.dtype)
    if axis is None:
        if not x.is_static:
            return Spec(None, x.dtype)
        gone = [i for i, d in enumerate(x.dims) if d == 1]
    else:
        gone = list(normalize_axes(axis, len(x.dims)))
        for i in gone:
            if sizes.known_different(x.dims[i], 1):
                raise ShapeError(f"axis {i} of shape {x.shape} has size {x.dims[i]}; only axes of size 1 can be squeezed")
    return Spec(tuple(d for i, d in enumerate(x.dims) if i not in gone), x.dtype, carried(lambda v: v.squeeze(tuple(gone)), x))


@gradient(squeeze_op)
def _(ctx: Any, g: Any) -> Any:
    return reshape_op(g, shape_of(ctx.inputs[0]))


@public("squeeze")
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """A tensor without axes of size 1.

    Args:
        input: any shape, any dtype.
        axis: an int or a list of ints; all axes of size 1 by default.
        name: ignored.

    Returns:
        The shape without these axes, the dtype of ``input``.

    Raises:
        InvalidArgumentError: an axis is out of range or named twice.
        ShapeError: an axis has another size than 1.

    Sources:
        TensorFlow ``tf.squeeze``.
    """
    return squeeze_op(input, axis=axes_argument(axis) or None)


@op("ensure_shape", aliases=True, can_fail=True)
def ensure_shape_op(x: Spec, *, shape: tuple[int | None, ...]) -> Spec:
    """The same tensor, which must have a shape; None stands for any size."""
    if x.dims is None:
        return Spec(sizes.with_symbols(shape), x.dtype)
    if len(x.dims) != len(shape) or any(d is not None and sizes.known_different(d, have) for d, have in zip(shape, x.dims, strict=True)):
        raise ShapeError(f"shape {x.shape} is not compatible with {TensorShape(shape)}, the shape it must have")
    return Spec(tuple(have if d is None else d for d, have in zip(shape, x.dims, strict=True)), x.dtype, x.value)


@gradient(ensure_shape_op)
def _(ctx: Any, g: Any) -> Any:
    return g


@public("ensure_shape")
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """The same tensor, whose shape is checked when the program runs and known from here on while tracing.

    Args:
        x: any shape, any dtype.
        shape: a shape with None where any size is allowed.
        name: ignored.

    Returns:
        ``x``.

    Raises:
        ShapeError: ``x`` has another shape.

    Sources:
        TensorFlow ``tf.ensure_shape``.
    """
    wanted = TensorShape(shape)
    return identity(x) if wanted.rank is None else ensure_shape_op(x, shape=tuple(wanted.as_list()))
