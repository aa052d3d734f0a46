"""Shapes of tensors and how to change them: shape, reshape, broadcast_to, transpose."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op, public
from treadle.dims import Dim, Size
from treadle.dtypes import DType, int32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import axis_argument, dtype_argument, shape_argument, static_value, tensor
from treadle_ops.broadcasting import broadcast_to_op, shape_of, shape_op
from treadle_ops.elementwise import conj
from treadle_ops.inference import dims_of_value, normalize_axis


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
        raise ShapeError(f"reshape to {list(value)}: a size is negative; sizes are 0 or more, or -1 once for what is left")
    if len(unknown) > 1:
        raise ShapeError(f"reshape to {list(value)}: only one size can be -1")
    total = x.size
    if unknown:
        known = sizes.product(d for i, d in enumerate(wanted) if i != unknown[0])
        wanted[unknown[0]] = _left_over(total, known, x, value)
    elif total is not None and sizes.known_different(total, sizes.product(wanted)):
        raise ShapeError(f"reshape of shape {x.shape} ({total} elements) to {list(value)} ({sizes.product(wanted)} elements): the numbers of elements must be equal")
    return Spec(tuple(wanted), x.dtype)


def _left_over(total: Size | None, known: Size, x: Spec, value: Any) -> Size:
    if total is None or (isinstance(known, int) and known == 0):
        if isinstance(known, int) and known == 0 and isinstance(total, int):
            raise ShapeError(f"reshape of shape {x.shape} to {list(value)}: -1 cannot be found when another size is 0; give every size")
        return Dim.symbol()
    if isinstance(total, int) and isinstance(known, int):
        if total % known:
            raise ShapeError(f"reshape of shape {x.shape} ({total} elements) to {list(value)}: {total} is not a multiple of {known}")
        return total // known
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
    return Spec(tuple(x.dims[p] for p in order), x.dtype)


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
    order = None if perm is None else tuple(int(p) for p in static_value(perm, "perm"))
    turned = transpose_op(a, perm=order)
    return conj(turned) if conjugate else turned


@op("expand_dims", aliases=True)
def expand_dims_op(x: Spec, *, axis: int) -> Spec:
    """A new axis of size 1."""
    if x.dims is None:
        return Spec(None, x.dtype)
    at = normalize_axis(axis, len(x.dims) + 1)
    return Spec((*x.dims[:at], 1, *x.dims[at:]), x.dtype)


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
    return expand_dims_op(input, axis=axis_argument(axis))
