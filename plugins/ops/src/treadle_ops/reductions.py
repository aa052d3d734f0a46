"""Sums, products, means and extremes over axes, and their gradients."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle_ops.arguments import axes_argument
from treadle_ops.broadcasting import broadcast_to_op, shape_of
from treadle_ops.inference import NUMERIC, normalize_axes, reduced, require_kind
from treadle_ops.shaping import expand_dims_op, reshape_op


@op("reduce_sum")
def reduce_sum_op(x: Spec, *, axis: tuple[int, ...] | None, keepdims: bool) -> Spec:
    """The sum over axes."""
    return Spec(reduced(x, axis, keepdims), require_kind(x, NUMERIC))


@public("reduce_sum", "math.reduce_sum")
def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The sum over axes; 0 over nothing.

    Args:
        input_tensor: any shape, any numeric dtype.
        axis: an int or a list of ints; all axes by default.
        keepdims: keep the axes reduced, with size 1.
        name: ignored.

    Returns:
        The shape without the axes reduced, the dtype of ``input_tensor``.

    Raises:
        InvalidArgumentError: an axis is out of range or named twice.
    """
    return reduce_sum_op(input_tensor, axis=axes_argument(axis), keepdims=bool(keepdims))


@gradient(reduce_sum_op)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return spread(g, x, ctx.axis, ctx.keepdims)


def spread(g: Any, x: Any, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    """A value per reduction repeated for every element of ``x`` that went into it."""
    return broadcast_to_op(kept(g, x, axis, keepdims), shape_of(x))


def kept(g: Any, x: Any, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    """A reduction's result with the axes reduced put back as size 1, or in a shape that broadcasts alike."""
    if keepdims or x.dims == () or (axis is None and g.dims == ()):
        return g
    rank = len(x.dims)
    gone = normalize_axes(axis, rank)
    if g.dims is not None and all(type(d) is int for d in g.dims):
        left = iter(g.dims)
        return reshape_op(g, tuple(1 if i in gone else next(left) for i in range(rank)))
    for i in gone:
        g = expand_dims_op(g, axis=i)
    return g


