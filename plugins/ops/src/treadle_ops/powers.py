"""Powers and roots. The gradient of a power is its limit at a base or an exponent of 0 and is real for a negative base."""

from __future__ import annotations

from typing import Any

from treadle.declare import gradient, public
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import sum_like
from treadle_ops.comparison import greater, not_equal
from treadle_ops.elementwise import conj, divide_op, log, multiply, slope_product, square, subtract
from treadle_ops.inference import FLOATING_OR_COMPLEX, NUMERIC
from treadle_ops.masking import where_op
from treadle_ops.rows import binary, unary
from treadle_ops.zero_safe import multiply_no_nan

sqrt = unary("sqrt", "sqrt math.sqrt", FLOATING_OR_COMPLEX, "The square root; NaN for a negative real ``x``.")
rsqrt = unary("rsqrt", "math.rsqrt", FLOATING_OR_COMPLEX, "``1 / sqrt(x)``, element by element.")
pow_op = binary("pow", (), NUMERIC, "``x`` to the power of ``y``; 1 for a power of 0.", can_fail=True)


@public("pow", "math.pow")
def pow(x: Any, y: Any, name: str | None = None) -> Any:
    """``x`` to the power of ``y``, element by element.

    ``x ** 0`` and ``1 ** y`` are 1 even for NaN; a negative ``x`` has real powers for whole ``y`` only, else NaN. Integers wrap.

    Args:
        x: any shape, any numeric dtype.
        y: a shape that broadcasts with that of ``x``, the same dtype.
        name: ignored.

    Returns:
        The broadcast shape, of their dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtype is another one.
        InvalidArgumentError: an integer power is negative.

    Sources:
        TensorFlow ``tf.pow``.
    """
    if (type(y) is int or type(y) is float) and y == 2:
        base = tensor(x)
        if type(y) is int or base.dtype.is_differentiable:
            return square(base)
    return pow_op(x, y)


@gradient(pow_op)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    return (
        sum_like(multiply(g, _slope_of_base(conj(x), conj(y))), x) if ctx.needs[0] else None,
        sum_like(multiply(g, _slope_of_exponent(conj(x), conj(ctx.output))), y) if ctx.needs[1] else None,
    )


def _slope_of_base(x: Any, y: Any) -> Any:
    """``y * x ** (y - 1)``; of real numbers 0 where ``y`` is 0, even at ``x = 0``."""
    lower = pow_op(x, subtract(y, 1))
    return multiply(lower, y) if x.dtype.is_complex else multiply_no_nan(lower, y)


def _slope_of_exponent(x: Any, power: Any) -> Any:
    """``x ** y * log(x)`` where that is real, and 0 elsewhere, as in TensorFlow."""
    has_log = not_equal(x, 0) if x.dtype.is_complex else greater(x, 0)
    return multiply(power, log(where_op(has_log, x, 1)))  # log(1) = 0, and its gradient stays finite


@gradient(sqrt)
def _(ctx: Any, g: Any) -> Any:
    return slope_product(divide_op(0.5, conj(ctx.output)), g)


@gradient(rsqrt)
def _(ctx: Any, g: Any) -> Any:
    y = conj(ctx.output)
    return slope_product(multiply(square(y), multiply(y, -0.5)), g)
