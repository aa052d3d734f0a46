"""Places of the largest and the smallest along an axis; the first of equal ones, and never NaN where there is a number."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType
from treadle_array.axis_sums import widened
from treadle_array.ordering import taken_along
from treadle_array.places import with_axis

MANY = 32_768
"""Elements from which looking at the places found for NaN beats looking at all."""


@kernel("argmax")
def argmax(xp: Any) -> Any:
    """See the op."""
    return _place(xp, "argmax", "max", -math.inf)


@kernel("argmin")
def argmin(xp: Any) -> Any:
    """See the op."""
    return _place(xp, "argmin", "min", math.inf)


def _place(xp: Any, method: str, extreme: str, worst: float) -> Any:
    def run(input: Any, *, axis: int, output_type: DType) -> Any:
        at = with_axis(axis, input.ndim)
        if not input.shape[at]:
            raise ValueError(f"axis {axis} of shape {input.shape} is empty: there is nothing to choose from")
        wide = widened(xp, input)
        place = getattr(wide, method)(axis=at)
        if wide.dtype.kind == "f" and wide.size:
            # where there is NaN, it wins: it is at a place found, and it is the extreme of all
            if at == wide.ndim - 1 and (wide.ndim == 1 or wide.size >= MANY):
                chosen = taken_along(xp, wide, place[..., None])
            else:
                chosen = getattr(wide, extreme)()
            if bool((chosen != chosen).any()):
                place = getattr(xp.where(xp.isnan(wide), worst, wide), method)(axis=at)
        return place.astype(output_type.numpy, copy=False)

    return run
