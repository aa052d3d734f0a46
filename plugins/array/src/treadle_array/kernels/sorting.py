"""Sorted elements, their places, the largest ones, and where values belong among sorted ones."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType
from treadle_array.axis_sums import widened
from treadle_array.ordering import first_places_in_order, places_in_order, taken_along
from treadle_array.places import with_axis

FEW_ROWS = 16
LONG_ROWS = 256
"""So few rows, or so many values in each, are searched for row by row; other rows all at once."""


@kernel("sort")
def sort(xp: Any) -> Any:
    """See the op; the order of -0.0 and 0.0 is that of their places."""

    def run(values: Any, *, axis: int, descending: bool) -> Any:
        at = with_axis(axis, values.ndim)
        wide = widened(xp, values)
        if wide.dtype.kind == "f" and _has_negative_zero(xp, wide):
            last = _last(xp, wide, at)
            ordered = _last(xp, taken_along(xp, last, places_in_order(xp, last, descending)), at)
        else:
            ordered = xp.sort(wide, axis=at)
            if descending:
                ordered = xp.ascontiguousarray(ordered[(slice(None),) * at + (slice(None, None, -1),)])
        return ordered.astype(values.dtype, copy=False)

    return run


def _last(xp: Any, x: Any, axis: int) -> Any:
    """``x`` with an axis and the last one changed; done twice it is undone."""
    return xp.ascontiguousarray(x if axis == x.ndim - 1 else x.swapaxes(axis, -1))


def _has_negative_zero(xp: Any, x: Any) -> bool:
    bits = xp.int32 if x.dtype.itemsize == 4 else xp.int64
    return bool((x.view(bits) == xp.iinfo(bits).min).any())


@kernel("argsort")
def argsort(xp: Any) -> Any:
    """See the op."""

    def run(values: Any, *, axis: int, descending: bool) -> Any:
        at = with_axis(axis, values.ndim)
        return _last(xp, places_in_order(xp, _last(xp, values, at), descending), at).astype(xp.int32)

    return run


@kernel("top_k")
def top_k(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, k: int, *, index_type: DType) -> tuple[Any, Any]:
        if not input.ndim or not 0 <= k <= input.shape[-1]:
            raise ValueError(f"input of shape {input.shape} has no {k} elements along its last axis")
        places = first_places_in_order(xp, input, k, True)
        return taken_along(xp, input, places), xp.ascontiguousarray(places).astype(index_type.numpy)

    return run


@kernel("in_top_k")
def in_top_k(xp: Any) -> Any:
    """See the op."""

    def run(targets: Any, predictions: Any, k: int) -> Any:
        if predictions.ndim != 2 or targets.shape != predictions.shape[:1]:
            raise ValueError(f"targets of shape {targets.shape} do not fit predictions of shape {predictions.shape}")
        predictions = widened(xp, predictions)
        count, classes = predictions.shape
        valid = (targets >= 0) & (targets < classes)
        if not classes:
            return valid
        chosen = predictions[xp.arange(count), xp.where(valid, targets, 0)].reshape(-1, 1)
        counter = xp.uint16 if classes < 1 << 16 else xp.int64  # a sum in short integers is several times as fast
        above = xp.add.reduce((predictions > chosen).view(xp.uint8), axis=1, dtype=counter)
        finite = xp.isfinite(predictions)
        if not bool(finite.all()):
            valid &= finite.all(axis=1)
        return valid & (above < k)

    return run


@kernel("searchsorted")
def searchsorted(xp: Any) -> Any:
    """See the op; many rows are searched at once, by halves."""

    def run(sorted_sequence: Any, values: Any, *, side: str, out_type: DType) -> Any:
        if not values.ndim or sorted_sequence.shape[:-1] != values.shape[:-1] or sorted_sequence.ndim != values.ndim:
            raise ValueError(f"values of shape {values.shape} do not fit sequences of shape {sorted_sequence.shape}")
        rows = math.prod(values.shape[:-1])
        sequences = widened(xp, sorted_sequence).reshape(rows, sorted_sequence.shape[-1])
        wanted = widened(xp, values).reshape(rows, values.shape[-1])
        if rows <= FEW_ROWS or wanted.shape[1] >= LONG_ROWS:
            found = xp.empty(wanted.shape, out_type.numpy)
            for row in range(rows):
                found[row] = xp.searchsorted(sequences[row], wanted[row], side)
        else:
            found = _by_halves(xp, sequences, wanted, side).astype(out_type.numpy)
        return found.reshape(values.shape)

    return run


def _by_halves(xp: Any, sequences: Any, wanted: Any, side: str) -> Any:
    low = xp.zeros(wanted.shape, xp.int64)
    high = xp.full(wanted.shape, sequences.shape[1], xp.int64)
    for _ in range(sequences.shape[1].bit_length()):
        middle = (low + high) >> 1
        at = taken_along(xp, sequences, xp.minimum(middle, sequences.shape[1] - 1))
        # NaN counts as the largest, as where it was sorted to
        beyond = (at < wanted) | ((wanted != wanted) & (at == at)) if side == "left" else (at <= wanted) | (wanted != wanted)
        beyond &= middle < high
        low, high = xp.where(beyond, middle + 1, low), xp.where(beyond, high, middle)
    return low


@kernel("is_non_decreasing")
def is_non_decreasing(xp: Any) -> Any:
    """See the op."""
    return _compares_neighbours(xp.less_equal)


@kernel("is_strictly_increasing")
def is_strictly_increasing(xp: Any) -> Any:
    """See the op."""
    return _compares_neighbours(xp.less)


def _compares_neighbours(holds: Any) -> Any:
    def run(x: Any) -> Any:
        flat = x.reshape(-1)
        return holds(flat[:-1], flat[1:]).all()

    return run
