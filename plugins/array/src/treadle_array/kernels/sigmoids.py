"""Functions with a soft step, in steps that reuse the memory of the result."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.intermediates import in_float32, reused


@kernel("sigmoid", out=True)
def sigmoid(xp: Any) -> Any:
    """See the op; where ``exp(-x)`` overflows, the reciprocal is the 0 that is wanted."""

    def compute(x: Any, *, out: Any) -> Any:
        y = xp.empty_like(x) if out is None else out
        xp.negative(x, out=y)
        xp.exp(y, out=y)
        xp.add(y, 1, out=y)
        return xp.divide(1, y, out=y)

    return in_float32(xp, compute)


@kernel("sigmoid_grad", out=True)
def sigmoid_grad(xp: Any) -> Any:
    """See the op."""

    def compute(y: Any, g: Any, *, out: Any) -> Any:
        slope = xp.subtract(1, y)
        slope = xp.multiply(slope, y, out=reused(slope))
        return xp.multiply(slope, g, out=out)

    return in_float32(xp, compute)


@kernel("softplus", out=True)
def softplus(xp: Any) -> Any:
    """See the op: ``max(x, 0) + log(1 + exp(-abs(x)))``."""

    def compute(x: Any, *, out: Any) -> Any:
        y = xp.empty_like(x) if out is None else out
        xp.absolute(x, out=y)
        xp.negative(y, out=y)
        xp.exp(y, out=y)
        xp.log1p(y, out=y)
        return xp.add(y, xp.maximum(x, 0), out=y)

    return in_float32(xp, compute)


@kernel("softsign", out=True)
def softsign(xp: Any) -> Any:
    """See the op."""

    def compute(x: Any, *, out: Any) -> Any:
        y = xp.empty_like(x) if out is None else out
        xp.absolute(x, out=y)
        xp.add(y, 1, out=y)
        return xp.divide(x, y, out=y)

    return in_float32(xp, compute)
