"""Rows folded together by the number of the segment that they belong to."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType, as_dtype
from treadle.errors import InvalidArgumentError
from treadle_array.axis_sums import widened
from treadle_array.folding import fold_rows


def folded(xp: Any, how: str, data: Any, ids: Any, count: int, nothing: Any, in_order: bool) -> Any:
    """The result of a segment op: ``(count, ...)`` of the dtype of ``data``."""
    wide = widened(xp, data)
    rest = data.shape[ids.ndim :]
    rows, flat = wide.reshape(math.prod(ids.shape), math.prod(rest)), ids.reshape(-1).astype(xp.int64, copy=False)
    return fold_rows(xp, how, rows, flat, count, nothing, in_order).reshape(count, *rest).astype(data.dtype, copy=False)


# ---------------------------------------------------------------------- sorted numbers


def _require_sorted(data: Any, ids: Any) -> int:
    """How many segments there are.

    Raises:
        ValueError: the numbers do not fit the data.
        InvalidArgumentError: a number is negative or less than the one before.
    """
    if ids.ndim != 1 or not data.ndim or ids.shape[0] != data.shape[0]:
        raise ValueError(f"segment_ids of shape {ids.shape} do not fit data of shape {data.shape}")
    if not ids.shape[0]:
        return 0
    if bool((ids[1:] < ids[:-1]).any()):
        raise InvalidArgumentError(
            "segment ids are not increasing: each must be at least the one before it. For ids in any order there is td.math.unsorted_segment_sum."
        )
    if bool(ids[0] < 0):
        raise InvalidArgumentError(f"segment ids must be >= 0, and the first is {int(ids[0])}")
    return int(ids[-1]) + 1


def _sorted(xp: Any, how: str, nothing: int) -> Any:
    def run(data: Any, segment_ids: Any) -> Any:
        return folded(xp, how, data, segment_ids, _require_sorted(data, segment_ids), nothing, True)

    return run


@kernel("segment_sum")
def segment_sum(xp: Any) -> Any:
    """See the op."""
    return _sorted(xp, "add", 0)


@kernel("segment_prod")
def segment_prod(xp: Any) -> Any:
    """See the op."""
    return _sorted(xp, "multiply", 1)


@kernel("segment_max")
def segment_max(xp: Any) -> Any:
    """See the op."""
    return _sorted(xp, "maximum", 0)


@kernel("segment_min")
def segment_min(xp: Any) -> Any:
    """See the op."""
    return _sorted(xp, "minimum", 0)


@kernel("segment_mean")
def segment_mean(xp: Any) -> Any:
    """See the op."""

    def run(data: Any, segment_ids: Any) -> Any:
        count = _require_sorted(data, segment_ids)
        wide = widened(xp, data)
        total = folded(xp, "add", wide, segment_ids, count, 0, True)
        sizes = _sizes(xp, segment_ids, count).reshape(count, *(1,) * (data.ndim - 1))
        if data.dtype.kind in "iu":
            sizes = sizes.astype(data.dtype)
            return total // sizes + ((total < 0) & (total % sizes != 0))
        return (total / sizes.astype(wide.real.dtype)).astype(data.dtype, copy=False)

    return run


def _sizes(xp: Any, ids: Any, count: int) -> Any:
    """How many rows each segment has, at least 1."""
    ids = ids.reshape(-1)
    if ids.size and bool(ids.min() < 0):
        ids = ids[ids >= 0]
    return xp.maximum(xp.bincount(ids.astype(xp.int64, copy=False), minlength=count), 1)


# ---------------------------------------------------------------------- numbers in any order


def require_fitting(data: Any, ids: Any, count: int) -> None:
    """Refuse numbers that do not fit.

    Raises:
        ValueError: their shape does not begin that of the data.
        InvalidArgumentError: one is too large.
    """
    if data.shape[: ids.ndim] != ids.shape:
        raise ValueError(f"segment_ids of shape {ids.shape} do not fit data of shape {data.shape}")
    _require_below(ids, count)


def _require_below(ids: Any, count: int) -> None:
    if count < 0:
        raise InvalidArgumentError(f"num_segments is {count}; it must be 0 or more")
    if ids.size and bool(ids.max() >= count):
        raise InvalidArgumentError(f"segment_ids reach up to {int(ids.max())}, which is out of range [0, {count}), the number of segments")


def _unsorted(xp: Any, how: str, nothing: Any) -> Any:
    def run(data: Any, segment_ids: Any, num_segments: int) -> Any:
        require_fitting(data, segment_ids, num_segments)
        empty = nothing(as_dtype(data.dtype)) if callable(nothing) else nothing
        return folded(xp, how, data, segment_ids, num_segments, empty, False)

    return run


@kernel("unsorted_segment_sum")
def unsorted_segment_sum(xp: Any) -> Any:
    """See the op."""
    return _unsorted(xp, "add", 0)


@kernel("unsorted_segment_prod")
def unsorted_segment_prod(xp: Any) -> Any:
    """See the op."""
    return _unsorted(xp, "multiply", 1)


@kernel("unsorted_segment_max")
def unsorted_segment_max(xp: Any) -> Any:
    """See the op."""
    return _unsorted(xp, "maximum", lambda dtype: dtype.min)


@kernel("unsorted_segment_min")
def unsorted_segment_min(xp: Any) -> Any:
    """See the op."""
    return _unsorted(xp, "minimum", lambda dtype: dtype.max)


@kernel("segment_sizes")
def segment_sizes(xp: Any) -> Any:
    """See the op."""

    def run(segment_ids: Any, num_segments: int, *, dtype: DType) -> Any:
        _require_below(segment_ids, num_segments)
        return _sizes(xp, segment_ids, num_segments).astype(dtype.numpy)

    return run


# ---------------------------------------------------------------------- gradients


@kernel("take_segments")
def take_segments(xp: Any) -> Any:
    """See the op."""

    def run(g: Any, segment_ids: Any) -> Any:
        return _taken(xp, g, segment_ids)

    return run


def _taken(xp: Any, g: Any, ids: Any) -> Any:
    """A row of ``g`` for every number; zeros for negative ones."""
    if not ids.size:
        return xp.zeros((*ids.shape, *g.shape[1:]), g.dtype)
    left_out = ids < 0
    if not bool(left_out.any()):
        return g.take(ids, 0)
    result = g.take(xp.where(left_out, 0, ids), 0) if g.shape[0] else xp.empty((*ids.shape, *g.shape[1:]), g.dtype)
    result[left_out] = 0
    return result


@kernel("share_among_segment_ties")
def share_among_segment_ties(xp: Any) -> Any:
    """See the op."""

    def run(g: Any, data: Any, y: Any, segment_ids: Any) -> Any:
        wide = widened(xp, g)
        ties = data == _taken(xp, y, segment_ids)
        count = xp.maximum(folded(xp, "add", ties.astype(wide.dtype), segment_ids, y.shape[0], 0, False), 1)
        return (ties * _taken(xp, wide / count, segment_ids)).astype(g.dtype, copy=False)

    return run


@kernel("mean_of_segment_ties")
def mean_of_segment_ties(xp: Any) -> Any:
    """See the op."""

    def run(g: Any, data: Any, y: Any, segment_ids: Any) -> Any:
        wide = widened(xp, g)
        ties = data == _taken(xp, y, segment_ids)
        count = xp.maximum(folded(xp, "add", ties.astype(wide.dtype), segment_ids, y.shape[0], 0, False), 1)
        return (folded(xp, "add", ties * wide, segment_ids, y.shape[0], 0, False) / count).astype(g.dtype, copy=False)

    return run


@kernel("continues_segment")
def continues_segment(xp: Any) -> Any:
    """See the op."""

    def run(rows: Any, segment_ids: Any) -> Any:
        result = xp.zeros(rows.shape, rows.dtype)
        result[1:] = (segment_ids[1:] == segment_ids[:-1]).reshape(-1, *(1,) * (rows.ndim - 1))
        return result

    return run


@kernel("flatten_leading")
def flatten_leading(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, leading: Any) -> Any:
        return x.reshape(math.prod(x.shape[: leading.ndim]), *x.shape[leading.ndim :])

    return run
