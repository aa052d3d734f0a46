"""Rounding to whole numbers, and the next number of a dtype. No gradient flows through a rounding."""

from __future__ import annotations

from typing import Any

from treadle.declare import gradient, public
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import sum_like
from treadle_ops.creation import zeros_like
from treadle_ops.elementwise import divide_op, multiply
from treadle_ops.flow import identity
from treadle_ops.inference import FLOATING, FLOATING_OR_COMPLEX
from treadle_ops.rows import binary, unary

floor = unary("floor", "floor math.floor", FLOATING, "The largest whole number that is not greater.")
ceil = unary("ceil", "math.ceil", FLOATING, "The smallest whole number that is not less.")
rint = unary("rint", "math.rint", FLOATING, "The nearest whole number, of two the even one.")
round_op = unary("round", (), FLOATING_OR_COMPLEX, "The nearest whole number, of two the even one.")
nextafter = binary("nextafter", "math.nextafter", FLOATING, "The number next to ``x1`` on the way to ``x2``.", arguments=("x1", "x2"))


@gradient(nextafter)
def _(ctx: Any, g: Any) -> Any:
    x1, x2 = ctx.inputs
    return sum_like(g, x1) if ctx.needs[0] else None, zeros_like(x2) if ctx.needs[1] else None


@public("round", "math.round")
def round(x: Any, name: str | None = None) -> Any:
    """The nearest whole number, of two the even one; integers are given back.

    Args:
        x: any shape, any numeric dtype.
        name: ignored.

    Returns:
        The shape and dtype of ``x``.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.round``.
    """
    value = tensor(x)
    return identity(value) if value.dtype.is_integer else round_op(value)


def round_operator(x: Any, digits: int | None = None) -> Any:
    """Python's ``round(x, digits)``; the result is a tensor of the dtype of ``x``."""
    if not digits or (x.dtype.is_integer and digits > 0):
        return round(x)
    scale = 10**digits if digits > 0 else 10**-digits
    return divide_op(round(multiply(x, scale)), scale) if digits > 0 else multiply(round(divide_op(x, scale)), scale)
