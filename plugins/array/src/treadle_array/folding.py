"""Rows with one number folded into one row by a ufunc of two, in their order.

NumPy folds single elements where they fall, and rows by its ``reduceat``; where runs are short, and in other array modules, neighbours are folded in
pairs until one row is left of each run.
"""

from __future__ import annotations

import math
from typing import Any

from treadle_array.ordering import places_in_order

SHORT = 12
"""Rows of a run, in the mean, up to which folding in pairs beats ``reduceat``."""


def fold_rows(xp: Any, how: str, rows: Any, ids: Any, count: int, nothing: Any, in_order: bool) -> Any:
    """Rows folded by their numbers; sums of single elements add up in float64.

    Args:
        xp: the array module.
        how: name of the ufunc of two rows: add, multiply, maximum or minimum.
        rows: ``(N, M)``.
        ids: ``(N,)``, int64 below ``count``; rows with a negative one are left out.
        count: of segments.
        nothing: what a segment without rows gives.
        in_order: the numbers only grow, and none is negative.

    Returns:
        ``(count, M)`` of the dtype of ``rows``.
    """
    if xp.__name__ == "numpy" and rows.shape[1] == 1 and rows.dtype.kind != "c":
        flat = rows.reshape(-1)
        if not in_order and ids.size and bool(ids.min() < 0):
            ids, flat = ids[ids >= 0], flat[ids >= 0]
        if how == "add" and rows.dtype.kind == "f":
            return xp.bincount(ids, flat, count).astype(rows.dtype, copy=False).reshape(count, 1)
        return _where_they_fall(xp, how, flat, ids, count, nothing).reshape(count, 1)
    result = xp.full((count, rows.shape[1]), nothing, rows.dtype)
    if not rows.size:
        return result
    if not in_order:
        order = places_in_order(xp, ids)
        ids, rows = ids.take(order), rows.take(order, 0)
    begins = xp.ones(ids.shape, bool)
    begins[1:] = ids[1:] != ids[:-1]
    starts = xp.flatnonzero(begins)
    if xp.__name__ != "numpy" or rows.shape[0] < SHORT * starts.shape[0]:
        folded = _in_pairs(xp, getattr(xp, how), rows, starts)
    else:
        folded = getattr(xp, how).reduceat(rows, starts, axis=0, dtype=rows.dtype)
    found = ids.take(starts)
    if not in_order and bool(found[0] < 0):
        kept = found >= 0
        found, folded = found[kept], folded[kept]
    result[found] = folded
    return result


def _where_they_fall(xp: Any, how: str, flat: Any, ids: Any, count: int, nothing: Any) -> Any:
    first = {"add": 0, "multiply": 1, "maximum": _end(xp, flat.dtype, "min"), "minimum": _end(xp, flat.dtype, "max")}[how]
    result = xp.full(count, first, flat.dtype)
    getattr(xp, how).at(result, ids, flat)
    if first != nothing:
        result[xp.bincount(ids, minlength=count) == 0] = nothing
    return result


def _end(xp: Any, dtype: Any, which: str) -> Any:
    if dtype.kind in "iu":
        return getattr(xp.iinfo(dtype), which)
    return -math.inf if which == "min" else math.inf


def _in_pairs(xp: Any, of_two: Any, rows: Any, starts: Any) -> Any:
    """One row for each run of rows, which begin at ``starts``: rows at odd places of a run go into the one before, until none is at an odd place."""
    while starts.shape[0] < rows.shape[0]:
        count = rows.shape[0]
        lengths = xp.diff(xp.concatenate([starts, xp.full(1, count, starts.dtype)]))
        odd = ((xp.arange(count) - xp.repeat(starts, lengths)) & 1).astype(bool)
        into = xp.cumsum(~odd) - 1
        right = xp.flatnonzero(odd)
        halved = rows.take(xp.flatnonzero(~odd), 0)
        places = into.take(right)  # that of the row before, which is the last even one
        halved[places] = of_two(halved.take(places, 0), rows.take(right, 0))
        rows, starts = halved, into.take(starts)
    return rows
