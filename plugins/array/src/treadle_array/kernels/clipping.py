"""Values kept within bounds."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.intermediates import reused


@kernel("clip_by_value", out=True)
def clip_by_value(xp: Any) -> Any:
    """See the op."""

    def run(t: Any, low: Any, high: Any, *, out: Any = None) -> Any:
        if low.ndim > t.ndim or high.ndim > t.ndim:
            raise ValueError(f"bounds of shapes {low.shape} and {high.shape} would enlarge values of shape {t.shape}")
        result = xp.minimum(t, high, out=out)
        result = xp.maximum(result, low, out=out if out is not None else reused(result))
        if result.shape != t.shape:
            raise ValueError(f"bounds of shapes {low.shape} and {high.shape} would enlarge values of shape {t.shape}")
        return result

    return run
