"""Powers and roots."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel, same_names
from treadle.errors import InvalidArgumentError
from treadle_array.blocks import elementwise

same_names(__name__, sqrt="sqrt")


@kernel("rsqrt", out=True)
def rsqrt(xp: Any) -> Any:
    """See the op."""

    def steps(x: Any, out: Any, one: Any) -> None:
        xp.sqrt(x, out)
        xp.divide(one, out, out)

    return elementwise(xp, steps, 1)


@kernel("pow", out=True)
def pow(xp: Any) -> Any:
    """See the op."""
    power = xp.power

    def run(x: Any, y: Any, *, out: Any = None) -> Any:
        if x.dtype.kind == "i" and x.size and bool((y < 0).any()):
            raise InvalidArgumentError("an integer cannot be raised to a negative power; use td.cast to make both floating")
        return power(x, y, out=out)

    return run
