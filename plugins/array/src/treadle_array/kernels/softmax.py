"""Softmax, its logarithm and their gradients along an axis. The largest logit is subtracted first, so that nothing overflows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.declare import kernel
from treadle_array.blocks import is_short


def _along_axis(xp: Any, compute: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel on tensors of one shape along an axis; short floats are computed in float32."""

    def run(*inputs: Any, axis: int, out: Any = None) -> Any:
        first = inputs[0]
        if not -first.ndim <= axis < first.ndim:
            raise ValueError(f"axis {axis} is out of range for a tensor of rank {first.ndim}")
        if inputs[-1].shape != first.shape:
            raise ValueError(f"the inputs have the shapes {first.shape} and {inputs[-1].shape}")
        if not first.size:
            return xp.empty(first.shape, first.dtype)
        if not is_short(first.dtype):
            return compute(*inputs, axis, out)
        result = compute(*[x.astype(xp.float32) for x in inputs], axis, None)
        if out is None:
            return result.astype(first.dtype)
        out[...] = result
        return out

    return run


@kernel("softmax", out=True)
def softmax(xp: Any) -> Any:
    """See the op."""

    def compute(x: Any, axis: int, out: Any) -> Any:
        result = xp.subtract(x, x.max(axis=axis, keepdims=True), out)
        xp.exp(result, result)
        return xp.divide(result, result.sum(axis=axis, keepdims=True), result)

    return _along_axis(xp, compute)


@kernel("softmax_grad", out=True)
def softmax_grad(xp: Any) -> Any:
    """See the op."""

    def compute(g: Any, y: Any, axis: int, out: Any) -> Any:
        result = xp.multiply(g, y, out)
        result = xp.subtract(g, result.sum(axis=axis, keepdims=True), result)
        return xp.multiply(result, y, result)

    return _along_axis(xp, compute)


@kernel("log_softmax", out=True)
def log_softmax(xp: Any) -> Any:
    """See the op."""

    def compute(x: Any, axis: int, out: Any) -> Any:
        result = xp.subtract(x, x.max(axis=axis, keepdims=True), out)
        return xp.subtract(result, xp.log(xp.exp(result).sum(axis=axis, keepdims=True)), result)

    return _along_axis(xp, compute)


@kernel("log_softmax_grad", out=True)
def log_softmax_grad(xp: Any) -> Any:
    """See the op."""

    def compute(g: Any, y: Any, axis: int, out: Any) -> Any:
        result = xp.exp(y, out)
        xp.multiply(result, g.sum(axis=axis, keepdims=True), result)
        return xp.subtract(g, result, result)

    return _along_axis(xp, compute)
