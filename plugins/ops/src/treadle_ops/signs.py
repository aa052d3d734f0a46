"""Absolute values and signs, of complex numbers too: ``x == sign(x) * abs(x)``."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op
from treadle_ops.casting import cast_op
from treadle_ops.complex_numbers import real_op
from treadle_ops.creation import zeros_like
from treadle_ops.elementwise import conj, multiply, subtract
from treadle_ops.inference import NUMERIC, require_kind
from treadle_ops.rows import unary
from treadle_ops.zero_safe import divide_no_nan

sign = unary("sign", "sign math.sign", NUMERIC, "-1, 0 or 1; ``x / abs(x)`` where complex; NaN of NaN.")


@op("abs", public=("abs", "math.abs"), elementwise=True)
def absolute(x: Spec) -> Spec:
    """The absolute value, computed without overflow where complex. That of the smallest integer wraps.

    Args:
        x: any shape, any numeric dtype.
        name: ignored.

    Returns:
        The shape of ``x`` and its dtype; that of its parts where it is complex.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.abs``.
    """
    return Spec(x.dims, require_kind(x, NUMERIC).real_dtype)


@gradient(absolute)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return multiply(cast_op(g, dtype=x.dtype) if x.dtype.is_complex else g, sign(x))


@gradient(sign)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    if not x.dtype.is_complex:
        return zeros_like(x)
    direction = ctx.output
    along = cast_op(real_op(multiply(conj(direction), g)), dtype=x.dtype)
    across = subtract(g, multiply(direction, along))  # only what turns x changes its sign
    return divide_no_nan(across, cast_op(absolute(x), dtype=x.dtype))
