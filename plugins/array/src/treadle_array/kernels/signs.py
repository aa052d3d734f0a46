"""Absolute values and signs."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel, same_names

same_names(__name__, abs="absolute")


@kernel("sign", out=True)
def sign(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, out: Any = None) -> Any:
        if x.dtype.kind != "c":
            return xp.sign(x, out=out)
        size = xp.absolute(x)
        return xp.divide(x, xp.where(size == 0, size.dtype.type(1), size), out=out)

    return run
