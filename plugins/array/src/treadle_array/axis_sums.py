"""Sums over axes as accurate as NumPy's pairwise ones, whichever axes they are.

NumPy sums pairwise only along the last axis: along another one it adds row to row, and the error grows with their number. Here that is done for a
few rows; more are added in eight interleaved accumulators over runs of 128, as NumPy does along the last axis, and the runs in pairs. The bits of a
sum depend on its own summands, their number and whether they lie side by side, not on what is summed beside it.

Other array modules sum accurately along every axis, so they serve as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

from treadle.runtime import workers
from treadle_array.blocks import is_short

Prepare: TypeAlias = Callable[[Any, Any], Any]
"""What is done to elements before they are summed: ``(elements, out) -> as many``, put into ``out`` if that is not None."""

LANES = 8
"""Accumulators side by side, as in NumPy's pairwise sum."""

RUN = 16
"""Rows that one accumulator takes in a row."""

COPIED = 4096
"""Elements up to which a transposed copy beats adding rows."""

FEW_ROWS = 64
"""Rows that are added one to the other; the error stays within as many roundings."""

BLOCK_BYTES = 256 * 1024
"""Bytes of rows that are prepared together, in the cache of a core."""

NARROW = 64
"""Elements of a row below which NumPy's sum of several matrices at once is slow."""


def widened(xp: Any, x: Any) -> Any:
    """``x``, in float32 if it is a short float."""
    return x.astype(xp.float32) if is_short(x.dtype) else x


def summation(xp: Any) -> Callable[..., Any]:
    """``(x, axis, keepdims, prepare=None) -> the sum over axes`` in the dtype of ``x``; integers wrap.

    Args:
        xp: the array module.

    Returns:
        The function; its argument ``prepare``, if there is one, is applied to the elements first, block by block where that saves memory.
    """
    add = xp.add.reduce

    def plain(x: Any, axis: tuple[int, ...] | None, keepdims: bool, prepare: Prepare | None = None) -> Any:
        x = x if prepare is None else prepare(x, None)
        return add(x, axis=axis, dtype=x.dtype, keepdims=keepdims)

    def run(x: Any, axis: tuple[int, ...] | None, keepdims: bool, prepare: Prepare | None = None) -> Any:
        steps = _steps(x.shape, axis, keepdims) if x.dtype.kind in "fc" else None
        if steps is None:
            return plain(x, axis, keepdims, prepare)
        groups, shape = steps
        if prepare is not None:
            (count, length, rest), *groups = groups
            if rest > 1 and length % LANES == 0 and length > LANES * RUN and x.dtype.kind == "f":
                x = _of_columns(xp, x.reshape(count, length, rest), prepare)
            else:
                groups = [(count, length, rest), *groups]
                x = prepare(x, None)
        for count, length, rest in groups:
            x = _of_rows(xp, x.reshape(count, length)) if rest == 1 else _of_columns(xp, x.reshape(count, length, rest))
        return x.reshape(shape)

    return run if xp.__name__ == "numpy" else plain


@lru_cache(4096)
def _steps(shape: tuple[int, ...], axis: tuple[int, ...] | None, keepdims: bool) -> tuple[list[tuple[int, int, int]], tuple[int, ...]] | None:
    """Runs of neighbouring axes to sum, the last first, each as (elements before, its length, elements after), and the shape of the result.

    None where NumPy's own sum does as well: over the last axes, over few rows, and over nothing.

    Raises:
        ValueError: an axis is out of range or named twice.
    """
    rank = len(shape)
    gone = range(rank) if axis is None else [a + rank if a < 0 else a for a in axis]
    if any(not 0 <= a < rank for a in gone) or len(set(gone)) != len(gone):
        raise ValueError(f"axes {axis} are out of range for rank {rank}, or one is named twice")
    left, groups, end = list(shape), [], rank
    while end:
        end -= 1
        if end in gone:
            start = end
            while start and (start - 1 in gone or left[start - 1] == 1):
                start -= 1
            groups.append((math.prod(left[:start]), math.prod(left[start : end + 1]), math.prod(left[end + 1 :])))
            left[start : end + 1] = [1] * (end + 1 - start)
            end = start
    if not groups or not math.prod(shape) or (len(groups) == 1 and _suits_numpy(*groups[0])):
        return None
    return groups, tuple(1 if i in gone else n for i, n in enumerate(shape) if keepdims or i not in gone)


def _suits_numpy(count: int, length: int, rest: int) -> bool:
    """True if NumPy sums ``(count, length, rest)`` over the middle fast and accurately enough."""
    return not _is_short(count, length) if rest == 1 else length <= FEW_ROWS and (count == 1 or rest >= NARROW)


def _is_short(count: int, length: int) -> bool:
    """True for many rows of few elements, which NumPy adds one by one at the cost of a loop each."""
    return length < LANES and count >= 64


def _of_rows(xp: Any, x: Any) -> Any:
    """``(K, N) -> (K,)``: NumPy's pairwise sum, and for the few elements that it adds one by one the same in fewer steps."""
    count, length = x.shape
    if not _is_short(count, length):
        return xp.add.reduce(x, axis=1)
    total = xp.add(x[:, 0], 0)  # + 0 as in NumPy, whose sums start there: -0.0 becomes 0.0
    for k in range(1, length):
        total += x[:, k]
    return total


def _of_columns(xp: Any, x: Any, prepare: Prepare | None = None) -> Any:
    """``(K, N, M) -> (K, M)``: few rows one by one; up to 128 the bits of a pairwise sum, and its error beyond."""
    count, length, width = x.shape
    if length <= FEW_ROWS:
        if count == 1 or width >= NARROW:
            return xp.add.reduce(x, axis=1)
        return xp.add.reduce(xp.ascontiguousarray(x.transpose(1, 0, 2)).reshape(length, -1), axis=0).reshape(count, width)
    if length <= LANES * RUN and x.size <= COPIED:
        return xp.add.reduce(xp.ascontiguousarray(x.transpose(0, 2, 1)), axis=2)
    eights = length // LANES
    whole = eights * LANES
    lanes = sums_of_runs(xp, (x if whole == length else x[:, :whole]).reshape(count, eights, LANES * width), prepare)
    lanes = lanes.reshape(count, LANES, width)
    lanes = xp.add(lanes[:, 0::2], lanes[:, 1::2])
    lanes = xp.add(lanes[:, 0::2], lanes[:, 1::2])
    total = xp.add(lanes[:, 0], lanes[:, 1])
    for k in range(whole, length):
        total += x[:, k]
    return total


def sums_of_runs(xp: Any, x: Any, prepare: Prepare | None = None) -> Any:
    """``(K, N, M) -> (K, M)``: runs of ``RUN`` row by row, then their sums in pairs; of what ``prepare`` makes of the elements."""
    count, length, width = x.shape
    if length <= RUN:
        return xp.add.reduce(x if prepare is None else prepare(x, None), axis=1)
    full, left = divmod(length, RUN)
    partial = xp.empty((count, full + (left > 0), width), x.dtype)
    runs = x[:, : full * RUN].reshape(count, full, RUN, width)

    def add_up(some: slice) -> None:
        if prepare is None:
            xp.add.reduce(runs[:, some], axis=2, out=partial[:, some])
            return
        step = max(1, BLOCK_BYTES // (count * RUN * width * x.dtype.itemsize))
        scratch = xp.empty((count, min(step, full), RUN, width), x.dtype)
        for start in range(some.start, some.stop, step):
            here = slice(start, min(start + step, some.stop))
            part = runs[:, here]
            xp.add.reduce(prepare(part, scratch[:, : part.shape[1]]), axis=2, out=partial[:, here])

    workers.together(add_up, workers.shares(full, x.size // 2 if prepare is None else x.size))
    if left:
        rest = x[:, full * RUN :]
        xp.add.reduce(rest if prepare is None else prepare(rest, None), axis=1, out=partial[:, full])
    length = partial.shape[1]
    while length > 1:
        half = length // 2
        partial[:, :half] += partial[:, length - half : length]
        length -= half
    return partial[:, 0]
