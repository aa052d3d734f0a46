"""The logistic loss with its gradient, and half the sum of squares."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.blocks import bound, elementwise, is_short


@kernel("sigmoid_cross_entropy", out=True)
def sigmoid_cross_entropy(xp: Any) -> Any:
    """See the op; ``max(x, 0) - x * z + log1p(exp(-|x|))``."""
    zero = bound(xp, 0)

    def steps(z: Any, x: Any, out: Any, t: Any) -> None:
        xp.absolute(x, out)
        xp.negative(out, out)
        xp.exp(out, out)
        xp.log1p(out, out)
        xp.maximum(x, zero(x), out=t)
        xp.add(out, t, out)
        xp.multiply(x, z, t)
        xp.subtract(out, t, out)

    return elementwise(xp, steps, scratch=1, is_heavy=True)


@kernel("sigmoid_cross_entropy_grad", out=True)
def sigmoid_cross_entropy_grad(xp: Any) -> Any:
    """See the op."""

    def steps(g: Any, z: Any, x: Any, out: Any, one: Any) -> None:
        xp.negative(x, out)
        xp.exp(out, out)
        xp.add(out, one, out)
        xp.reciprocal(out, out)
        xp.subtract(out, z, out)
        xp.multiply(out, g, out)

    return elementwise(xp, steps, 1, is_heavy=True)


@kernel("l2_loss")
def l2_loss(xp: Any) -> Any:
    """See the op; short floats are summed in float32."""

    def run(t: Any) -> Any:
        wide = t.astype(xp.float32) if is_short(t.dtype) else t
        return (xp.add.reduce(xp.square(wide.reshape(-1))) * 0.5).astype(t.dtype)

    return run
