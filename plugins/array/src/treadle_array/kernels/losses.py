"""The logistic loss with its gradient, and half the sum of squares."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.blocks import block_of, bound, elementwise, is_short


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

    return elementwise(xp, steps, scratch=1)


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

    return elementwise(xp, steps, 1)


@kernel("l2_loss")
def l2_loss(xp: Any) -> Any:
    """See the op; short floats are summed in float32."""
    block = block_of(xp)

    def run(t: Any) -> Any:
        wide = xp.float32 if is_short(t.dtype) else t.dtype
        flat = t.reshape(-1)
        if flat.size <= block:
            total = xp.add.reduce(xp.square(flat.astype(wide, copy=False)))
        else:
            parts = xp.empty(-(-flat.size // block), wide)
            for i in range(parts.size):
                part = flat[i * block : (i + 1) * block].astype(wide, copy=False)
                parts[i] = xp.add.reduce(xp.square(part))
            total = xp.add.reduce(parts)
        return (total * 0.5).astype(t.dtype)

    return run
