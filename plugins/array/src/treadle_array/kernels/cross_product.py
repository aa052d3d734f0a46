"""The cross product of vectors in three dimensions."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


@kernel("cross")
def cross(xp: Any) -> Any:
    """See the op."""

    def run(a: Any, b: Any) -> Any:
        if a.shape != b.shape or not a.ndim or a.shape[-1] != 3:
            raise ValueError(f"a of shape {a.shape} and b of shape {b.shape} are no vectors of 3 elements")
        a0, a1, a2 = (a[..., i] for i in range(3))
        b0, b1, b2 = (b[..., i] for i in range(3))
        return xp.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], -1)

    return run
