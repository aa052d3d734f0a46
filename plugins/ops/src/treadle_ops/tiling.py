"""Tensors repeated: whole along their axes (tile), or element by element (repeat)."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.contracts.spec import Spec, is_concrete
from treadle.declare import HostSpec, IndexSpec, gradient, op, public
from treadle.dims import Dim, Size, add, known_different, mul
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle_ops.arguments import axis_argument, integers_argument, tensor
from treadle_ops.broadcasting import shape_of
from treadle_ops.inference import NUMERIC, dims_of_value, normalize_axis, require_kind, require_rank
from treadle_ops.known import carried, is_short
from treadle_ops.shaping import reshape_op


@op("tile", aliases=True)
def tile_op(x: Spec, multiples: HostSpec) -> Spec:
    """``x`` so many times along each axis."""
    times = _multiples(x, multiples)
    if times is None:
        return Spec(None, x.dtype)
    dims = tuple(mul(d, n) for d, n in zip(require_rank(x, len(times), "input"), times, strict=True))
    return Spec(dims, x.dtype, carried(lambda v: np.tile(v, times), x) if is_short(dims) and is_concrete(times) else None)


def _multiples(x: Spec, multiples: Spec) -> tuple[Size, ...] | None:
    """How many times along each axis; symbols where it is not known, None where not even the rank is."""
    if multiples.value is not None:
        times: tuple[Size, ...] = multiples.value if isinstance(multiples.value, tuple) else (multiples.value,)
        for n in times:
            if isinstance(n, int) and n < 0:
                raise InvalidArgumentError(f"multiples {list(times)} has the negative number {n}; expected 0 or more")
    else:
        count = multiples.dims[0] if multiples.dims is not None and len(multiples.dims) == 1 else None
        rank = count if isinstance(count, int) else x.rank
        if rank is None:
            return None
        times = tuple(Dim.symbol() for _ in range(rank))
    if x.dims is not None and len(times) != len(x.dims):
        raise ShapeError(f"multiples has {len(times)} numbers for the {len(x.dims)} axes of shape {x.shape}; give one per axis")
    return times


@gradient(tile_op)
def _(ctx: Any, g: Any) -> Any:
    x, multiples = ctx.inputs
    return sum_tiles(g, multiples, shape_of(x)), None


@op("sum_tiles", aliases=True)
def sum_tiles(x: Spec, multiples: HostSpec, shape: HostSpec) -> Spec:
    """The sum of the tiles of ``shape`` of which ``x`` has so many along each axis; zeros where it has none."""
    return Spec(dims_of_value(shape), require_kind(x, NUMERIC))


@gradient(sum_tiles)
def _(ctx: Any, g: Any) -> Any:
    return tile_op(g, ctx.inputs[1]), None, None


@public("tile")
def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """A tensor repeated along its axes.

    Args:
        input: any shape, any dtype.
        multiples: a vector of integers, how many times along each axis.
        name: ignored.

    Returns:
        A tensor of the dtype of ``input``, each size multiplied.

    Raises:
        ShapeError: there is not one number per axis.
        InvalidArgumentError: a number is negative.

    Sources:
        TensorFlow ``tf.tile``.
    """
    return tile_op(input, integers_argument(multiples, "multiples"))


@op("repeat", can_fail=True)
def repeat_op(x: Spec, repeats: IndexSpec, *, axis: int) -> Spec:
    """Every slice along an axis so many times; one number serves all."""
    _require_repeats(x, repeats, axis)
    if x.dims is None:
        return Spec(None, x.dtype)
    at = normalize_axis(axis, len(x.dims))
    times = repeats.value
    size: Size = Dim.symbol()
    if times is not None:
        counts = times if isinstance(times, tuple) else (times,)
        if any(isinstance(n, int) and n < 0 for n in counts):
            raise InvalidArgumentError(f"repeats {list(counts)} has a negative number; expected 0 or more")
        if len(counts) == 1:
            size = mul(x.dims[at], counts[0])
        else:
            size = 0
            for n in counts:
                size = add(size, n)
    dims = (*x.dims[:at], size, *x.dims[at + 1 :])
    is_carried = is_short(dims) and is_concrete(times)
    return Spec(dims, x.dtype, carried(lambda v, n: np.repeat(v, n.astype(np.int64), at), x, repeats) if is_carried else None)


def _require_repeats(x: Spec, repeats: Spec, axis: int) -> None:
    if not repeats.dtype.is_integer:
        raise DTypeError(f"repeats has dtype {repeats.dtype.name}; expected an integer dtype. Use td.cast to convert it.")
    if repeats.dims is None or repeats.dims == ():
        return
    if len(repeats.dims) > 1:
        raise ShapeError(f"repeats has shape {repeats.shape}; expected a scalar or a vector")
    if x.dims is not None and repeats.dims != (1,):
        size = x.dims[normalize_axis(axis, len(x.dims))]
        if isinstance(repeats.dims[0], int) and known_different(repeats.dims[0], size):
            raise ShapeError(f"repeats has {repeats.dims[0]} numbers for axis {axis} of shape {x.shape}; expected {size} or 1")


@gradient(repeat_op)
def _(ctx: Any, g: Any) -> Any:
    x, repeats = ctx.inputs
    return sum_repeats(g, repeats, shape_of(x), axis=ctx.axis), None


@op("sum_repeats", can_fail=True)
def sum_repeats(x: Spec, repeats: IndexSpec, shape: HostSpec, *, axis: int) -> Spec:
    """The sums of runs of slices along an axis, of the lengths ``repeats``; 0 for an empty run."""
    return Spec(dims_of_value(shape), require_kind(x, NUMERIC))


@gradient(sum_repeats)
def _(ctx: Any, g: Any) -> Any:
    return repeat_op(g, ctx.inputs[1], axis=ctx.axis), None, None


@public("repeat")
def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Any:
    """Every element of a tensor, or every slice along an axis, several times in a row.

    Args:
        input: any shape, any dtype.
        repeats: how many times: an integer, or a vector with one number per slice.
        axis: an int, negative ones count from the end; by default the tensor is flattened first. A scalar counts as a vector of one.
        name: ignored.

    Returns:
        The shape of ``input`` with a size along ``axis`` that is the sum of ``repeats``; a vector when there is no axis.

    Raises:
        ShapeError: ``repeats`` has another length than the axis.
        InvalidArgumentError: a number is negative, or the axis is out of range.

    Sources:
        TensorFlow ``tf.repeat``.
    """
    x = tensor(input)
    if axis is None or (x.shape.rank == 0 and axis in (0, -1)):
        return repeat_op(reshape_op(x, (-1,)), repeats, axis=0)
    return repeat_op(x, repeats, axis=axis_argument(axis))
