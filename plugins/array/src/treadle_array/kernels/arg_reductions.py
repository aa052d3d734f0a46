"""Places of the largest and the smallest along an axis; the first of equal ones, and never NaN where there is a number."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType
from treadle_array.axis_sums import widened
from treadle_array.places import with_axis


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
        if wide.dtype.kind == "f" and wide.size and bool(xp.isnan(getattr(wide, extreme)())):
            wide = xp.where(xp.isnan(wide), worst, wide)
        return getattr(wide, method)(axis=at).astype(output_type.numpy)

    return run
