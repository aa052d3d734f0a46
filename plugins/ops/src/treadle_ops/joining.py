"""Putting tensors together along an axis and taking them apart: concat, stack, split, unstack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op, public
from treadle.dims import Dim, Size, add, floordiv, known_different, mul, unify
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.shapes import TensorShape
from treadle.tensor import Tensor
from treadle_ops.arguments import axes_or_tensor, axis_argument, integers_argument, static_integer, tensor
from treadle_ops.broadcasting import sizes_along
from treadle_ops.called_function import checked
from treadle_ops.flow import identity
from treadle_ops.inference import common_dims, normalize_axis, same_dtype
from treadle_ops.known import carried, known, value_of
from treadle_ops.run_time_order import axis_from_front, axis_to_front
from treadle_ops.shaping import ensure_shape


@op("concat")
def concat_op(values: Sequence[Spec], *, axis: int) -> Spec:
    """Tensors one after the other along an axis."""
    if not values:
        raise InvalidArgumentError("concat needs at least one tensor")
    dtype = same_dtype(*values)
    ranked = [v for v in values if v.dims is not None]
    if not ranked:
        return Spec(None, dtype)
    first = ranked[0]
    rank = len(first.dims or ())
    if rank == 0:
        raise ShapeError("concat: scalars have no axis to join along; use td.stack")
    at = normalize_axis(axis, rank)
    for other in ranked:
        if len(other.dims or ()) != rank:
            raise ShapeError(f"concat: the inputs have the shapes {first.shape} and {other.shape}; their ranks must be equal")
    merged: list[Size] = []
    for i in range(rank):
        column = [v.dims[i] for v in ranked if v.dims is not None]
        if i != at:
            merged.append(_unified(column, i, ranked))
        elif len(ranked) < len(values):
            merged.append(Dim.symbol())
        else:
            merged.append(_total(column))
    return Spec(tuple(merged), dtype, carried(lambda *arrays: np.concatenate(arrays, at), *values))


def _total(column: Sequence[Size]) -> Size:
    total: Size = 0
    for size in column:
        total = add(total, size)
    return total


def _unified(column: list[Size], axis: int, specs: list[Spec]) -> Size:
    size = column[0]
    for other, spec in zip(column[1:], specs[1:], strict=True):
        if known_different(size, other):
            raise ShapeError(f"concat: the inputs have the shapes {specs[0].shape} and {spec.shape}, which differ in axis {axis}")
        size = unify(size, other, "concat")
    return size


@gradient(concat_op)
def _(ctx: Any, g: Any) -> Any:
    (values,) = ctx.inputs
    return split_op(g, sizes_along(values, ctx.axis), axis=ctx.axis)


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

    Sources:
        TensorFlow ``tf.concat``.
    """
    if not isinstance(values, list | tuple):
        values = [values]
    if len(values) == 1:
        return identity(tensor(values[0]))
    at = axes_or_tensor(axis)
    if isinstance(at, Tensor):
        items = [tensor(v) for v in values]
        return axis_from_front(concat_op([axis_to_front(v, at) for v in items], axis=0), at)
    return concat_op(values, axis=axis_argument(at))


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
    return Spec((*dims[:at], len(values), *dims[at:]), dtype, carried(lambda *arrays: np.stack(arrays, at), *values))


@gradient(stack_op)
def _(ctx: Any, g: Any) -> Any:
    (values,) = ctx.inputs
    return unstack_op(g, num=len(values), axis=ctx.axis)


@public("stack")
def stack(values: Any, axis: Any = 0, name: str = "stack") -> Any:
    """Put tensors of one shape together along a new axis.

    Args:
        values: a list of tensors of one shape and dtype, or a tensor whose slices are meant.
        axis: where the new axis stands; negative ones count from the end.
        name: ignored.

    Returns:
        A tensor with one more axis, of size ``len(values)``.

    Raises:
        ShapeError: the shapes differ.
        InvalidArgumentError: the axis is out of range.

    Sources:
        TensorFlow ``tf.stack``.
    """
    return stack_op(_items(values), axis=axis_argument(axis))


@public("parallel_stack")
def parallel_stack(values: Any, name: str = "parallel_stack") -> Any:
    """Put tensors of one shape together along a new first axis, as ``td.stack`` does.

    Args:
        values: a list of tensors of one shape and dtype.
        name: ignored.

    Returns:
        ``(len(values), ...)``.

    Raises:
        ShapeError: the shapes differ.

    Sources:
        TensorFlow ``tf.parallel_stack``.
    """
    return stack_op(_items(values), axis=0)


def _items(values: Any) -> Any:
    return values if isinstance(values, list | tuple) else unstack(values)


@op("split", aliases=True)
def split_op(value: Spec, sizes: HostSpec, *, axis: int) -> list[Spec]:
    """Pieces of given sizes along an axis; one size may be -1, for what is left."""
    wanted = _sizes(sizes)
    if not wanted:
        raise InvalidArgumentError("split: no sizes are given; give one per piece")
    if value.dims is None:
        return [Spec(None, value.dtype) for _ in wanted]
    at = normalize_axis(axis, len(value.dims))
    whole = value.dims[at]
    given = [n for n in wanted if n != -1]
    if any(isinstance(n, int) and n < 0 for n in given) or len(given) < len(wanted) - 1:
        raise InvalidArgumentError(f"split: the sizes {wanted} must be 0 or more, but for one that may be -1")
    total = _total(given)
    if len(given) < len(wanted):
        left = add(whole, mul(-1, total))
        if isinstance(left, int) and left < 0:
            raise InvalidArgumentError(f"split: the sizes {wanted} add up to more than {whole}, the size of axis {at} of shape {value.shape}")
        wanted = [left if n == -1 else n for n in wanted]
    elif known_different(total, whole):
        raise InvalidArgumentError(f"split: the sizes {wanted} add up to {total}; axis {at} of shape {value.shape} has size {whole}")
    pieces = [Spec((*value.dims[:at], n, *value.dims[at + 1 :]), value.dtype) for n in wanted]
    values = known(value)
    if values is not None and all(isinstance(n, int) for n in wanted):
        for piece, part in zip(pieces, np.split(values, np.cumsum(wanted[:-1], dtype=np.int64), at), strict=True):
            piece.value = value_of(part)
    return pieces


def _sizes(sizes: Spec) -> list[Size]:
    if sizes.value is not None:
        return list(sizes.value)
    if sizes.dims is None or len(sizes.dims) != 1 or not isinstance(sizes.dims[0], int):
        raise InvalidArgumentError("split: the number of pieces is not known while tracing; give `num`, or the sizes as a list")
    return [Dim.symbol() for _ in range(sizes.dims[0])]


@gradient(split_op)
def _(ctx: Any, *gs: Any) -> Any:
    return concat_op(list(gs), axis=ctx.axis), None


@op("split_evenly", aliases=True)
def split_evenly(value: Spec, *, num: int, axis: int) -> list[Spec]:
    """As many pieces of one size along an axis."""
    if num < 1:
        raise InvalidArgumentError(f"split: num_or_size_splits is {num}; the number of pieces must be 1 or more")
    if value.dims is None:
        return [Spec(None, value.dtype) for _ in range(num)]
    at = normalize_axis(axis, len(value.dims))
    whole = value.dims[at]
    if isinstance(whole, int) and whole % num:
        raise InvalidArgumentError(
            f"split: axis {at} of shape {value.shape} has size {whole}, which is not a multiple of {num}, the number of pieces"
        )
    dims = (*value.dims[:at], floordiv(whole, num), *value.dims[at + 1 :])
    values = known(value)
    parts = [None] * num if values is None else [value_of(part) for part in np.split(values, num, at)]
    return [Spec(dims, value.dtype, part) for part in parts]


@gradient(split_evenly)
def _(ctx: Any, *gs: Any) -> Any:
    return concat_op(list(gs), axis=ctx.axis)


@public("split")
def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split") -> Any:
    """Cut a tensor into pieces along an axis.

    Args:
        value: rank 1 or more, any dtype.
        num_or_size_splits: how many pieces of one size (an int), or the size of each (a vector; one may be -1, for what is left).
        axis: an int, negative ones count from the end.
        num: the number of pieces where ``num_or_size_splits`` is a tensor of unknown length.
        name: ignored.

    Returns:
        A list of tensors of the dtype of ``value``.

    Raises:
        InvalidArgumentError: the sizes do not add up to that of the axis, the number does not divide it, or the axis is out of range.

    Sources:
        TensorFlow ``tf.split``.
    """
    at = axes_or_tensor(axis)
    if isinstance(at, Tensor):
        return [axis_from_front(piece, at) for piece in split(axis_to_front(value, at), num_or_size_splits, 0, num)]
    at = axis_argument(at)
    sizes = integers_argument(num_or_size_splits, "num_or_size_splits")
    if type(sizes) is int and not isinstance(num_or_size_splits, Tensor):
        return split_evenly(value, num=sizes, axis=at)
    rank = TensorShape(sizes.dims).rank if isinstance(sizes, Tensor) else 1 if isinstance(sizes, tuple) else 0
    if rank == 0:
        raise InvalidArgumentError(
            "split: num_or_size_splits is a scalar tensor; give the number of pieces as a Python int, or their sizes as a vector"
        )
    if num is not None:
        if isinstance(sizes, tuple) and len(sizes) != num:
            raise InvalidArgumentError(f"split: num is {num}, and num_or_size_splits has {len(sizes)} sizes")
        if isinstance(sizes, Tensor):
            sizes = ensure_shape(sizes, (num,))
    return split_op(value, sizes, axis=at)


@op("unstack", aliases=True)
def unstack_op(value: Spec, *, num: int, axis: int) -> list[Spec]:
    """The slices along an axis, without it."""
    if value.dims is None:
        return [Spec(None, value.dtype) for _ in range(num)]
    at = normalize_axis(axis, len(value.dims))
    if known_different(value.dims[at], num):
        raise ShapeError(f"unstack: axis {at} of shape {value.shape} has size {value.dims[at]}, and num is {num}")
    dims = (*value.dims[:at], *value.dims[at + 1 :])
    values = known(value)
    parts = [None] * num if values is None else [value_of(np.asarray(part, object)) for part in np.moveaxis(values, at, 0)]
    return [Spec(dims, value.dtype, part) for part in parts]


@gradient(unstack_op)
def _(ctx: Any, *gs: Any) -> Any:
    return stack_op(list(gs), axis=ctx.axis)


@public("unstack")
def unstack(value: Any, num: int | None = None, axis: Any = 0, name: str = "unstack") -> Any:
    """The slices of a tensor along an axis.

    Args:
        value: rank 1 or more, any dtype.
        num: the size of the axis, where it is not known while tracing.
        axis: an int, negative ones count from the end.
        name: ignored.

    Returns:
        A list of tensors with one axis less.

    Raises:
        ShapeError: ``num`` is not the size of the axis, or ``value`` is a scalar.
        InvalidArgumentError: the axis is out of range, or its size is not known and ``num`` is not given.

    Sources:
        TensorFlow ``tf.unstack``.
    """
    x = tensor(value)
    at = axis_argument(axis)
    if x.dims is not None and num is None:
        size = x.dims[checked(normalize_axis, at, len(x.dims))]
        num = size if isinstance(size, int) else None
    if num is None:
        raise InvalidArgumentError(f"unstack: the size of axis {at} of shape {x.shape} is not known while tracing; give it as `num`")
    return unstack_op(x, num=static_integer(num, "num"), axis=at)
