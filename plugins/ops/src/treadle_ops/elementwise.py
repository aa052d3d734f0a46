"""Arithmetic and exponentials, element by element, and their gradients."""

from __future__ import annotations

import operator
from typing import Any

from treadle import dims as sizes
from treadle.declare import gradient
from treadle_ops.broadcasting import sum_like
from treadle_ops.inference import FLOATING_OR_COMPLEX, NUMERIC
from treadle_ops.rows import binary, unary

add = binary("add", "add math.add", NUMERIC, "``x + y``, element by element.", commutative=True, value=sizes.add)
subtract = binary("subtract", "subtract math.subtract", NUMERIC, "``x - y``, element by element.", value=operator.sub)
multiply = binary("multiply", "multiply math.multiply", NUMERIC, "``x * y``, element by element.", commutative=True, value=sizes.mul)
negative = unary("negative", "negative math.negative", "fic", "``-x``, element by element.")
exp = unary("exp", "exp math.exp", FLOATING_OR_COMPLEX, "e to the power of ``x``.")
tanh = unary("tanh", "tanh math.tanh nn.tanh", FLOATING_OR_COMPLEX, "The hyperbolic tangent.")
square = unary("square", "square math.square", NUMERIC, "``x * x``, element by element.")
conj_op = unary("conj", (), "c", "The complex conjugate.")


def conj(x: Any) -> Any:
    """The conjugate where ``x`` is complex; gradients of complex tensors are conjugated, as TensorFlow's are."""
    return conj_op(x) if x.dtype.is_complex else x


@gradient(conj_op)
def _(ctx: Any, g: Any) -> Any:
    return conj_op(g)


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
    return sum_like(g * conj(y), x) if ctx.needs[0] else None, sum_like(g * conj(x), y) if ctx.needs[1] else None


@gradient(negative)
def _(ctx: Any, g: Any) -> Any:
    return negative(g)


@gradient(exp)
def _(ctx: Any, g: Any) -> Any:
    return g * conj(ctx.output)


@gradient(tanh)
def _(ctx: Any, g: Any) -> Any:
    y = conj(ctx.output)
    return g * (1 - y * y)


@gradient(square)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return g * (2 * conj(x))
