"""Elements in another order along an axis: reverse, roll, reverse_sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.declare import HostSpec, IndexSpec, gradient, op, public
from treadle.dims import known_different, unify
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle.tensor import Tensor
from treadle_ops.arguments import axes_or_tensor, axis_argument, integers_argument, tensor_argument
from treadle_ops.broadcasting import shape_of
from treadle_ops.elementwise import negative
from treadle_ops.inference import normalize_axes, normalize_axis
from treadle_ops.joining import unstack_op
from treadle_ops.known import carried
from treadle_ops.run_time_order import along
from treadle_ops.shaping import reshape_op


@op("reverse", aliases=True)
def reverse_op(x: Spec, *, axis: tuple[int, ...]) -> Spec:
    """``x`` backwards along some axes."""
    if x.dims is None:
        return Spec(None, x.dtype)
    axes = normalize_axes(axis, len(x.dims))
    return Spec(x.dims, x.dtype, carried(lambda v: np.flip(v, axes), x))


@gradient(reverse_op)
def _(ctx: Any, g: Any) -> Any:
    return reverse_op(g, axis=ctx.axis)


@public("reverse")
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """A tensor backwards along some axes.

    Args:
        tensor: any shape, any dtype.
        axis: a list of ints, negative ones count from the end.
        name: ignored.

    Returns:
        The shape and dtype of ``tensor``.

    Raises:
        InvalidArgumentError: an axis is out of range or named twice.

    Sources:
        TensorFlow ``tf.reverse``.
    """
    axes = axes_or_tensor(axis)
    if isinstance(axes, Tensor):
        x = given = tensor_argument(tensor)
        for a in _scalars(axes, "axis"):
            x = along(a, lambda x: reverse_op(x, axis=(0,)), x)
        return _of_shape(x, given)
    return reverse_op(tensor, axis=(axes,) if isinstance(axes, int) else axes)


@op("roll", aliases=True)
def roll_op(x: Spec, shift: HostSpec, *, axis: tuple[int, ...] | None) -> Spec:
    """``x`` moved along axes, or with None along all in order; what leaves one end enters at the other."""
    count = 1 if shift.dims == () else shift.dims[0] if shift.dims is not None and len(shift.dims) == 1 else None
    wanted = len(axis) if axis is not None else None if x.dims is None else len(x.dims)
    if isinstance(count, int) and wanted is not None and count != wanted:
        raise ShapeError(f"shift has {count} numbers for {wanted} axes; give one per axis")
    if x.dims is None:
        return Spec(None, x.dtype)
    if not x.dims:
        raise ShapeError("a scalar has no axis to roll along")
    for a in axis or ():
        normalize_axis(a, len(x.dims))
    return Spec(x.dims, x.dtype)


@gradient(roll_op)
def _(ctx: Any, g: Any) -> Any:
    shift = ctx.inputs[1]
    if isinstance(shift, int):
        shift = (shift,)
    back = tuple(-s for s in shift) if isinstance(shift, tuple) and all(type(s) is int for s in shift) else negative(convert_to_tensor(shift))
    return roll_op(g, back, axis=ctx.axis), None


@public("roll")
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """A tensor moved along axes; what leaves one end enters at the other.

    Args:
        input: rank 1 or more, any dtype.
        shift: an integer, or a vector of one per axis; positive ones move to higher indices.
        axis: an int or a list of ints; one that is named twice is moved by the sum.
        name: ignored.

    Returns:
        The shape and dtype of ``input``.

    Raises:
        InvalidArgumentError: an axis is out of range.
        ShapeError: ``shift`` and ``axis`` have different lengths, or ``input`` is a scalar.

    Sources:
        TensorFlow ``tf.roll``.
    """
    by, axes = integers_argument(shift, "shift"), axes_or_tensor(axis)
    if isinstance(axes, Tensor):
        x = given = tensor_argument(input)
        for s, a in zip(_scalars(convert_to_tensor(by), "shift"), _scalars(axes, "axis"), strict=True):
            x = along(a, lambda x, s=s: roll_op(x, s, axis=(0,)), x)
        return _of_shape(x, given)
    return roll_op(input, by, axis=(axes,) if isinstance(axes, int) else axes)


def _of_shape(x: Any, like: Any) -> Any:
    """``x``, which has the shape of ``like``, with what is known of that."""
    return x if like.dims is None else reshape_op(x, shape_of(like))


def _scalars(numbers: Any, what: str) -> list[Any]:
    """The elements of a scalar or vector whose length is known."""
    if numbers.dims == ():
        return [numbers]
    if numbers.dims is None or len(numbers.dims) != 1 or not isinstance(numbers.dims[0], int):
        raise InvalidArgumentError(f"{what} is a tensor of shape {numbers.shape}; while tracing it must be a scalar, or a vector of known length")
    return unstack_op(numbers, num=numbers.dims[0], axis=0)


@op("reverse_sequence", can_fail=True)
def reverse_sequence_op(x: Spec, seq_lengths: IndexSpec, *, seq_axis: int, batch_axis: int) -> Spec:
    """The first ``seq_lengths[b]`` elements along an axis backwards, for each batch entry b."""
    if not seq_lengths.dtype.is_integer:
        raise DTypeError(f"seq_lengths has dtype {seq_lengths.dtype.name}; expected an integer dtype. Use td.cast to convert it.")
    if seq_lengths.dims is not None and len(seq_lengths.dims) != 1:
        raise ShapeError(f"seq_lengths has shape {seq_lengths.shape}; expected a vector")
    if x.dims is None:
        return Spec(None, x.dtype)
    seq, batch = (normalize_axis(a, len(x.dims), what) for a, what in ((seq_axis, "seq_axis"), (batch_axis, "batch_axis")))
    if seq == batch:
        raise InvalidArgumentError(f"seq_axis and batch_axis are both {seq}; they must be different axes")
    if seq_lengths.dims is not None and known_different(seq_lengths.dims[0], x.dims[batch]):
        raise ShapeError(f"seq_lengths has {seq_lengths.dims[0]} numbers; axis {batch} of shape {x.shape} has size {x.dims[batch]}")
    dims = list(x.dims)
    if seq_lengths.dims is not None:
        dims[batch] = unify(dims[batch], seq_lengths.dims[0], "seq_lengths")
    return Spec(tuple(dims), x.dtype)


@gradient(reverse_sequence_op)
def _(ctx: Any, g: Any) -> Any:
    return reverse_sequence_op(g, ctx.inputs[1], seq_axis=ctx.seq_axis, batch_axis=ctx.batch_axis), None


@public("reverse_sequence")
def reverse_sequence(input: Any, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None, name: str | None = None) -> Any:
    """Sequences of different lengths backwards, each up to its length; what follows stays.

    Args:
        input: rank 2 or more, any dtype.
        seq_lengths: a vector of integers, one per batch entry.
        seq_axis: the axis along which the sequences lie.
        batch_axis: the axis of the batch; 0 by default.
        name: ignored.

    Returns:
        The shape and dtype of ``input``.

    Raises:
        InvalidArgumentError: a length is negative or larger than the axis, or an axis is out of range.
        ShapeError: there is not one length per batch entry.

    Sources:
        TensorFlow ``tf.reverse_sequence``.
    """
    if seq_axis is None:
        raise InvalidArgumentError("reverse_sequence: seq_axis is missing; give the axis along which the sequences lie")
    return reverse_sequence_op(
        input, seq_lengths, seq_axis=axis_argument(seq_axis), batch_axis=0 if batch_axis is None else axis_argument(batch_axis)
    )
