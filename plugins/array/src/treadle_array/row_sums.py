"""Rows added up at given places: what the gradient of every selection needs.

Rows are added in their order, so that a result does not depend on how the work is cut up. Short floats are summed in float32 and short integers in 32
bits; complex numbers are pairs of real ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

WIDE = 512
"""Columns from which adding row by row beats one pass over all elements."""

Summer = Callable[[Any, Any, Any, int], Any]
"""``(xp, index, rows, count) -> sums``, as ``sums_of_rows``."""


def accumulator(xp: Any, dtype: Any) -> Any:
    """The dtype in which elements of ``dtype`` are added or compared."""
    if dtype.itemsize > 2 or dtype.kind == "b":
        return dtype
    return xp.dtype(xp.int32 if dtype.kind == "i" else xp.uint32 if dtype.kind == "u" else xp.float32)


def add_rows(xp: Any, target: Any, index: Any, rows: Any, *, negate: bool = False) -> None:
    """Add ``rows[k]`` to ``target[index[k]]`` for every k, in place; or subtract them.

    Args:
        xp: the array module.
        target: ``(N, M)``, C-contiguous, of an accumulator's dtype, not complex.
        index: ``(K,)``, integers in ``[0, N)``.
        rows: ``(K, M)`` of the dtype of ``target``.
        negate: subtract, which no array of bools can.
    """
    count, width = rows.shape
    combine = xp.subtract if negate else xp.add
    if target.dtype.kind == "b":
        target.reshape(-1)[spread(xp, index, width)[rows.reshape(-1)]] = True
    elif width >= WIDE > count:
        for place, row in zip(index.tolist(), rows, strict=True):
            combine(target[place], row, out=target[place])
    else:
        combine.at(target.reshape(-1), spread(xp, index, width), rows.reshape(-1))


def spread(xp: Any, index: Any, width: int) -> Any:
    """The places of the elements of rows in a flat array, for the places of the rows."""
    index = index.astype(xp.int64, copy=False)
    return index if width == 1 else (index.reshape(-1, 1) * width + xp.arange(width)).reshape(-1)


def sums_of_rows(xp: Any, index: Any, rows: Any, count: int) -> Any:
    """``(count, M)`` zeros with ``rows``, ``(K, M)`` of an accumulator's dtype, added at ``index``."""
    sums = xp.zeros((count, rows.shape[1]), rows.dtype)
    add_rows(xp, sums, index, rows)
    return sums


def sum_rows(xp: Any, index: Any, rows: Any, count: int, summer: Summer = sums_of_rows) -> Any:
    """``(count, M)`` zeros with ``rows``, ``(K, M)`` of any dtype, added at ``index``."""
    dtype = rows.dtype
    if dtype.kind == "c":
        return summer(xp, index, rows.view(rows.real.dtype), count).view(dtype)
    wide = accumulator(xp, dtype)
    return summer(xp, index, rows, count) if wide == dtype else summer(xp, index, rows.astype(wide), count).astype(dtype)


def added_rows(xp: Any, target: Any, index: Any, rows: Any, *, negate: bool = False) -> Any:
    """``target`` with rows added, or subtracted; written into if its dtype needs no accumulator of its own."""
    dtype = target.dtype
    if dtype.kind == "c":
        real = target.real.dtype
        add_rows(xp, target.view(real), index, rows.view(real), negate=negate)
        return target
    wide = accumulator(xp, dtype)
    if wide == dtype:
        add_rows(xp, target, index, rows, negate=negate)
        return target
    total = target.astype(wide)
    add_rows(xp, total, index, rows.astype(wide), negate=negate)
    return total.astype(dtype)
