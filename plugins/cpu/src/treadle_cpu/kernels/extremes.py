"""The larger and the smaller of two at the speed of NumPy's ufuncs, and values kept within bounds in one pass.

When -0.0 meets 0.0, NumPy gives whichever the processor prefers. The wrong one can only be a -0.0 among the larger ones, which is the smallest
signed integer of its size, or a 0.0 among the smaller ones, the smallest unsigned integer: one fast reduction tells that there is none.
With a scalar, ``ndarray.clip`` is several times as fast as the ufuncs.
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
SIGNED = {size: (np.dtype(f"i{size}"), -(2 ** (8 * size - 1))) for size in (1, 2, 4, 8)}
UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


@kernel("maximum", out=True)
def maximum(xp: Any) -> Any:
    """See the op; of two zeros the larger is their sum."""

    def wrong_zero(result: Any) -> bool:
        signed, least = SIGNED[result.dtype.itemsize]
        return bool(np.minimum.reduce(result.view(signed), None) == least)

    def set_zeros(x: Any, y: Any, out: Any, where: Any) -> None:
        np.add(x, y, out=out, where=where)

    def clip(x: Any, low: Any, out: Any) -> Any:
        return x.clip(low, _ends(x.dtype)[1], out=out)

    return _extreme(np.maximum, clip, wrong_zero, set_zeros, is_minimum=False)


@kernel("minimum", out=True)
def minimum(xp: Any) -> Any:
    """See the op; of two zeros the smaller is what the sum of their negatives is the negative of."""

    def wrong_zero(result: Any) -> bool:
        return not np.minimum.reduce(result.view(UNSIGNED[result.dtype.itemsize]), None)

    def set_zeros(x: Any, y: Any, out: Any, where: Any) -> None:
        np.subtract(np.negative(x), y, out=out, where=where)
        np.negative(out, out=out, where=where)

    def clip(x: Any, high: Any, out: Any) -> Any:
        return x.clip(_ends(x.dtype)[0], high, out=out)

    return _extreme(np.minimum, clip, wrong_zero, set_zeros, is_minimum=True)


def _extreme(ufunc: Any, clip: Any, wrong_zero: Any, set_zeros: Any, is_minimum: bool) -> Callable[..., Any]:
    known: dict[Any, tuple[int, bool]] = {}

    def with_scalar(x: Any, scalar: Any, out: Any) -> Any:
        dtype = x.dtype
        is_fast = x.size >= MANY and dtype.itemsize >= 4
        if dtype.kind in "iu" or scalar:  # no two zeros meet, or they are alike
            return clip(x, scalar, out) if is_fast else ufunc(x, scalar, out=out)
        facts = known.get(dtype)
        if facts is None:
            facts = known[dtype] = (_winner(ufunc, dtype), _keeps_zeros(clip, dtype))
        winner, clip_keeps_zeros = facts
        scalar_wins = bool(np.signbit(scalar)) == is_minimum
        if is_fast and clip_keeps_zeros and not scalar_wins:
            return clip(x, scalar, out)
        if is_fast and not is_minimum and scalar_wins:
            result = clip(x, scalar, out)
            return np.add(result, 0, out=result)  # -0.0 + 0.0 is 0.0
        if winner >= 0:
            return ufunc(x, scalar, out=out) if scalar_wins == (winner == 1) else ufunc(scalar, x, out=out)
        return general(x, scalar, out)

    def general(x: Any, y: Any, out: Any) -> Any:
        result = np.asarray(ufunc(x, y, out=out))
        if np.count_nonzero(result) == result.size if result.size <= FEW else not wrong_zero(result):
            return result
        both = (x == 0) & (y == 0)
        if both.any():
            set_zeros(x, y, result, both)
        return result

    def run(x: Any, y: Any, *, out: Any = None) -> Any:
        if x.ndim and not y.ndim:
            return with_scalar(x, y, out)
        if y.ndim and not x.ndim:
            return with_scalar(y, x, out)
        return ufunc(x, y, out=out) if x.dtype.kind in "iu" else general(x, y, out)

    return run


def _winner(ufunc: Any, dtype: Any) -> int:
    """Which operand a ufunc gives when two zeros meet: 0 or 1 if it is always the same, else -1."""
    found = set()
    for zero, others in _meetings(dtype):
        for place, result in enumerate((ufunc(zero, others), ufunc(others, zero))):
            found |= {place if same else 1 - place for same in (np.signbit(result) == np.signbit(zero)).tolist()}
    return found.pop() if len(found) == 1 else -1


def _keeps_zeros(clip: Any, dtype: Any) -> bool:
    """Whether clipping to a zero leaves zeros of the other sign alone."""
    return all((np.signbit(clip(others, zero, None)) == np.signbit(others)).all() for zero, others in _meetings(dtype))


def _meetings(dtype: Any) -> list[tuple[Any, Any]]:
    """A zero and vectors of the other one, of every length that a loop may treat in its own way."""
    zeros = np.array(0.0, dtype), np.array(-0.0, dtype)
    return [(zero, np.full(count, -zero)) for zero in zeros for count in range(1, 70)]


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
