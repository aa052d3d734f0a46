"""Running sums, products and log-sum-exps along an axis, and the linear recurrence that their gradients are."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle_ops.arguments import axis_argument
from treadle_ops.elementwise import conj, exp, multiply, subtract
from treadle_ops.extremes import maximum
from treadle_ops.inference import FLOATING, FLOATING_OR_COMPLEX, NUMERIC, alike, normalize_axis, require_kind

# ---------------------------------------------------------------------- sums


def _along(x: Spec, axis: int, kinds: str) -> Spec:
    """The spec of a running result: that of ``x``."""
    dtype = require_kind(x, kinds)
    if x.dims is not None:
        normalize_axis(axis, len(x.dims))
    return Spec(x.dims, dtype)


@op("cumsum")
def cumsum_op(x: Spec, *, axis: int, exclusive: bool, reverse: bool) -> Spec:
    """Running sums along an axis, without the element itself when exclusive, from the end when reversed."""
    return _along(x, axis, NUMERIC)


@gradient(cumsum_op)
def _(ctx: Any, g: Any) -> Any:
    return cumsum_op(g, axis=ctx.axis, exclusive=ctx.exclusive, reverse=not ctx.reverse)


@public("cumsum", "math.cumsum")
def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
    """Running sums along an axis.

    Args:
        x: any shape of rank 1 or more, any numeric dtype.
        axis: an int.
        exclusive: leave out the element itself, so that the first sum is 0.
        reverse: begin at the end.
        name: ignored.

    Returns:
        The shape and dtype of ``x``; integers wrap.

    Raises:
        InvalidArgumentError: the axis is out of range.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.cumsum``.
    """
    return cumsum_op(x, axis=axis_argument(axis), exclusive=bool(exclusive), reverse=bool(reverse))


# ---------------------------------------------------------------------- products


@op("cumprod")
def cumprod_op(x: Spec, *, axis: int, exclusive: bool, reverse: bool) -> Spec:
    """Running products along an axis, without the element itself when exclusive, from the end when reversed."""
    return _along(x, axis, NUMERIC)


@gradient(cumprod_op)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs  # not conjugated, as in TensorFlow
    axis, reverse = ctx.axis, ctx.reverse
    if ctx.exclusive:
        g = shift(g, axis=axis, by=1 if reverse else -1, fill=0.0)
    # dy_i / dx_k is the product before k times that between k and i: nothing is divided, so zeros do no harm.
    before = cumprod_op(x, axis=axis, exclusive=True, reverse=reverse)
    after = linear_recurrence(shift(x, axis=axis, by=1 if reverse else -1, fill=0.0), g, axis=axis, reverse=not reverse)
    return multiply(before, after)


@public("math.cumprod")
def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
    """Running products along an axis.

    Args:
        x: any shape of rank 1 or more, any numeric dtype.
        axis: an int.
        exclusive: leave out the element itself, so that the first product is 1.
        reverse: begin at the end.
        name: ignored.

    Returns:
        The shape and dtype of ``x``; integers wrap.

    Raises:
        InvalidArgumentError: the axis is out of range.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.cumprod``.
    """
    return cumprod_op(x, axis=axis_argument(axis), exclusive=bool(exclusive), reverse=bool(reverse))


# ---------------------------------------------------------------------- log-sum-exps


@op("cumulative_logsumexp")
def cumulative_logsumexp_op(x: Spec, *, axis: int, reverse: bool) -> Spec:
    """``log(sum(exp(...)))`` of the elements up to each along an axis, from the end when reversed."""
    return _along(x, axis, FLOATING)


@gradient(cumulative_logsumexp_op)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    axis, reverse = ctx.axis, ctx.reverse
    y = maximum(ctx.output, float(x.dtype.min))  # finite where all is -inf
    step = 1 if reverse else -1
    # y only grows, so that no power of e here is greater than 1: s_k = g_k + exp(y_k - y_k+1) s_k+1, and dx_k = exp(x_k - y_k) s_k.
    decay = exp(subtract(y, shift(y, axis=axis, by=step, fill=float(x.dtype.max))))
    return multiply(exp(subtract(x, y)), linear_recurrence(decay, g, axis=axis, reverse=not reverse))


@public("math.cumulative_logsumexp")
def cumulative_logsumexp(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
    """``log(sum(exp(...)))`` of the elements up to each along an axis, without overflow.

    Args:
        x: any shape of rank 1 or more, floating.
        axis: an int.
        exclusive: leave out the element itself, so that the first result is -inf.
        reverse: begin at the end.
        name: ignored.

    Returns:
        The shape and dtype of ``x``.

    Raises:
        InvalidArgumentError: the axis is out of range.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.cumulative_logsumexp``.
    """
    along = axis_argument(axis)
    running = cumulative_logsumexp_op(x, axis=along, reverse=bool(reverse))
    return shift(running, axis=along, by=-1 if reverse else 1, fill=float("-inf")) if exclusive else running


# ---------------------------------------------------------------------- recurrences


@op("shift")
def shift(x: Spec, *, axis: int, by: int, fill: float) -> Spec:
    """Elements moved along an axis, ``fill`` where none comes from."""
    return _along(x, axis, NUMERIC)


@gradient(shift)
def _(ctx: Any, g: Any) -> Any:
    return shift(g, axis=ctx.axis, by=-ctx.by, fill=0.0)


@op("linear_recurrence")
def linear_recurrence(a: Spec, b: Spec, *, axis: int, reverse: bool) -> Spec:
    """``s[k] = b[k] + a[k] * s[k - 1]`` along an axis, or with ``s[k + 1]`` when reversed; nothing comes before the first."""
    both = alike(a, b, kinds=FLOATING_OR_COMPLEX, what="the factors and the terms")
    return _along(both, axis, FLOATING_OR_COMPLEX)


@gradient(linear_recurrence)
def _(ctx: Any, g: Any) -> Any:
    a = conj(ctx.inputs[0])
    axis, reverse = ctx.axis, ctx.reverse
    forward = -1 if reverse else 1
    db = linear_recurrence(shift(a, axis=axis, by=-forward, fill=0.0), g, axis=axis, reverse=not reverse)
    return multiply(db, conj(shift(ctx.output, axis=axis, by=forward, fill=0.0))), db
