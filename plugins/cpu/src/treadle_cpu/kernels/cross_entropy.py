"""Softmax cross-entropy with its gradient, in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle_array.axis_sums import BLOCK_BYTES
from treadle_array.blocks import is_short
from treadle_array.kernels.cross_entropy import like_logits
from treadle_cpu.rows import FEW, FEWEST_ROWS, NARROW, column_sum, row_max, row_starts, row_sum

_ONE = {dtype: np.ones((), dtype) for dtype in map(np.dtype, ("f4", "f8"))}
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


@kernel("sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(xp: Any) -> Any:
    """See the op."""

    def run(labels: Any, logits: Any) -> Any:
        shape = logits.shape
        if not shape or labels.shape != shape[:-1]:
            raise ValueError(f"labels of shape {labels.shape} do not fit logits of shape {shape}")
        flat = len(shape) == 2
        index, classes = labels if flat else labels.reshape(-1), shape[-1]
        if not index.size:
            return np.zeros(labels.shape, logits.dtype), np.zeros(shape, logits.dtype)
        if np.maximum.reduce(index.view(_UNSIGNED[index.itemsize])) >= classes:  # a negative label is a large one here
            raise ValueError(f"labels must be in [0, {classes}), and they reach from {index.min()} to {index.max()}")
        rows = logits if flat else logits.reshape(-1, classes)
        if logits.size <= FEW and not is_short(logits.dtype):
            loss, backprop = by_rows(index, rows, np.empty(rows.shape, rows.dtype))
        else:
            loss, backprop = in_blocks(index, rows)
        return (loss, backprop) if flat else (loss.reshape(labels.shape), backprop.reshape(shape))

    def by_rows(index: Any, x: Any, backprop: Any) -> tuple[Any, Any]:
        np.subtract(x, row_max(x), backprop)
        flat, label_at = backprop.reshape(-1), np.add(row_starts(x.shape), index)
        loss = flat[label_at]
        np.exp(backprop, backprop)
        total = row_sum(backprop)
        np.divide(backprop, total, backprop)
        np.subtract(np.log(total.reshape(-1)), loss, loss)
        flat[label_at] -= _ONE[x.dtype]
        return loss, backprop

    def by_columns(index: Any, x: Any) -> tuple[Any, Any]:
        np.subtract(x, np.maximum.reduce(x, 0), x)
        width = x.shape[1]
        flat, label_at = x.reshape(-1), index.astype(np.int64) * width + np.arange(width)
        loss = flat[label_at]
        np.exp(x, x)
        total = column_sum(x)
        np.divide(x, total, x)
        np.subtract(np.log(total), loss, loss)
        flat[label_at] -= _ONE[x.dtype]
        return loss, x.T

    def in_blocks(index: Any, rows: Any) -> tuple[Any, Any]:
        count, classes = rows.shape
        dtype = np.dtype(np.float32) if is_short(rows.dtype) else rows.dtype
        loss, backprop = np.empty(count, rows.dtype), np.empty(rows.shape, rows.dtype)
        step = max(FEWEST_ROWS, BLOCK_BYTES // (classes * dtype.itemsize))
        for start in range(0, count, step):
            here = slice(start, start + step)
            part, target = rows[here], backprop[here]
            if classes <= NARROW:
                loss[here], target[...] = by_columns(index[here], part.T.astype(dtype, "C"))
            elif dtype is rows.dtype:
                loss[here], _ = by_rows(index[here], part, target)
            else:
                loss[here], target[...] = by_rows(index[here], part.astype(dtype), np.empty(part.shape, dtype))
        return loss, backprop

    return run


@kernel("softmax_cross_entropy")
def softmax_cross_entropy(xp: Any) -> Any:
    """See the op; a label of 0 contributes nothing, even for a logit of -inf."""

    def run(labels: Any, logits: Any) -> Any:
        labels = like_logits(np, labels, logits)
        shape = logits.shape
        if not logits.size:
            return np.zeros(shape[:-1], logits.dtype), np.zeros(shape, logits.dtype)
        x, weights = (logits, labels) if len(shape) == 2 else (logits.reshape(-1, shape[-1]), labels.reshape(-1, shape[-1]))
        if logits.size <= FEW and not is_short(logits.dtype):
            loss, backprop = by_rows(weights, x, np.empty(x.shape, x.dtype))
        else:
            loss, backprop = in_blocks(weights, x)
        return loss.reshape(shape[:-1]), backprop.reshape(shape)

    def by_rows(weights: Any, x: Any, backprop: Any) -> tuple[Any, Any]:
        terms = np.subtract(x, row_max(x))
        np.exp(terms, backprop)
        total = row_sum(backprop)
        np.divide(backprop, total, backprop)
        np.subtract(backprop, weights, backprop)
        np.subtract(np.log(total), terms, terms)
        np.multiply(terms, weights, terms)
        loss = row_sum(terms)[:, 0]
        check = loss.dot(loss)
        if check != check:  # NaN somewhere: 0 * inf gives one
            terms[weights == 0] = 0
            loss = row_sum(terms)[:, 0]
        return loss, backprop

    def in_blocks(weights: Any, rows: Any) -> tuple[Any, Any]:
        count, classes = rows.shape
        short = is_short(rows.dtype)
        size = 4 if short else rows.itemsize
        loss, backprop = np.empty(count, rows.dtype), np.empty(rows.shape, rows.dtype)
        step = max(FEWEST_ROWS, BLOCK_BYTES // (classes * size))
        for start in range(0, count, step):
            here = slice(start, start + step)
            part, target = rows[here], backprop[here]
            if short:
                wide = part.astype(np.float32)
                loss[here], target[...] = by_rows(weights[here].astype(np.float32), wide, np.empty(part.shape, np.float32))
            else:
                loss[here], _ = by_rows(weights[here], part, target)
        return loss, backprop

    return run
