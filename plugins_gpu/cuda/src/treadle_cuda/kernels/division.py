"""Remainders: CuPy's ``remainder`` of floats is ``x - floor(x / y) * y``, NaN for ``5 % inf``; its ``fmod`` of integers goes through float64."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.errors import InvalidArgumentError


def _require_no_zero(xp: Any, y: Any) -> None:
    if y.dtype.kind in "iu" and y.size and bool((y == 0).any()):
        raise InvalidArgumentError("an integer is divided by zero; only floats have a remainder then")


@kernel("floormod")
def floormod(xp: Any) -> Any:
    """See the op; from C's ``fmod``, where the signs differ one more ``y``, and 0 has the sign of ``y``."""

    def run(x: Any, y: Any) -> Any:
        if x.dtype.kind in "iu":
            if x.size:
                _require_no_zero(xp, y)
            return xp.remainder(x, y)
        rest = xp.fmod(x, y)
        moved = xp.where((rest < 0) != (y < 0), rest + y, rest)
        return xp.where(rest == 0, xp.copysign(rest, y), moved)

    return run


@kernel("truncatemod")
def truncatemod(xp: Any) -> Any:
    """See the op; of integers from the remainder that has the sign of ``y``."""

    def run(x: Any, y: Any) -> Any:
        if x.dtype.kind not in "iu":
            return xp.fmod(x, y)
        if x.size:
            _require_no_zero(xp, y)
        rest = xp.remainder(x, y)
        return rest if x.dtype.kind == "u" else xp.where((rest != 0) & ((x < 0) != (y < 0)), rest - y, rest)

    return run
