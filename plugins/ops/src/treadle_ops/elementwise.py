"""Arithmetic and exponentials, element by element, and their gradients."""

from __future__ import annotations

import operator
from typing import Any

from treadle import dims as sizes
from treadle.declare import gradient, public
from treadle.symbolic import SymbolicTensor
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import sum_like
from treadle_ops.inference import FLOATING_OR_COMPLEX, NUMERIC
from treadle_ops.rows import binary, unary

add = binary("add", "add math.add", NUMERIC, "``x + y``, element by element.", commutative=True, value=sizes.add)
subtract = binary("subtract", "subtract math.subtract", NUMERIC, "``x - y``, element by element.", value=operator.sub)
multiply = binary("multiply", "multiply math.multiply", NUMERIC, "``x * y``, element by element.", commutative=True, value=sizes.mul)
divide_op = binary("divide", "realdiv", FLOATING_OR_COMPLEX, "``x / y``, element by element, correctly rounded.")
squared_difference = binary("squared_difference", "math.squared_difference", NUMERIC, "``(x - y) ** 2``; the squared modulus where complex.")
negative = unary("negative", "negative math.negative", "fic", "``-x``, element by element.")
reciprocal = unary("reciprocal", "math.reciprocal", FLOATING_OR_COMPLEX, "``1 / x``, element by element.")
square = unary("square", "square math.square", NUMERIC, "``x * x``, element by element.")
exp = unary("exp", "exp math.exp", FLOATING_OR_COMPLEX, "e to the power of ``x``.")
expm1 = unary("expm1", "math.expm1", FLOATING_OR_COMPLEX, "``exp(x) - 1``, exact near 0.")
log = unary("log", "math.log", FLOATING_OR_COMPLEX, "The natural logarithm.")
log1p = unary("log1p", "math.log1p", FLOATING_OR_COMPLEX, "``log(1 + x)``, exact near 0.")
tanh = unary("tanh", "tanh math.tanh nn.tanh", FLOATING_OR_COMPLEX, "The hyperbolic tangent.")
tanh_grad = binary("tanh_grad", (), FLOATING_OR_COMPLEX, "``g * (1 - y * y)``, for the result ``y`` of tanh.", arguments=("y", "g"))
slope_product = binary(
    "slope_product",
    (),
    FLOATING_OR_COMPLEX,
    "``slope * g``, and 0 where ``g`` is 0, even where the slope is infinite or NaN.",
    arguments=("slope", "g"),
)
conj_op = unary("conj", (), "c", "The complex conjugate.")


@public("math.conj")
def conj(x: Any, name: str | None = None) -> Any:
    """The complex conjugate; ``x`` itself where it is real. Gradients of complex tensors are conjugated, as TensorFlow's are.

    Args:
        x: any shape, any numeric dtype.
        name: ignored.

    Returns:
        The shape and dtype of ``x``.

    Sources:
        TensorFlow ``tf.math.conj``.
    """
    value = tensor(x)
    return conj_op(value) if value.dtype.is_complex else value


@gradient(conj_op)
def _(ctx: Any, g: Any) -> Any:
    return conj_op(g)


def is_small_in_graph(x: Any) -> bool:
    """Whether a plan does best by ops of one step each: few elements while tracing, and no short floats, which would round at every step."""
    return type(x) is SymbolicTensor and x.dtype.size >= 4 and 0 <= x.value.spec.nbytes <= SMALL


SMALL = 16 * 1024
"""Bytes from which a kernel of several steps, which works block by block, is faster than its steps one after the other."""


@gradient(slope_product)
def _(ctx: Any, h: Any) -> Any:
    slope, g = ctx.inputs
    return (
        sum_like(slope_product(conj(g), h), slope) if ctx.needs[0] else None,
        sum_like(slope_product(conj(slope), h), g) if ctx.needs[1] else None,
    )


# ---------------------------------------------------------------------- arithmetic


@gradient(add)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    return sum_like(g, x) if ctx.needs[0] else None, sum_like(g, y) if ctx.needs[1] else None


@gradient(subtract)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    return sum_like(g, x) if ctx.needs[0] else None, sum_like(negative(g), y) if ctx.needs[1] else None


@gradient(multiply)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    return sum_like(multiply(g, conj(y)), x) if ctx.needs[0] else None, sum_like(multiply(g, conj(x)), y) if ctx.needs[1] else None


@gradient(divide_op)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    share = divide_op(g, conj(y))
    return (
        sum_like(share, x) if ctx.needs[0] else None,
        sum_like(negative(multiply(share, conj(ctx.output))), y) if ctx.needs[1] else None,  # -g x / y^2
    )


@gradient(squared_difference)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    slope = multiply(multiply(g, 2), subtract(x, y))  # TensorFlow does not conjugate here
    return sum_like(slope, x) if ctx.needs[0] else None, sum_like(negative(slope), y) if ctx.needs[1] else None


@gradient(negative)
def _(ctx: Any, g: Any) -> Any:
    return negative(g)


@gradient(reciprocal)
def _(ctx: Any, g: Any) -> Any:
    y = conj(ctx.output)
    return slope_product(negative(multiply(y, y)), g)


@gradient(square)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return multiply(g, multiply(2, conj(x)))


# ---------------------------------------------------------------------- exponentials


@gradient(exp)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, conj(ctx.output))


@gradient(expm1)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, exp(conj(ctx.inputs[0])))


@gradient(log)
def _(ctx: Any, g: Any) -> Any:
    return divide_op(g, conj(ctx.inputs[0]))


@gradient(log1p)
def _(ctx: Any, g: Any) -> Any:
    return divide_op(g, add(1, conj(ctx.inputs[0])))


@gradient(tanh)
def _(ctx: Any, g: Any) -> Any:
    y = conj(ctx.output)
    return multiply(subtract(1, multiply(y, y)), g) if is_small_in_graph(y) else tanh_grad(y, g)


@gradient(tanh_grad)
def _(ctx: Any, h: Any) -> Any:
    y, g = ctx.inputs
    return (
        sum_like(multiply(h, multiply(conj(multiply(g, y)), -2)), y) if ctx.needs[0] else None,
        sum_like(tanh_grad(conj(y), h), g) if ctx.needs[1] else None,
    )
