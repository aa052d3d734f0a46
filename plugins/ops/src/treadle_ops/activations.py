"""Activation functions and their gradients."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle_ops.arguments import axis_argument, tensor
from treadle_ops.elementwise import multiply, subtract
from treadle_ops.inference import FLOATING, REAL, elementwise, normalize_axis, require_kind
from treadle_ops.reductions import reduce_sum_op
from treadle_ops.rows import unary

relu = unary("relu", "nn.relu", REAL, "``max(x, 0)``, NaN kept.", argument="features")


@op("relu_grad", elementwise=True)
def relu_grad(g: Spec, y: Spec) -> Spec:
    """``g`` where the result ``y`` of relu is greater than 0, else 0."""
    return elementwise(g, y, kinds=REAL)


@gradient(relu)
def _(ctx: Any, g: Any) -> Any:
    return relu_grad(g, ctx.output)


@gradient(relu_grad)
def _(ctx: Any, g: Any) -> Any:
    return relu_grad(g, ctx.inputs[1]), None


@op("softmax")
def softmax_op(logits: Spec, *, axis: int = -1) -> Spec:
    """``exp(x) / sum(exp(x))`` along an axis, without overflow."""
    if logits.dims is not None:
        normalize_axis(axis, len(logits.dims))
    return Spec(logits.dims, require_kind(logits, FLOATING, "logits"))


@gradient(softmax_op)
def _(ctx: Any, g: Any) -> Any:
    y = ctx.output
    return multiply(subtract(g, reduce_sum_op(multiply(g, y), axis=(ctx.axis,), keepdims=True)), y)


@public("nn.softmax", "math.softmax")
def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """``exp(logits) / sum(exp(logits))`` along an axis.

    Args:
        logits: any shape of rank 1 or more, floating.
        axis: an int; the last by default.
        name: ignored.

    Returns:
        The shape and dtype of ``logits``.

    Raises:
        InvalidArgumentError: the axis is out of range.
    """
    return softmax_op(tensor(logits), axis=-1 if axis is None else axis_argument(axis))
