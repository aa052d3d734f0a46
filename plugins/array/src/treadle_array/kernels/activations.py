"""Activation functions and their gradients, but gelu."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.blocks import BLOCK, block_of, bound, chosen, elementwise, scalars

_SELU_SCALE = 1.0507009873554805
_SELU_SCALE_ALPHA = 1.7580993408473768


@kernel("relu", out=True)
def relu(xp: Any) -> Any:
    """See the op."""
    maximum, empty, limit, zero = xp.maximum, xp.empty, block_of(xp), bound(xp, 0)

    def run(features: Any, *, out: Any = None) -> Any:
        size = features.size
        if size <= limit:
            return maximum(features, zero(features), out=out)
        result = empty(features.shape, features.dtype) if out is None else out
        x, y = features.reshape(-1), result.reshape(-1)
        for start in range(0, size, BLOCK):
            part = x[start : start + BLOCK]
            maximum(part, zero(part), out=y[start : start + BLOCK])
        return result

    return run


@kernel("relu_grad", out=True)
def relu_grad(xp: Any) -> Any:
    """See the op."""
    multiply, greater, zero = xp.multiply, xp.greater, scalars(xp, 0)

    def run(g: Any, y: Any, *, out: Any = None) -> Any:
        return multiply(g, greater(y, zero(y.dtype)[0]), out)

    return run


@kernel("relu6", out=True)
def relu6(xp: Any) -> Any:
    """See the op; ``clip`` takes one pass, and knows no bfloat16."""
    zero, six = bound(xp, 0), bound(xp, 6)
    bounds = scalars(xp, 0, 6)

    def steps(x: Any, out: Any) -> None:
        xp.maximum(x, zero(x), out=out)
        xp.minimum(out, six(x), out=out)

    of_short = elementwise(xp, steps, widen=False)

    def run(features: Any, *, out: Any = None) -> Any:
        dtype = features.dtype
        return features.clip(*bounds(dtype), out=out) if dtype.itemsize >= 4 else of_short(features, out=out)

    return run


@kernel("relu6_grad", out=True)
def relu6_grad(xp: Any) -> Any:
    """See the op."""

    def steps(g: Any, y: Any, out: Any, zero: Any, six: Any) -> None:
        inside = xp.greater(y, zero)
        inside &= xp.less(y, six)
        out[...] = inside
        xp.multiply(out, g, out)

    return elementwise(xp, steps, 0, 6, widen=False)


@kernel("leaky_relu", out=True)
def leaky_relu(xp: Any) -> Any:
    """See the op; for ``alpha`` between 0 and 1 the larger one of ``x`` and ``alpha * x`` is right."""

    def between(x: Any, out: Any, alpha: Any) -> None:
        xp.multiply(x, alpha, out)
        xp.maximum(out, x, out=out)

    def above(x: Any, out: Any, alpha: Any) -> None:
        xp.multiply(x, alpha, out)
        xp.minimum(out, x, out=out)

    def otherwise(x: Any, out: Any, alpha: Any, zero: Any) -> None:
        xp.multiply(x, alpha, out)
        out[...] = xp.where(xp.greater(x, zero), x, out)

    @chosen
    def kernels(alpha: float) -> Any:
        if alpha > 0:
            return elementwise(xp, between if alpha <= 1 else above, alpha)
        return elementwise(xp, otherwise, alpha, 0)

    def run(features: Any, *, alpha: float, out: Any = None) -> Any:
        return kernels(alpha)(features, out=out)

    return run


@kernel("leaky_relu_grad", out=True)
def leaky_relu_grad(xp: Any) -> Any:
    """See the op; for ``alpha`` between 0 and 1 the slope is the larger one of ``alpha`` and ``x > 0``."""

    def between(g: Any, x: Any, out: Any, zero: Any, alphas: Any) -> None:
        out[...] = xp.greater(x, zero)
        xp.maximum(out, alphas(out), out=out)
        xp.multiply(out, g, out)

    def otherwise(g: Any, x: Any, out: Any, zero: Any, alpha: Any) -> None:
        xp.multiply(g, alpha, out)
        out[...] = xp.where(xp.greater(x, zero), g, out)

    @chosen
    def kernels(alpha: float) -> Any:
        if not 0 <= alpha <= 1:
            return elementwise(xp, otherwise, 0, alpha)
        alphas = bound(xp, alpha)
        return elementwise(xp, lambda g, x, out, zero: between(g, x, out, zero, alphas), 0)

    def run(g: Any, features: Any, *, alpha: float, out: Any = None) -> Any:
        return kernels(alpha)(g, features, out=out)

    return run


@kernel("elu", out=True)
def elu(xp: Any) -> Any:
    """See the op; ``exp(x) - 1`` is the larger one wherever ``x`` is negative."""
    zero = bound(xp, 0)

    def steps(x: Any, out: Any) -> None:
        xp.minimum(x, zero(x), out=out)
        xp.expm1(out, out)
        xp.maximum(out, x, out=out)

    return elementwise(xp, steps, is_heavy=True)


@kernel("elu_grad", out=True)
def elu_grad(xp: Any) -> Any:
    """See the op; ``fmin`` lets the gradient pass where the result is NaN."""
    zero = bound(xp, 0)

    def steps(g: Any, y: Any, out: Any, one: Any) -> None:
        xp.fmin(y, zero(y), out)
        xp.add(out, one, out)
        xp.multiply(out, g, out)

    return elementwise(xp, steps, 1)


@kernel("selu", out=True)
def selu(xp: Any) -> Any:
    """See the op."""
    zero = bound(xp, 0)

    def steps(x: Any, out: Any, positive: Any, scale: Any, scale_alpha: Any) -> None:
        xp.minimum(x, zero(x), out=out)
        xp.expm1(out, out)
        xp.multiply(out, scale_alpha, out)
        xp.maximum(x, zero(x), out=positive)
        xp.multiply(positive, scale, positive)
        xp.add(out, positive, out)

    return elementwise(xp, steps, _SELU_SCALE, _SELU_SCALE_ALPHA, scratch=1, is_heavy=True)


@kernel("selu_grad", out=True)
def selu_grad(xp: Any) -> Any:
    """See the op; the factor is ``y + scale * alpha`` where the result ``y`` is negative, else ``scale``."""
    below = bound(xp, 0)

    def steps(g: Any, y: Any, out: Any, zero: Any, scale: Any, difference: Any) -> None:
        xp.fmin(y, below(y), out)
        xp.add(out, difference, out)
        xp.multiply(out, xp.less(y, zero), out)
        xp.add(out, scale, out)
        xp.multiply(out, g, out)

    return elementwise(xp, steps, 0, _SELU_SCALE, _SELU_SCALE_ALPHA - _SELU_SCALE)


@kernel("silu", out=True)
def silu(xp: Any) -> Any:
    """See the op."""

    def steps(x: Any, out: Any, minus_beta: Any, one: Any) -> None:
        xp.multiply(x, minus_beta, out)
        xp.exp(out, out)
        xp.add(out, one, out)
        xp.divide(x, out, out)

    @chosen
    def kernels(beta: float) -> Any:
        return elementwise(xp, steps, -beta, 1, is_heavy=True)

    def run(features: Any, *, beta: float, out: Any = None) -> Any:
        return kernels(beta)(features, out=out)

    return run


@kernel("silu_grad", out=True)
def silu_grad(xp: Any) -> Any:
    """See the op; with ``s = sigmoid(beta * x)`` the derivative is ``s * (1 + beta * x * (1 - s))``."""

    def steps(g: Any, x: Any, out: Any, z: Any, t: Any, minus_beta: Any, one: Any) -> None:
        xp.multiply(x, minus_beta, z)
        xp.exp(z, out)
        xp.add(out, one, out)
        xp.reciprocal(out, out)
        xp.subtract(out, one, t)
        xp.multiply(z, t, z)
        xp.add(z, one, z)
        xp.multiply(out, z, out)
        xp.multiply(out, g, out)

    @chosen
    def kernels(beta: float) -> Any:
        return elementwise(xp, steps, -beta, 1, scratch=2, is_heavy=True)

    def run(g: Any, features: Any, *, beta: float, out: Any = None) -> Any:
        return kernels(beta)(g, features, out=out)

    return run
