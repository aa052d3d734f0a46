"""The larger and the smaller of two, with NaN from either side and -0.0 below 0.0."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


@kernel("maximum")
def maximum(xp: Any) -> Any:
    """See the op; of two zeros the larger is their sum."""

    def run(x: Any, y: Any) -> Any:
        larger = xp.maximum(x, y)
        if x.dtype.kind in "iu":
            return larger
        return xp.where((x == 0) & (y == 0), xp.add(x, y), larger)

    return run


@kernel("minimum")
def minimum(xp: Any) -> Any:
    """See the op; of two zeros the smaller is what the sum of their negatives is the negative of."""

    def run(x: Any, y: Any) -> Any:
        smaller = xp.minimum(x, y)
        if x.dtype.kind in "iu":
            return smaller
        return xp.where((x == 0) & (y == 0), xp.negative(xp.subtract(xp.negative(x), y)), smaller)

    return run
