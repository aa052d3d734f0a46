"""Functions with a soft step, block by block."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.blocks import bound, elementwise, scalars
from treadle_array.intermediates import of_two


@kernel("sigmoid", out=True)
def sigmoid(xp: Any) -> Any:
    """See the op; where ``exp(-x)`` overflows, the reciprocal is the 0 that is wanted."""

    def steps(x: Any, out: Any, one: Any) -> None:
        xp.negative(x, out)
        xp.exp(out, out)
        xp.add(out, one, out)
        xp.divide(one, out, out)

    return elementwise(xp, steps, 1, is_heavy=True)


@kernel("sigmoid_grad", out=True)
def sigmoid_grad(xp: Any) -> Any:
    """See the op."""
    ones = scalars(xp, 1)

    def steps(y: Any, g: Any, out: Any) -> None:
        slope = xp.multiply(y, xp.subtract(ones(y.dtype)[0], y))
        xp.multiply(slope, g, out)  # not in place: of one complex number NumPy's product then rounds otherwise

    return of_two(xp, steps)


@kernel("softplus", out=True)
def softplus(xp: Any) -> Any:
    """See the op: ``max(x, 0) + log(1 + exp(-abs(x)))``."""
    zero = bound(xp, 0)

    def steps(x: Any, out: Any, ramp: Any) -> None:
        xp.maximum(x, zero(x), out=ramp)
        xp.absolute(x, out)
        xp.negative(out, out)
        xp.exp(out, out)
        xp.log1p(out, out)
        xp.add(out, ramp, out)

    return elementwise(xp, steps, scratch=1, is_heavy=True)


@kernel("softsign", out=True)
def softsign(xp: Any) -> Any:
    """See the op."""

    def steps(x: Any, out: Any, one: Any) -> None:
        xp.absolute(x, out)
        xp.add(out, one, out)
        xp.divide(x, out, out)

    return elementwise(xp, steps, 1)
