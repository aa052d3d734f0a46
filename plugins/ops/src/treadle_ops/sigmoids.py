"""Functions with a soft step, and the logarithm and integral of the logistic one; none overflows."""

from __future__ import annotations

from typing import Any

from treadle.declare import gradient, public
from treadle_ops.broadcasting import sum_like
from treadle_ops.elementwise import add, conj, divide_op, is_small_in_graph, multiply, negative, square, subtract
from treadle_ops.inference import FLOATING, FLOATING_OR_COMPLEX
from treadle_ops.rows import binary, unary
from treadle_ops.signs import absolute

sigmoid = unary("sigmoid", "sigmoid math.sigmoid nn.sigmoid", FLOATING_OR_COMPLEX, "``1 / (1 + exp(-x))``.")
sigmoid_grad = binary("sigmoid_grad", (), FLOATING_OR_COMPLEX, "``g * y * (1 - y)``, for the result ``y`` of sigmoid.", arguments=("y", "g"))
softplus = unary("softplus", "math.softplus nn.softplus", FLOATING, "``log(1 + exp(x))``.", argument="features")
softsign = unary("softsign", "math.softsign nn.softsign", FLOATING, "``x / (1 + abs(x))``.", argument="features")


@public("math.log_sigmoid")
def log_sigmoid(x: Any, name: str | None = None) -> Any:
    """``log(sigmoid(x))``, exact where the sigmoid is nearly 0 or 1.

    Args:
        x: any shape, floating.
        name: ignored.

    Returns:
        The shape and dtype of ``x``.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.log_sigmoid``.
    """
    return negative(softplus(negative(x)))


@gradient(sigmoid)
def _(ctx: Any, g: Any) -> Any:
    y = conj(ctx.output)
    return multiply(multiply(y, subtract(1, y)), g) if is_small_in_graph(y) else sigmoid_grad(y, g)


@gradient(sigmoid_grad)
def _(ctx: Any, h: Any) -> Any:
    y, g = ctx.inputs
    return (
        sum_like(multiply(h, conj(multiply(g, subtract(1, multiply(y, 2))))), y) if ctx.needs[0] else None,
        sum_like(sigmoid_grad(conj(y), h), g) if ctx.needs[1] else None,
    )


@gradient(softplus)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, sigmoid(ctx.inputs[0]))


@gradient(softsign)
def _(ctx: Any, g: Any) -> Any:
    return divide_op(g, square(add(1, absolute(ctx.inputs[0]))))
