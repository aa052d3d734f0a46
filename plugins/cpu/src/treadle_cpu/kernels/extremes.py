"""The larger and the smaller of two at the speed of NumPy's ufuncs.

NumPy gives whichever zero the processor prefers when -0.0 meets 0.0. That only matters where the result is 0, which is looked for first; of a
scalar zero it is enough to know on which side the processor looks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treadle.declare import kernel

FEW = 512
"""Elements up to which counting zeros is cheaper than comparing with 0."""


@kernel("maximum", out=True)
def maximum(xp: Any) -> Any:
    """See the op; of two zeros the larger is their sum."""

    def larger_zero(x: Any, y: Any, out: Any, where: Any) -> None:
        np.add(x, y, out=out, where=where)

    return _extreme(np.maximum, larger_zero, loses=np.signbit)


@kernel("minimum", out=True)
def minimum(xp: Any) -> Any:
    """See the op; of two zeros the smaller is what the sum of their negatives is the negative of."""

    def smaller_zero(x: Any, y: Any, out: Any, where: Any) -> None:
        np.subtract(np.negative(x), y, out=out, where=where)
        np.negative(out, out=out, where=where)

    return _extreme(np.minimum, smaller_zero, loses=lambda zero: not np.signbit(zero))


def _extreme(ufunc: Any, fix: Callable[..., None], loses: Callable[[Any], Any]) -> Callable[..., Any]:
    winners: dict[Any, int] = {}

    def run(x: Any, y: Any, *, out: Any = None) -> Any:
        if x.dtype.kind in "iu":
            return ufunc(x, y, out=out)
        if y.ndim == 0 or x.ndim == 0:
            scalar, other = (y, x) if y.ndim == 0 else (x, y)
            if scalar:  # not 0, so that no two zeros meet
                return ufunc(other, scalar, out=out)
            winner = winners.get(x.dtype)
            if winner is None:
                winner = winners[x.dtype] = _winner(ufunc, x.dtype)
            if winner >= 0 and other.ndim:
                first = (winner == 0) != bool(loses(scalar))  # the scalar goes where its zero wins, or where the other's does
                return ufunc(scalar, other, out=out) if first else ufunc(other, scalar, out=out)
        result = np.asarray(ufunc(x, y, out=out))
        if np.count_nonzero(result) == result.size if result.size <= FEW else not (result == 0).any():
            return result
        both = (x == 0) & (y == 0)
        if both.any():
            fix(x, y, out=result, where=both)
        return result

    return run


def _winner(ufunc: Any, dtype: Any) -> int:
    """Which operand NumPy gives when two zeros meet: 0 or 1 if it is always the same, else -1."""
    found = set()
    for scalar in (0.0, -0.0):
        zero = np.array(scalar, dtype)
        for count in range(1, 70):
            others = np.full(count, -scalar, dtype)
            for place, result in enumerate((ufunc(zero, others), ufunc(others, zero))):
                is_scalar = np.signbit(result) == np.signbit(zero)
                found |= {place if same else 1 - place for same in is_scalar.tolist()}
    return found.pop() if len(found) == 1 else -1
