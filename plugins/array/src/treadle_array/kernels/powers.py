"""Powers and roots."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel, same_names
from treadle.errors import InvalidArgumentError
from treadle_array.intermediates import in_float32, reused

same_names(__name__, sqrt="sqrt")


@kernel("rsqrt", out=True)
def rsqrt(xp: Any) -> Any:
    """See the op."""

    def compute(x: Any, *, out: Any) -> Any:
        root = xp.sqrt(x, out=out)
        return xp.divide(1, root, out=out if out is not None else reused(root))

    return in_float32(xp, compute)


@kernel("pow", out=True)
def pow(xp: Any) -> Any:
    """See the op."""
    power = xp.power

    def run(x: Any, y: Any, *, out: Any = None) -> Any:
        if x.dtype.kind == "i" and x.size and bool((y < 0).any()):
            raise InvalidArgumentError("an integer cannot be raised to a negative power; use td.cast to make both floating")
        return power(x, y, out=out)

    return run
