"""Putting tensors together and taking them apart along an axis: concat, stack, split, unstack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import axis_argument, tensor
from treadle_ops.flow import identity
from treadle_ops.inference import common_dims, normalize_axis, same_dtype


@op("concat")
def concat_op(values: Sequence[Spec], *, axis: int) -> Spec:
    """Tensors one after the other along an axis."""
    if not values:
        raise InvalidArgumentError("concat needs at least one tensor")
    dtype = same_dtype(*values)
    known = [v for v in values if v.dims is not None]
    if not known:
        return Spec(None, dtype)
    rank = len(known[0].dims or ())
    if rank == 0:
        raise ShapeError("concat: scalars have no axis to join along; use td.stack")
    at = normalize_axis(axis, rank)
    for other in known:
        if len(other.dims or ()) != rank:
            raise ShapeError(f"concat: the inputs have the shapes {known[0].shape} and {other.shape}; their ranks must be equal")
    merged = []
    for i in range(rank):
        column = [v.dims[i] for v in known if v.dims is not None]
        if i == at:
            merged.append(sizes.Dim.symbol() if len(known) < len(values) else _total(column))
        else:
            merged.append(_unified(column, i, known))
    return Spec(tuple(merged), dtype)


def _total(column: list[Any]) -> Any:
    total: Any = 0
    for size in column:
        total = sizes.add(total, size)
    return total


def _unified(column: list[Any], axis: int, specs: list[Spec]) -> Any:
    size = column[0]
    for other, spec in zip(column[1:], specs[1:], strict=True):
        if sizes.known_different(size, other):
            raise ShapeError(f"concat: the inputs have the shapes {specs[0].shape} and {spec.shape}, which differ in axis {axis}")
        size = sizes.unify(size, other, "concat")
    return size


@gradient(concat_op)
def _(ctx: Any, g: Any) -> Any:
    (values,) = ctx.inputs
    axis = ctx.axis if ctx.axis >= 0 else ctx.axis + len(values[0].dims)
    lengths = [v.dims[axis] for v in values]
    if all(type(n) is int for n in lengths):
        return split_op(g, sizes=tuple(lengths), axis=axis)
    pieces, start = [], 0
    for value in values:
        length = _size(value, axis)
        pieces.append(slice_along(g, axis, start, length))
        start = start + length
    return pieces


def _size(x: Any, axis: int) -> Any:
    size = x.dims[axis]
    if isinstance(size, int):
        return size
    return shape(x)[axis]


@public("concat")
def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Join tensors along an axis.

    Args:
        values: a list of tensors of one dtype, with equal shapes but along ``axis``.
        axis: an int, negative ones count from the end.
        name: ignored.

    Returns:
        A tensor of that dtype, whose size along ``axis`` is the sum of theirs.

    Raises:
        ShapeError: the shapes do not fit.
    """
    if not isinstance(values, list | tuple):
        values = [values]
    if len(values) == 1:
        return identity(tensor(values[0]))
    return concat_op(list(values), axis=axis_argument(axis))


@op("stack")
def stack_op(values: Sequence[Spec], *, axis: int) -> Spec:
    """Tensors of one shape along a new axis."""
    if not values:
        raise InvalidArgumentError("stack needs at least one tensor")
    dtype = same_dtype(*values)
    dims = common_dims(values, "the inputs of stack")
    if dims is None:
        return Spec(None, dtype)
    at = normalize_axis(axis, len(dims) + 1)
    value = None
    if dims == () and all(v.value is not None for v in values):
        value = tuple(v.value for v in values)
    return Spec((*dims[:at], len(values), *dims[at:]), dtype, value)


@gradient(stack_op)
def _(ctx: Any, g: Any) -> Any:
    (values,) = ctx.inputs
    return unstack_op(g, num=len(values), axis=ctx.axis)


@public("stack")
def stack(values: Any, axis: Any = 0, name: str = "stack") -> Any:
    """Put tensors of one shape together along a new axis.

    Args:
        values: a list of tensors of one shape and dtype.
        axis: where the new axis stands.
        name: ignored.

    Returns:
        A tensor with one more axis, of size ``len(values)``.

    Raises:
        ShapeError: the shapes differ.
    """
    items = list(values) if isinstance(values, list | tuple) else list(tensor(values))
    return stack_op(items, axis=axis_argument(axis))


@op("split", aliases=True)
def split_op(value: Spec, *, sizes: tuple[int, ...], axis: int) -> list[Spec]:
    """Pieces of given sizes along an axis."""
    if value.dims is None:
        return [Spec(None, value.dtype) for _ in sizes]
    at = normalize_axis(axis, len(value.dims))
    whole = value.dims[at]
    if any(n < 0 for n in sizes) or (isinstance(whole, int) and sum(sizes) != whole):
        raise InvalidArgumentError(f"split: the sizes {list(sizes)} must be 0 or more and add up to {whole}, the size of axis {at} of shape {value.shape}")
    return [Spec((*value.dims[:at], n, *value.dims[at + 1 :]), value.dtype) for n in sizes]


@gradient(split_op)
def _(ctx: Any, *gs: Any) -> Any:
    return concat_op(list(gs), axis=ctx.axis)


@op("unstack", aliases=True)
def unstack_op(value: Spec, *, num: int, axis: int) -> list[Spec]:
    """The slices along an axis, without it."""
    if value.dims is None:
        return [Spec(None, value.dtype) for _ in range(num)]
    at = normalize_axis(axis, len(value.dims))
    if isinstance(value.dims[at], int) and value.dims[at] != num:
        raise ShapeError(f"unstack: axis {at} of shape {value.shape} has size {value.dims[at]}, and num is {num}")
    return [Spec((*value.dims[:at], *value.dims[at + 1 :]), value.dtype) for _ in range(num)]


@gradient(unstack_op)
def _(ctx: Any, *gs: Any) -> Any:
    return stack_op(list(gs), axis=ctx.axis)


