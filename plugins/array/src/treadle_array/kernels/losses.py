"""Losses on logits."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


@kernel("sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(xp: Any) -> Any:
    """See the op."""

    def run(labels: Any, logits: Any) -> Any:
        classes = logits.shape[-1]
        rows = logits.reshape(-1, classes)
        index = labels.reshape(-1)
        if index.shape[0] != rows.shape[0] or labels.shape != logits.shape[:-1]:
            raise ValueError(f"labels of shape {labels.shape} do not fit logits of shape {logits.shape}")
        if index.size and (index.min() < 0 or index.max() >= classes):
            raise ValueError(f"labels must be in [0, {classes}), and they reach from {index.min()} to {index.max()}")
        shifted = rows - rows.max(axis=1, keepdims=True)
        at = (xp.arange(rows.shape[0]), index)
        picked = shifted[at]
        xp.exp(shifted, shifted)
        total = shifted.sum(axis=1, keepdims=True)
        loss = xp.log(total[:, 0]) - picked
        shifted /= total
        shifted[at] -= 1
        return loss.reshape(labels.shape), shifted.reshape(logits.shape)

    return run
