"""Trigonometric and hyperbolic functions and their inverses; tanh is with the exponentials."""

from __future__ import annotations

from typing import Any

from treadle.declare import gradient
from treadle_ops.broadcasting import sum_like
from treadle_ops.elementwise import add, conj, divide_op, multiply, negative, square, subtract
from treadle_ops.inference import FLOATING, FLOATING_OR_COMPLEX
from treadle_ops.powers import sqrt
from treadle_ops.rows import binary, unary

sin = unary("sin", "sin math.sin", FLOATING_OR_COMPLEX, "The sine of an angle in radians.")
cos = unary("cos", "cos math.cos", FLOATING_OR_COMPLEX, "The cosine of an angle in radians.")
tan = unary("tan", "tan math.tan", FLOATING_OR_COMPLEX, "The tangent of an angle in radians.")
asin = unary("asin", "asin math.asin", FLOATING_OR_COMPLEX, "The angle whose sine is ``x``; NaN for a real ``x`` outside [-1, 1].")
acos = unary("acos", "acos math.acos", FLOATING_OR_COMPLEX, "The angle whose cosine is ``x``; NaN for a real ``x`` outside [-1, 1].")
atan = unary("atan", "atan math.atan", FLOATING_OR_COMPLEX, "The angle whose tangent is ``x``.")
sinh = unary("sinh", "sinh math.sinh", FLOATING_OR_COMPLEX, "The hyperbolic sine.")
cosh = unary("cosh", "cosh math.cosh", FLOATING_OR_COMPLEX, "The hyperbolic cosine.")
asinh = unary("asinh", "asinh math.asinh", FLOATING_OR_COMPLEX, "The inverse hyperbolic sine.")
acosh = unary("acosh", "acosh math.acosh", FLOATING_OR_COMPLEX, "The inverse hyperbolic cosine; NaN for a real ``x`` below 1.")
atanh = unary("atanh", "atanh math.atanh", FLOATING_OR_COMPLEX, "The inverse hyperbolic tangent; NaN for a real ``x`` outside [-1, 1].")
atan2 = binary("atan2", "atan2 math.atan2", FLOATING, "The angle of the point (x, y), with the signs of both.", arguments=("y", "x"))


@gradient(sin)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, cos(conj(ctx.inputs[0])))


@gradient(cos)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, negative(sin(conj(ctx.inputs[0]))))


@gradient(tan)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, add(1, square(conj(ctx.output))))


@gradient(asin)
def _(ctx: Any, g: Any) -> Any:
    return divide_op(g, sqrt(subtract(1, square(conj(ctx.inputs[0])))))


@gradient(acos)
def _(ctx: Any, g: Any) -> Any:
    return negative(divide_op(g, sqrt(subtract(1, square(conj(ctx.inputs[0]))))))


@gradient(atan)
def _(ctx: Any, g: Any) -> Any:
    return divide_op(g, add(1, square(conj(ctx.inputs[0]))))


@gradient(sinh)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, cosh(conj(ctx.inputs[0])))


@gradient(cosh)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, sinh(conj(ctx.inputs[0])))


@gradient(asinh)
def _(ctx: Any, g: Any) -> Any:
    return divide_op(g, cosh(conj(ctx.output)))  # sqrt(1 + x^2), without overflow


@gradient(acosh)
def _(ctx: Any, g: Any) -> Any:
    return divide_op(g, sinh(conj(ctx.output)))


@gradient(atanh)
def _(ctx: Any, g: Any) -> Any:
    return divide_op(g, subtract(1, square(conj(ctx.inputs[0]))))


@gradient(atan2)
def _(ctx: Any, g: Any) -> Any:
    y, x = ctx.inputs
    share = divide_op(g, add(square(x), square(y)))
    return (
        sum_like(multiply(x, share), y) if ctx.needs[0] else None,
        sum_like(negative(multiply(y, share)), x) if ctx.needs[1] else None,
    )
