"""Sums, products, means and extremes over axes."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


@kernel("reduce_sum")
def reduce_sum(xp: Any) -> Any:
    """See the op; short floats are summed in float32."""

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        if x.dtype.itemsize == 2 and x.dtype.kind not in "iu":
            return xp.add.reduce(x.astype(xp.float32), axis=axis, keepdims=keepdims).astype(x.dtype)
        return xp.add.reduce(x, axis=axis, dtype=x.dtype, keepdims=keepdims)

    return run
