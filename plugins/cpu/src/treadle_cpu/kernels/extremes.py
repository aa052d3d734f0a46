"""The larger and the smaller of two at the speed of NumPy's ufuncs, and values kept within bounds in one pass.

When -0.0 meets 0.0, NumPy gives whichever the processor prefers. The wrong one can only be a -0.0 among the larger ones, which is the smallest
signed integer of its size, or a 0.0 among the smaller ones, the smallest unsigned integer: one fast reduction tells that there is none.
With a scalar, ``ndarray.clip`` is several times as fast as the ufuncs, and its bound wins where two zeros meet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle_array.intermediates import reused

FEW = 512
"""Elements up to which counting zeros is the fastest way to find one."""
MANY = 1000
"""Elements from which ``clip`` is faster than a ufunc."""


@kernel("maximum", out=True)
def maximum(xp: Any) -> Any:
    """See the op; of two zeros the larger is their sum."""

    def wrong_zero(bits: Any, size: int) -> bool:
        return bool(np.minimum.reduce(bits.view(f"i{size}"), None) == -(2 ** (8 * size - 1)))

    def set_zeros(x: Any, y: Any, out: Any, where: Any) -> None:
        np.add(x, y, out=out, where=where)

    def clip(x: Any, low: Any, out: Any) -> Any:
        return x.clip(low, _ends(x.dtype)[1], out=out)

    return _extreme(np.maximum, clip, wrong_zero, set_zeros, is_minimum=False)


@kernel("minimum", out=True)
def minimum(xp: Any) -> Any:
    """See the op; of two zeros the smaller is what the sum of their negatives is the negative of."""

    def wrong_zero(bits: Any, size: int) -> bool:
        return bool(np.minimum.reduce(bits.view(f"u{size}"), None) == 0)

    def set_zeros(x: Any, y: Any, out: Any, where: Any) -> None:
        np.subtract(np.negative(x), y, out=out, where=where)
        np.negative(out, out=out, where=where)

    def clip(x: Any, high: Any, out: Any) -> Any:
        return x.clip(_ends(x.dtype)[0], high, out=out)

    return _extreme(np.minimum, clip, wrong_zero, set_zeros, is_minimum=True)


def _extreme(ufunc: Any, clip: Any, wrong_zero: Any, set_zeros: Any, is_minimum: bool) -> Callable[..., Any]:
    winners: dict[Any, int] = {}

    def run(x: Any, y: Any, *, out: Any = None) -> Any:
        dtype = x.dtype
        is_integer = dtype.kind in "iu"
        if (x.ndim == 0) != (y.ndim == 0):
            scalar, other = (y, x) if y.ndim == 0 else (x, y)
            wins = is_integer or bool(scalar) or bool(np.signbit(scalar)) == is_minimum
            if wins and other.size >= MANY and dtype.itemsize >= 4:
                return clip(other, scalar, out)
            winner = winners.get(dtype)
            if winner is None:
                winner = winners[dtype] = 1 if is_integer else _winner(ufunc, dtype)
            if winner >= 0:
                return ufunc(other, scalar, out=out) if wins == (winner == 1) else ufunc(scalar, other, out=out)
        result = ufunc(x, y, out=out)
        if is_integer:
            return result
        result = np.asarray(result)
        if np.count_nonzero(result) == result.size if result.size <= FEW else not wrong_zero(result, dtype.itemsize):
            return result
        both = (x == 0) & (y == 0)
        if both.any():
            set_zeros(x, y, result, both)
        return result

    return run


def _winner(ufunc: Any, dtype: Any) -> int:
    """Which operand NumPy gives when two zeros meet: 0 or 1 if it is always the same, else -1."""
    found = set()
    for zero in (np.array(0.0, dtype), np.array(-0.0, dtype)):
        for count in range(1, 70):
            others = np.full(count, -zero)
            for place, result in enumerate((ufunc(zero, others), ufunc(others, zero))):
                found |= {place if same else 1 - place for same in (np.signbit(result) == np.signbit(zero)).tolist()}
    return found.pop() if len(found) == 1 else -1


_ends_of: dict[Any, tuple[Any, Any]] = {}


def _ends(dtype: Any) -> tuple[Any, Any]:
    """The least and the greatest value of a dtype, infinities included."""
    found = _ends_of.get(dtype)
    if found is None:
        info = np.iinfo(dtype) if dtype.kind in "iu" else None
        low, high = (info.min, info.max) if info is not None else (-np.inf, np.inf)
        found = _ends_of[dtype] = (np.array(low, dtype), np.array(high, dtype))
    return found


@kernel("clip_by_value", out=True)
def clip_by_value(xp: Any) -> Any:
    """See the op; ``clip`` lets the upper bound win, so bounds in the wrong order and NaN are left to the ufuncs."""

    def run(t: Any, low: Any, high: Any, *, out: Any = None) -> Any:
        if low.ndim == high.ndim == 0 and low <= high and t.dtype.itemsize >= 4:
            return t.clip(low, high, out=out)
        if low.ndim > t.ndim or high.ndim > t.ndim:
            raise ValueError(f"bounds of shapes {low.shape} and {high.shape} would enlarge values of shape {t.shape}")
        result = np.minimum(t, high, out=out)
        result = np.maximum(result, low, out=out if out is not None else reused(result))
        if result.shape != t.shape:
            raise ValueError(f"bounds of shapes {low.shape} and {high.shape} would enlarge values of shape {t.shape}")
        return result

    return run
