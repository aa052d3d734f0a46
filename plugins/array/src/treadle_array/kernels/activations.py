"""Activation functions and their gradients."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


@kernel("relu", out=True)
def relu(xp: Any) -> Any:
    """See the op."""
    maximum, zeros = xp.maximum, {}

    def run(features: Any, *, out: Any = None) -> Any:
        zero = zeros.get(features.dtype)
        if zero is None:
            zero = zeros[features.dtype] = xp.zeros((), features.dtype)
        return maximum(features, zero, out)

    return run


@kernel("relu_grad", out=True)
def relu_grad(xp: Any) -> Any:
    """See the op."""
    multiply, greater = xp.multiply, xp.greater

    def run(g: Any, y: Any, *, out: Any = None) -> Any:
        return multiply(g, greater(y, 0), out)

    return run


@kernel("softmax", out=True)
def softmax(xp: Any) -> Any:
    """See the op; the largest logit is subtracted first, so that nothing overflows."""

    def run(logits: Any, *, axis: int, out: Any = None) -> Any:
        shifted = xp.subtract(logits, logits.max(axis=axis, keepdims=True), out)
        xp.exp(shifted, shifted)
        return xp.divide(shifted, shifted.sum(axis=axis, keepdims=True), shifted)

    return run
