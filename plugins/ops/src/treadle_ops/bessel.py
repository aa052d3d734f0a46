"""Bessel functions and other special functions of one variable, under ``math.special``.

Sources:
    NIST Digital Library of Mathematical Functions, chapters 6, 7, 10 and 25; SciPy ``scipy.special`` on the CPU.
"""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import gradient
from treadle_ops.casting import cast_op
from treadle_ops.comparison import equal
from treadle_ops.elementwise import add, divide_op, exp, log, multiply, negative, square, subtract
from treadle_ops.inference import FLOATING
from treadle_ops.rows import unary
from treadle_ops.signs import sign
from treadle_ops.trigonometry import cos, sin
from treadle_ops.zero_safe import divide_no_nan

bessel_i0 = unary("bessel_i0", "math.special.bessel_i0 math.bessel_i0", FLOATING, "The modified Bessel function of the first kind of order 0.")
bessel_i0e = unary("bessel_i0e", "math.special.bessel_i0e math.bessel_i0e", FLOATING, "``exp(-abs(x)) * bessel_i0(x)``.")
bessel_i1 = unary("bessel_i1", "math.special.bessel_i1 math.bessel_i1", FLOATING, "The modified Bessel function of the first kind of order 1.")
bessel_i1e = unary("bessel_i1e", "math.special.bessel_i1e math.bessel_i1e", FLOATING, "``exp(-abs(x)) * bessel_i1(x)``.")
bessel_j0 = unary("bessel_j0", "math.special.bessel_j0", FLOATING, "The Bessel function of the first kind of order 0.")
bessel_j1 = unary("bessel_j1", "math.special.bessel_j1", FLOATING, "The Bessel function of the first kind of order 1.")
bessel_k0 = unary("bessel_k0", "math.special.bessel_k0", FLOATING, "The modified Bessel function of the second kind of order 0.")
bessel_k0e = unary("bessel_k0e", "math.special.bessel_k0e", FLOATING, "``exp(x) * bessel_k0(x)``.")
bessel_k1 = unary("bessel_k1", "math.special.bessel_k1", FLOATING, "The modified Bessel function of the second kind of order 1.")
bessel_k1e = unary("bessel_k1e", "math.special.bessel_k1e", FLOATING, "``exp(x) * bessel_k1(x)``.")
bessel_y0 = unary("bessel_y0", "math.special.bessel_y0", FLOATING, "The Bessel function of the second kind of order 0.")
bessel_y1 = unary("bessel_y1", "math.special.bessel_y1", FLOATING, "The Bessel function of the second kind of order 1.")
dawsn = unary("dawsn", "math.special.dawsn", FLOATING, "Dawson's integral, ``exp(-x * x)`` times the integral of ``exp(t * t)`` from 0 to ``x``.")
expint = unary("expint", "math.special.expint", FLOATING, "The exponential integral Ei.")
fresnel_cos = unary("fresnel_cos", "math.special.fresnel_cos", FLOATING, "The integral of ``cos(pi * t * t / 2)`` from 0 to ``x``.")
fresnel_sin = unary("fresnel_sin", "math.special.fresnel_sin", FLOATING, "The integral of ``sin(pi * t * t / 2)`` from 0 to ``x``.")
spence = unary("spence", "math.special.spence", FLOATING, "The integral of ``log(t) / (1 - t)`` from 1 to ``x``.")


def _over_x(y: Any, x: Any, at_zero: float) -> Any:
    """``y / x``, and its limit at 0."""
    return add(divide_no_nan(y, x), multiply(cast_op(equal(x, 0), dtype=x.dtype), at_zero))


@gradient(bessel_i0)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, bessel_i1(ctx.inputs[0]))


@gradient(bessel_i0e)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return multiply(g, subtract(bessel_i1e(x), multiply(sign(x), ctx.output)))


@gradient(bessel_i1)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return multiply(g, subtract(bessel_i0(x), _over_x(ctx.output, x, 0.5)))


@gradient(bessel_i1e)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    y = ctx.output
    return multiply(g, subtract(subtract(bessel_i0e(x), _over_x(y, x, 0.5)), multiply(sign(x), y)))


@gradient(bessel_j0)
def _(ctx: Any, g: Any) -> Any:
    return negative(multiply(g, bessel_j1(ctx.inputs[0])))


@gradient(bessel_j1)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return multiply(g, subtract(bessel_j0(x), _over_x(ctx.output, x, 0.5)))


@gradient(bessel_k0)
def _(ctx: Any, g: Any) -> Any:
    return negative(multiply(g, bessel_k1(ctx.inputs[0])))


@gradient(bessel_k0e)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, subtract(ctx.output, bessel_k1e(ctx.inputs[0])))


@gradient(bessel_k1)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return negative(multiply(g, add(bessel_k0(x), divide_op(ctx.output, x))))


@gradient(bessel_k1e)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    y = ctx.output
    return multiply(g, subtract(subtract(y, divide_op(y, x)), bessel_k0e(x)))


@gradient(bessel_y0)
def _(ctx: Any, g: Any) -> Any:
    return negative(multiply(g, bessel_y1(ctx.inputs[0])))


@gradient(bessel_y1)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return multiply(g, subtract(bessel_y0(x), divide_op(ctx.output, x)))


@gradient(dawsn)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, subtract(1, multiply(multiply(ctx.inputs[0], ctx.output), 2)))


@gradient(expint)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return multiply(g, divide_op(exp(x), x))


@gradient(fresnel_cos)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, cos(multiply(square(ctx.inputs[0]), math.pi / 2)))


@gradient(fresnel_sin)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, sin(multiply(square(ctx.inputs[0]), math.pi / 2)))


@gradient(spence)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return multiply(g, _over_x(log(x), subtract(1, x), -1.0))
