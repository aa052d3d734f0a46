"""From one dtype to another, by one rule for every element whatever its position."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType


@kernel("cast")
def cast(xp: Any) -> Any:
    """Floats out of an integer dtype's range, and NaN, give its smallest value (int32's, then wrapped, for narrower ones)."""
    converters: dict[Any, Any] = {}

    def run(x: Any, *, dtype: DType) -> Any:
        source, target = x.dtype, dtype.numpy
        if target.kind == "b":
            return x != 0
        if source.kind == "c" and target.kind != "c":
            x = x.real
            source = x.dtype
        if target.kind not in "iu" or source.kind in "iub":
            return x.astype(target)
        if source.itemsize < 4:
            x = x.astype(xp.float32)
        convert = converters.get((x.dtype, target))
        if convert is None:
            convert = converters[x.dtype, target] = _plain if _follows_the_rule(xp, x.dtype, target) else _by_the_rule
        return convert(xp, x, target)

    return run


def _plain(xp: Any, x: Any, target: Any) -> Any:
    return x.astype(target)


def _by_the_rule(xp: Any, x: Any, target: Any) -> Any:
    """Truncation; what the wide integer cannot hold becomes its smallest value, and the narrow ones take the low bits of that."""
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


def _follows_the_rule(xp: Any, source: Any, target: Any) -> bool:
    """Whether the processor's own conversion, which C leaves undefined out of range, does the same in every lane; x86's mostly does."""
    ends = [sign * 2.0**bits * factor for sign in (1, -1) for bits in (7, 8, 15, 16, 31, 32, 63, 64, 100) for factor in (0.75, 1.0, 1.25)]
    values = xp.array([float("nan"), float("inf"), -float("inf"), 3e9, -3e9, 1.9, -1.9, 0.5, -0.5, -0.0, *ends], source)
    wanted = _by_the_rule(xp, values, target)
    lengths = (1, 2, 3, 5, 7, 9, 17, 33, len(values))
    return all(bool((values[i : i + n].astype(target) == wanted[i : i + n]).all()) for n in lengths for i in range(len(values)))


@kernel("bitcast")
def bitcast(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, dtype: DType) -> Any:
        target = dtype.numpy
        if target.itemsize == x.dtype.itemsize:
            return x.view(target)
        if target.itemsize < x.dtype.itemsize:
            return x.reshape((*x.shape, 1)).view(target)
        if x.ndim == 0 or x.shape[-1] * x.dtype.itemsize != target.itemsize:
            raise ValueError(f"the last axis of shape {x.shape} does not hold one {target}")
        return x.view(target).reshape(x.shape[:-1])

    return run
