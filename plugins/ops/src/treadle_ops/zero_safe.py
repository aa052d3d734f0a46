"""Products, quotients and logarithms that are 0 where one factor is 0, whatever the other is.

As in TensorFlow, only the gradient of ``divide_no_nan`` conjugates complex numbers.
"""

from __future__ import annotations

from typing import Any

from treadle.declare import gradient, public
from treadle.dtypes import float32, float64
from treadle.tensor import Operators
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import sum_like
from treadle_ops.casting import cast_op
from treadle_ops.comparison import not_equal
from treadle_ops.elementwise import add, conj, multiply, negative, square
from treadle_ops.inference import FLOATING_OR_COMPLEX
from treadle_ops.rows import binary

multiply_no_nan = binary(
    "multiply_no_nan", "math.multiply_no_nan", FLOATING_OR_COMPLEX, "``x * y``, and 0 where ``y`` is 0, even if ``x`` is not finite."
)
divide_no_nan = binary("divide_no_nan", (), FLOATING_OR_COMPLEX, "``x / y``, and 0 where ``y`` is 0.")
xdivy = binary("xdivy", "math.xdivy", FLOATING_OR_COMPLEX, "``x / y``, and 0 where ``x`` is 0.")
xlogy = binary("xlogy", "math.xlogy", FLOATING_OR_COMPLEX, "``x * log(y)``, and 0 where ``x`` is 0.")
xlog1py = binary("xlog1py", "math.xlog1py", FLOATING_OR_COMPLEX, "``x * log(1 + y)``, and 0 where ``x`` is 0.")


@public("math.divide_no_nan")
def quotient_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """``x / y``, and 0 where ``y`` is 0.

    Args:
        x: any shape, any numeric dtype.
        y: a shape that broadcasts with that of ``x``, the same dtype.
        name: ignored.

    Returns:
        The broadcast shape, of their dtype; for integers of 8 and 16 bits float32, for wider ones float64.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes differ.

    Sources:
        TensorFlow ``tf.math.divide_no_nan``.
    """
    left = tensor(x, y if isinstance(y, Operators) else None)
    right = tensor(y, left)
    if not left.dtype.is_integer or right.dtype is not left.dtype:
        return divide_no_nan(left, right)
    wide = float32 if left.dtype.size <= 2 else float64
    return divide_no_nan(cast_op(left, dtype=wide), cast_op(right, dtype=wide))


@public("math.reciprocal_no_nan")
def reciprocal_no_nan(x: Any, name: str | None = None) -> Any:
    """``1 / x``, and 0 where ``x`` is 0.

    Args:
        x: any shape, floating or complex.
        name: ignored.

    Returns:
        The shape and dtype of ``x``.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.reciprocal_no_nan``.
    """
    return divide_no_nan(1, tensor(x))


@gradient(multiply_no_nan)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    return (
        sum_like(multiply_no_nan(g, y), x) if ctx.needs[0] else None,
        sum_like(multiply_no_nan(x, g), y) if ctx.needs[1] else None,
    )


@gradient(divide_no_nan)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    return (
        sum_like(divide_no_nan(g, conj(y)), x) if ctx.needs[0] else None,
        sum_like(negative(multiply(g, divide_no_nan(conj(ctx.output), conj(y)))), y) if ctx.needs[1] else None,
    )


@gradient(xdivy)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    return (
        sum_like(multiply(g, xdivy(_where_not_zero(x), y)), x) if ctx.needs[0] else None,
        sum_like(negative(multiply(g, xdivy(x, square(y)))), y) if ctx.needs[1] else None,
    )


@gradient(xlogy)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    return (
        sum_like(multiply(g, xlogy(_where_not_zero(x), y)), x) if ctx.needs[0] else None,
        sum_like(multiply(g, xdivy(x, y)), y) if ctx.needs[1] else None,
    )


@gradient(xlog1py)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    return (
        sum_like(multiply(g, xlog1py(_where_not_zero(x), y)), x) if ctx.needs[0] else None,
        sum_like(multiply(g, xdivy(x, add(1, y))), y) if ctx.needs[1] else None,
    )


def _where_not_zero(x: Any) -> Any:
    """1 where ``x`` is not 0, else 0."""
    return cast_op(not_equal(x, 0), dtype=x.dtype)
