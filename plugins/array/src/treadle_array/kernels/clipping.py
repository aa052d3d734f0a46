"""Values kept within bounds."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.intermediates import reused


@kernel("clip_by_value", out=True)
def clip_by_value(xp: Any) -> Any:
    """See the op."""

    def run(t: Any, low: Any, high: Any, *, out: Any = None) -> Any:
        result = xp.minimum(t, high, out=out)
        if low.ndim <= result.ndim:
            result = xp.maximum(result, low, out=out if out is not None else reused(result))
        if result.shape != t.shape or low.ndim > t.ndim:
            raise ValueError(f"bounds of shapes {low.shape} and {high.shape} would enlarge values of shape {t.shape}")
        return result

    return run
