"""Softmax cross-entropy with its gradient, which shares the exponentials. The largest logit is subtracted first, so that nothing overflows."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.blocks import is_short


@kernel("sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(xp: Any) -> Any:
    """See the op."""

    def run(labels: Any, logits: Any) -> Any:
        rows, index = checked_rows(labels, logits)
        if not rows.size:
            return xp.zeros(labels.shape, logits.dtype), xp.zeros(logits.shape, logits.dtype)
        x = rows.astype(xp.float32) if is_short(rows.dtype) else rows
        backprop = x - x.max(axis=1, keepdims=True)
        flat = backprop.reshape(-1)
        label_at = xp.arange(0, flat.size, rows.shape[1]) + index
        at_label = flat[label_at]
        xp.exp(backprop, backprop)
        total = backprop.sum(axis=1, keepdims=True)
        loss = xp.log(total[:, 0]) - at_label
        xp.divide(backprop, total, backprop)
        flat[label_at] -= 1
        dtype = logits.dtype
        return loss.astype(dtype, copy=False).reshape(labels.shape), backprop.astype(dtype, copy=False).reshape(logits.shape)

    return run


def checked_rows(labels: Any, logits: Any) -> tuple[Any, Any]:
    """The logits as a matrix and the labels as a vector.

    Raises:
        ValueError: the shapes do not fit, or a label is out of range.
    """
    if not logits.ndim or labels.shape != logits.shape[:-1]:
        raise ValueError(f"labels of shape {labels.shape} do not fit logits of shape {logits.shape}")
    classes = logits.shape[-1]
    index = labels.reshape(-1)
    if index.size and not (index.min() >= 0 and index.max() < classes):
        raise ValueError(f"labels must be in [0, {classes}), and they reach from {index.min()} to {index.max()}")
    return logits.reshape(index.size, classes), index


@kernel("softmax_cross_entropy")
def softmax_cross_entropy(xp: Any) -> Any:
    """See the op; a label of 0 contributes nothing, even for a logit of -inf."""

    def run(labels: Any, logits: Any) -> Any:
        weights = like_logits(xp, labels, logits)
        if not logits.size:
            return xp.zeros(logits.shape[:-1], logits.dtype), xp.zeros(logits.shape, logits.dtype)
        short = is_short(logits.dtype)
        x, weights = (logits.astype(xp.float32), weights.astype(xp.float32)) if short else (logits, weights)
        shifted = x - x.max(axis=-1, keepdims=True)
        backprop = xp.exp(shifted)
        total = backprop.sum(axis=-1, keepdims=True)
        xp.divide(backprop, total, backprop)
        xp.subtract(backprop, weights, backprop)
        terms = xp.where(weights == 0, 0, (xp.log(total) - shifted) * weights)
        loss = terms.sum(axis=-1, dtype=x.dtype)
        return (loss.astype(logits.dtype), backprop.astype(logits.dtype)) if short else (loss, backprop)

    return run


def like_logits(xp: Any, labels: Any, logits: Any) -> Any:
    """The labels in the shape of the logits.

    Raises:
        ValueError: the logits are a scalar, or the labels do not broadcast to their shape.
    """
    if not logits.ndim:
        raise ValueError("logits cannot be a scalar")
    return labels if labels.shape == logits.shape else xp.ascontiguousarray(xp.broadcast_to(labels, logits.shape))


@kernel("sparse_softmax_cross_entropy_grad", out=True)
def sparse_softmax_cross_entropy_grad(xp: Any) -> Any:
    """See the op."""
    multiply = xp.multiply

    def run(g: Any, backprop: Any, logits: Any, *, out: Any = None) -> Any:
        return multiply(backprop, g[..., None], out)

    return run


@kernel("softmax_cross_entropy_grad", out=True)
def softmax_cross_entropy_grad(xp: Any) -> Any:
    """See the op."""
    multiply = xp.multiply

    def run(g: Any, backprop: Any, labels: Any, logits: Any, *, out: Any = None) -> Any:
        return multiply(backprop, g[..., None], out)

    return run
