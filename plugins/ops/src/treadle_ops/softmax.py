"""Softmax, its logarithm and their gradients. What may overflow is never computed."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Dims, Spec
from treadle.declare import gradient, op, public
from treadle_ops.arguments import axis_argument
from treadle_ops.elementwise import exp, multiply, negative, subtract
from treadle_ops.inference import FLOATING, common_dims, normalize_axis, require_kind, same_dtype
from treadle_ops.reductions import reduce_sum_op


@op("softmax")
def softmax_op(logits: Spec, *, axis: int = -1) -> Spec:
    """``exp(x) / sum(exp(x))`` along an axis."""
    return Spec(_checked(logits.dims, axis), require_kind(logits, FLOATING, "logits"))


@op("log_softmax")
def log_softmax_op(logits: Spec, *, axis: int = -1) -> Spec:
    """``x - log(sum(exp(x)))`` along an axis."""
    return Spec(_checked(logits.dims, axis), require_kind(logits, FLOATING, "logits"))


@op("softmax_grad")
def softmax_grad(g: Spec, y: Spec, *, axis: int = -1) -> Spec:
    """``(g - sum(g * y)) * y`` along an axis, for the result ``y`` of softmax."""
    return Spec(_checked(common_dims((g, y), "g and y"), axis), same_dtype(g, y, kinds=FLOATING))


@op("log_softmax_grad")
def log_softmax_grad(g: Spec, y: Spec, *, axis: int = -1) -> Spec:
    """``g - exp(y) * sum(g)`` along an axis, for the result ``y`` of log_softmax."""
    return Spec(_checked(common_dims((g, y), "g and y"), axis), same_dtype(g, y, kinds=FLOATING))


def _checked(dims: Dims, axis: int) -> Dims:
    if dims is not None:
        normalize_axis(axis, len(dims))
    return dims


def _sum(x: Any, axis: int) -> Any:
    return reduce_sum_op(x, axis=(axis,), keepdims=True)


@gradient(softmax_op)
def _(ctx: Any, g: Any) -> Any:
    return softmax_grad(g, ctx.output, axis=ctx.axis)


@gradient(softmax_grad)
def _(ctx: Any, h: Any) -> Any:
    g, y = ctx.inputs
    axis = ctx.axis
    along_y = None
    if ctx.needs[1]:
        along_y = subtract(multiply(h, subtract(g, _sum(multiply(g, y), axis))), multiply(g, _sum(multiply(h, y), axis)))
    return softmax_grad(h, y, axis=axis) if ctx.needs[0] else None, along_y


@gradient(log_softmax_op)
def _(ctx: Any, g: Any) -> Any:
    return log_softmax_grad(g, ctx.output, axis=ctx.axis)


@gradient(log_softmax_grad)
def _(ctx: Any, h: Any) -> Any:
    g, y = ctx.inputs
    probabilities, axis = exp(y), ctx.axis
    weighted = multiply(h, probabilities)
    return (
        subtract(h, _sum(weighted, axis)) if ctx.needs[0] else None,
        negative(multiply(weighted, _sum(g, axis))) if ctx.needs[1] else None,
    )


@public("nn.softmax", "math.softmax")
def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """``exp(logits) / sum(exp(logits))`` along an axis.

    Args:
        logits: any shape of rank 1 or more, floating; -inf has the probability 0.
        axis: an int; the last by default.
        name: ignored.

    Returns:
        The shape and dtype of ``logits``; NaN where all logits along the axis are -inf.

    Raises:
        InvalidArgumentError: the axis is out of range.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.nn.softmax``.
    """
    return softmax_op(logits, axis=-1 if axis is None else axis_argument(axis))


@public("nn.log_softmax", "math.log_softmax")
def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """``logits - log(sum(exp(logits)))`` along an axis.

    Args:
        logits: any shape of rank 1 or more, floating.
        axis: an int; the last by default.
        name: ignored.

    Returns:
        The shape and dtype of ``logits``.

    Raises:
        InvalidArgumentError: the axis is out of range.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.nn.log_softmax``.
    """
    return log_softmax_op(logits, axis=-1 if axis is None else axis_argument(axis))
