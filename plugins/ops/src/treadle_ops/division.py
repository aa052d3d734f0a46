"""Quotients and remainders.

``/`` of integers is floating; ``//`` and ``%`` round down as Python's do, ``truncatediv`` and ``truncatemod`` toward zero as C's. Dividing an
integer by zero is an error; the smallest integer divided by -1 wraps.
"""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import float32, float64
from treadle.tensor import Operators
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import sum_like
from treadle_ops.elementwise import divide_op, multiply, negative
from treadle_ops.inference import INTEGER, REAL, elementwise
from treadle_ops.rows import binary

floordiv = binary("floordiv", "math.floordiv", REAL, "``x // y``: the quotient rounded down.", value=sizes.floordiv, can_fail=True)
floormod = binary("floormod", "math.floormod math.mod", REAL, "``x % y``: the remainder of ``x // y``.", value=sizes.mod, can_fail=True)
truncatediv = binary("truncatediv", "truncatediv", REAL, "The quotient rounded toward zero.", can_fail=True)
truncatemod = binary("truncatemod", "truncatemod", REAL, "The remainder of the quotient rounded toward zero, with the sign of ``x``.", can_fail=True)


@gradient(floormod)
def _(ctx: Any, g: Any) -> Any:
    x, y = ctx.inputs
    return (
        sum_like(g, x) if ctx.needs[0] else None,
        sum_like(negative(multiply(g, floordiv(x, y))), y) if ctx.needs[1] else None,
    )


@op("divide_integers", elementwise=True)
def divide_integers(x: Spec, y: Spec) -> Spec:
    """``x / y`` of integers, as floats; infinite or NaN for a ``y`` of 0."""
    return elementwise(x, y, kinds=INTEGER, dtype=float32 if x.dtype.size <= 2 else float64)


@public("divide", "math.divide", "truediv", "math.truediv")
def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """``x / y``, element by element.

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
        TensorFlow ``tf.divide``.
    """
    if isinstance(x, Operators):
        dtype = x.dtype
    elif isinstance(y, Operators):
        dtype = y.dtype
    else:
        x = tensor(x)
        dtype = x.dtype
    return divide_integers(x, y) if dtype.is_integer else divide_op(x, y)
