"""Choosing by truth: where, boolean_mask and sequence_mask."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import BoolSpec, HostSpec, IndexSpec, gradient, op, public
from treadle.dims import Dim
from treadle.dtypes import DType, as_dtype, int32, int64
from treadle.dtypes import bool as bool_dtype
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import axis_argument, integer_argument, tensor
from treadle_ops.broadcasting import shape_of, sum_like
from treadle_ops.casting import cast_op
from treadle_ops.inference import BOOL, INTEGER, broadcast, dims_of_value, normalize_axis, require_kind, same_dtype

# ---------------------------------------------------------------------- where


@op("where", elementwise=True)
def where_op(condition: BoolSpec, x: Spec, y: Spec) -> Spec:
    """``x`` where the condition holds, else ``y``, element by element; all three broadcast."""
    require_kind(condition, BOOL, "condition")
    return Spec(broadcast(condition, x, y), same_dtype(x, y))


@op("nonzero")
def nonzero_op(x: Spec) -> Spec:
    """The coordinates of what is true or not 0, one per row, in row-major order."""
    return Spec((Dim.symbol(), Dim.symbol() if x.dims is None else len(x.dims)), int64)


@gradient(where_op)
def _(ctx: Any, g: Any) -> Any:
    condition, x, y = ctx.inputs
    return (
        None,
        sum_like(where_op(condition, g, 0), x) if ctx.needs[1] else None,
        sum_like(where_op(condition, 0, g), y) if ctx.needs[2] else None,
    )


@public("where")
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """``x`` where a condition holds, else ``y``; without both, the coordinates where it holds.

    Args:
        condition: any shape; bool, or any dtype without ``x`` and ``y`` (true is what is not 0).
        x: a shape that broadcasts with the others.
        y: the same, of the dtype of ``x``.
        name: ignored.

    Returns:
        The broadcast shape and the dtype of ``x``; without ``x`` and ``y`` ``(number of true elements, rank)``, int64.

    Raises:
        ValueError: only one of ``x`` and ``y`` is given.
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes of ``x`` and ``y`` differ, or the condition is not bool.

    Sources:
        TensorFlow ``tf.where``.
    """
    if (x is None) != (y is None):
        raise InvalidArgumentError("where: only one of x and y is given; give both, to choose between them, or neither, for the coordinates")
    return nonzero_op(condition) if x is None else where_op(condition, x, y)


# ---------------------------------------------------------------------- boolean_mask


@op("boolean_mask", can_fail=True)
def boolean_mask_op(x: Spec, mask: BoolSpec, *, axis: int) -> Spec:
    """The elements of ``x`` where the mask holds; the axes that the mask covers, from ``axis`` on, become one."""
    require_kind(mask, BOOL, "mask")
    if mask.dims == ():
        raise ShapeError("a scalar cannot be a mask; its rank must be 1 or more")
    if x.dims is None or mask.dims is None:
        return Spec(None, x.dtype)
    at = normalize_axis(axis, len(x.dims)) if x.dims else 0
    covered = x.dims[at : at + len(mask.dims)]
    if len(covered) < len(mask.dims) or any(sizes.known_different(a, b) for a, b in zip(covered, mask.dims, strict=True)):
        raise ShapeError(f"a mask of shape {mask.shape} does not fit a tensor of shape {x.shape} from axis {at} on; the sizes must be equal")
    return Spec((*x.dims[:at], Dim.symbol(), *x.dims[at + len(mask.dims) :]), x.dtype)


@op("boolean_mask_grad")
def boolean_mask_grad(g: Spec, mask: BoolSpec, shape: HostSpec, *, axis: int) -> Spec:
    """Zeros of a shape, with the rows of ``g`` put where the mask holds."""
    return Spec(dims_of_value(shape), g.dtype)


@gradient(boolean_mask_op)
def _(ctx: Any, g: Any) -> Any:
    x, mask = ctx.inputs
    return boolean_mask_grad(g, mask, shape_of(x), axis=ctx.axis), None


@gradient(boolean_mask_grad)
def _(ctx: Any, g: Any) -> Any:
    return boolean_mask_op(g, ctx.inputs[1], axis=ctx.axis), None, None


@public("boolean_mask")
def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Any:
    """The elements of a tensor where a mask holds (NumPy's ``tensor[mask]``).

    Args:
        tensor: any shape of rank 1 or more, any dtype.
        mask: bool, of rank 1 or more, whose shape is that of ``tensor`` from ``axis`` on.
        axis: the first axis that the mask covers; 0 by default.
        name: ignored.

    Returns:
        The shape of ``tensor`` with one axis, of as many elements as the mask has true ones, in the place of those covered.

    Raises:
        ShapeError: the mask is a scalar, or does not fit.

    Sources:
        TensorFlow ``tf.boolean_mask``.
    """
    chosen = _as_tensor(mask)
    if not chosen.dtype.is_bool:
        chosen = cast_op(chosen, dtype=bool_dtype)
    return boolean_mask_op(tensor, chosen, axis=0 if axis is None else axis_argument(axis))


_as_tensor = tensor  # the parameter of boolean_mask has that name


# ---------------------------------------------------------------------- sequence_mask


@op("sequence_mask", can_fail=True)
def sequence_mask_op(lengths: IndexSpec, maxlen: HostSpec, *, dtype: DType) -> Spec:
    """Per length a row of that many ones, then zeros; ``()`` for ``maxlen`` is the greatest length."""
    require_kind(lengths, INTEGER, "lengths")
    if maxlen.dims not in ((), (0,), None):
        raise ShapeError(f"maxlen must be a scalar, not of shape {maxlen.shape}")
    width = maxlen.value
    if isinstance(width, int) and width < 0:
        raise InvalidArgumentError(f"maxlen is {width}; it must be 0 or more")
    if width is None or width == ():
        width = Dim.symbol()
    return Spec(None if lengths.dims is None else (*lengths.dims, width), dtype)


@public("sequence_mask")
def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = bool_dtype, name: str | None = None) -> Any:
    """A mask of the first ``lengths[i]`` positions of every row.

    Args:
        lengths: any shape, integers, or floating, cut toward 0.
        maxlen: the length of the rows, a scalar; the greatest of ``lengths`` by default.
        dtype: of the result.
        name: ignored.

    Returns:
        ``(*lengths.shape, maxlen)`` of ``dtype``, true where ``position < length``.

    Raises:
        ShapeError: ``maxlen`` is no scalar.
        DTypeError: ``lengths`` are no integers.

    Sources:
        TensorFlow ``tf.sequence_mask``.
    """
    counts = tensor(lengths)
    if counts.dtype.is_floating:
        counts = cast_op(counts, dtype=int32)
    return sequence_mask_op(counts, () if maxlen is None else integer_argument(maxlen, "maxlen"), dtype=as_dtype(dtype))
