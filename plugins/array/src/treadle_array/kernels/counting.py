"""Counts: of elements that are not 0, of integers by their value, and of pairs of labels."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType
from treadle.errors import InvalidArgumentError
from treadle_array.kernels.reductions import kept_shape
from treadle_array.kernels.segments import folded


@kernel("count_nonzero")
def count_nonzero(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool, dtype: DType) -> Any:
        if axis is None:
            count = xp.asarray(xp.count_nonzero(x)).astype(dtype.numpy)
            return count.reshape(kept_shape(x.shape, None)) if keepdims else count
        holds = x if x.dtype.kind == "b" else x != 0
        return xp.add.reduce(holds, axis=axis, dtype=xp.int64, keepdims=keepdims).astype(dtype.numpy)

    return run


@kernel("zero_fraction")
def zero_fraction(xp: Any) -> Any:
    """See the op."""

    def run(value: Any) -> Any:
        zeros = value.size - xp.asarray(xp.count_nonzero(value))
        return (zeros.astype(xp.float64) / value.size).astype(xp.float32)

    return run


@kernel("bincount")
def bincount(xp: Any) -> Any:
    """See the op."""

    def run(arr: Any, weights: list[Any], lengths: tuple[int, int], *, rows: bool, binary: bool, dtype: DType) -> Any:
        if rows and arr.ndim != 2:
            raise ValueError(f"arr of shape {arr.shape} has no rows to count in; it needs rank 2")
        if weights and weights[0].shape != arr.shape:
            raise ValueError(f"weights of shape {weights[0].shape} do not fit arr of shape {arr.shape}")
        length, all_counted = _length(arr, *lengths)
        ids = arr.astype(xp.int64, copy=False)
        if rows:
            ids = ids + xp.arange(arr.shape[0], dtype=xp.int64).reshape(-1, 1) * length
        total = length * arr.shape[0] if rows else length
        if weights:
            ids = ids if all_counted else xp.where(arr < length, ids, -1)
            counts = folded(xp, "add", weights[0], ids, total, 0, False)
        else:
            counts = xp.bincount(ids.reshape(-1) if all_counted else ids[arr < length], minlength=total)
            counts = (counts > 0 if binary else counts).astype(dtype.numpy)
        return counts.reshape(arr.shape[0], length) if rows else counts

    return run


def _length(arr: Any, least: int, most: int) -> tuple[int, bool]:
    """How many results there are, and whether all of ``arr`` is counted."""
    if least < -1 or most < -1:
        raise InvalidArgumentError(f"minlength {least} and maxlength {most} must be 0 or more")
    if arr.size and bool(arr.min() < 0):
        raise InvalidArgumentError(f"Input arr must be non-negative, and its least element is {int(arr.min())}")
    needed = int(arr.max()) + 1 if arr.size else 0
    length = max(needed, least) if most < 0 else min(max(needed, least), most)
    return length, needed <= length


@kernel("known_places")
def known_places(xp: Any) -> Any:
    """See the op."""

    def run(arr: Any, counts: Any) -> Any:
        return xp.where(arr < counts.shape[0], arr.astype(xp.int64), -1)

    return run


@kernel("class_count")
def class_count(xp: Any) -> Any:
    """See the op."""

    def run(labels: Any, predictions: Any) -> Any:
        return xp.full((), max([int(t.max()) + 1 for t in (labels, predictions) if t.size], default=0), xp.int64)

    return run


@kernel("confusion_places")
def confusion_places(xp: Any) -> Any:
    """See the op."""

    def run(labels: Any, predictions: Any, num_classes: int) -> Any:
        if labels.ndim != 1 or labels.shape != predictions.shape:
            raise ValueError(f"labels of shape {labels.shape} and predictions of shape {predictions.shape} differ")
        for classes, what in ((labels, "labels"), (predictions, "predictions")):
            if classes.size and bool(classes.min() < 0):
                raise InvalidArgumentError(f"`{what}` contains negative values: {int(classes.min())}")
            if classes.size and bool(classes.max() >= num_classes):
                raise InvalidArgumentError(f"`{what}` out of bound: {int(classes.max())} is not below the number of classes, {num_classes}")
        places = xp.multiply(labels, num_classes, dtype=xp.int64)
        return xp.add(places, predictions, out=places)

    return run
