"""The largest and the smallest over axes, and the shares of equal ones."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle_array.axis_sums import summation, widened
from treadle_array.kernels.reductions import kept_shape, reduced_shape

FEW = 16
"""Columns below which comparing them one by one beats NumPy's loop per row."""


@kernel("reduce_max")
def reduce_max(xp: Any) -> Any:
    """See the op; NaN wins."""
    return _extreme(xp, "max", xp.maximum, -math.inf, "min")


@kernel("reduce_min")
def reduce_min(xp: Any) -> Any:
    """See the op; NaN wins."""
    return _extreme(xp, "min", xp.minimum, math.inf, "max")


def _extreme(xp: Any, method: str, of_two: Any, of_no_floats: float, of_no_integers: str) -> Any:
    """The largest or smallest over axes; over nothing an infinity, or the end of the integers' range."""
    by_columns = xp.__name__ == "numpy"

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        if not x.size:
            nothing = getattr(xp.iinfo(x.dtype), of_no_integers) if x.dtype.kind in "iu" else of_no_floats
            return xp.full(reduced_shape(x.shape, axis, keepdims), nothing, x.dtype)
        wide = widened(xp, x)
        if by_columns and axis is not None and x.ndim > 1 and len(axis) == 1 and x.shape[-1] < FEW and axis[0] in (-1, x.ndim - 1) and x.size >= 1024:
            found = wide[..., 0].copy()
            for k in range(1, x.shape[-1]):
                of_two(found, wide[..., k], out=found)
            found = found[..., None] if keepdims else found
        else:
            found = getattr(wide, method)(axis=axis, keepdims=keepdims)
        return found if wide is x else found.astype(x.dtype)

    return run


@kernel("share_among_ties")
def share_among_ties(xp: Any) -> Any:
    """See the op."""
    add_up = summation(xp)

    def run(g: Any, x: Any, y: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        ties = x == y.reshape(kept_shape(x.shape, axis))
        wide = widened(xp, g)
        count = _count(xp, add_up, ties, axis, wide.dtype)
        shared = ties * (wide.reshape(count.shape) / count)
        return shared if wide is g else shared.astype(g.dtype)

    return run


@kernel("mean_of_ties")
def mean_of_ties(xp: Any) -> Any:
    """See the op."""
    add_up = summation(xp)

    def run(g: Any, x: Any, y: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        ties = x == y.reshape(kept_shape(x.shape, axis))
        wide = widened(xp, g)
        mean = add_up(ties * wide, axis, True) / _count(xp, add_up, ties, axis, wide.dtype)
        return (mean if wide is g else mean.astype(g.dtype)).reshape(y.shape)

    return run


def _count(xp: Any, add_up: Any, ties: Any, axis: tuple[int, ...] | None, dtype: Any) -> Any:
    """How many ties there are, with the axes kept; 0 where the extreme is NaN, which is equal to nothing and so shared as NaN."""
    return add_up(ties.astype(dtype), axis, True)
