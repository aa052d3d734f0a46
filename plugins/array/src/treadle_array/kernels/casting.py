"""From one dtype to another, by one rule for every element whatever its position."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType


@kernel("cast")
def cast(xp: Any) -> Any:
    """Floats out of an integer dtype's range, and NaN, give its smallest value (int32's, then wrapped, for narrower ones)."""

    def run(x: Any, *, dtype: DType) -> Any:
        source, target = x.dtype, dtype.numpy
        if target.kind == "b":
            return x != 0
        if source.kind == "c" and target.kind != "c":
            x = x.real
            source = x.dtype
        if target.kind in "iu" and source.kind not in "iub":
            return _to_integer(xp, x, target)
        return x.astype(target)

    return run


def _to_integer(xp: Any, x: Any, target: Any) -> Any:
    """Truncation; what the wide integer cannot hold becomes its smallest value, and the narrow ones take the low bits of that."""
    if x.dtype.itemsize < 4:
        x = x.astype(xp.float32)
    if target == xp.uint64:
        high = x >= 2.0**63
        low = _checked(xp, xp.where(high, x - 2.0**63, x), xp.int64, 63).astype(xp.uint64)
        return xp.where(high & (x < 2.0**64), low + xp.uint64(2**63), low)
    if target.itemsize == 8 or target == xp.uint32:
        return _checked(xp, x, xp.int64, 63).astype(target)
    return _checked(xp, x, xp.int32, 31).astype(target)


def _checked(xp: Any, x: Any, wide: Any, bits: int) -> Any:
    fits = (x < 2.0**bits) & (x >= -(2.0**bits))
    return xp.where(fits, xp.where(fits, x, 0).astype(wide), xp.array(-(2**bits), wide))
