"""The distinct elements of a vector."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType
from treadle_array.ordering import places_in_order


@kernel("unique")
def unique(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, out_idx: DType) -> tuple[Any, Any]:
        y, idx, _ = _distinct(xp, x)
        return y, idx.astype(out_idx.numpy)

    return run


@kernel("unique_with_counts")
def unique_with_counts(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, out_idx: DType) -> tuple[Any, Any, Any]:
        y, idx, count = _distinct(xp, x)
        return y, idx.astype(out_idx.numpy), count.astype(out_idx.numpy)

    return run


def _distinct(xp: Any, x: Any) -> tuple[Any, Any, Any]:
    """The distinct elements in the order of their first places, which of them each element is, and how many of each there are."""
    if x.ndim != 1:
        raise ValueError(f"x of shape {x.shape} is not a vector")
    length = x.shape[0]
    if not length:
        return x.copy(), xp.zeros(0, xp.int64), xp.zeros(0, xp.int64)
    places = places_in_order(xp, x)
    ordered = x.take(places)
    begins = xp.ones(length, bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    starts = xp.flatnonzero(begins)
    first = places.take(starts)  # equal elements keep their order, so the first of a run is the first in x
    by_place = xp.argsort(first)
    rank = xp.empty(first.shape, xp.int64)
    rank[by_place] = xp.arange(first.shape[0], dtype=xp.int64)
    idx = xp.empty(length, xp.int64)
    idx[places] = rank.take(xp.cumsum(begins) - 1)
    lengths = xp.diff(xp.concatenate([starts, xp.full(1, length, starts.dtype)]))
    return x.take(first.take(by_place)), idx, lengths.take(by_place)
