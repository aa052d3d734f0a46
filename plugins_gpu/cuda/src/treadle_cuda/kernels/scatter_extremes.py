"""The larger or smaller of elements and updates, as unsigned integers that order as the elements do.

Atomic maxima of floats skip NaN, those of float64 round to float32 (CuPy 14), and CuPy 13 has none for int64; those of unsigned integers are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.declare import kernel
from treadle_array.kernels.scattering import scatter_extreme_with


@kernel("tensor_scatter_nd_max")
def tensor_scatter_nd_max(xp: Any) -> Any:
    """See the op."""
    return scatter_extreme_with(xp, _at(xp, xp.maximum, nan_first=False))


@kernel("tensor_scatter_nd_min")
def tensor_scatter_nd_min(xp: Any) -> Any:
    """See the op."""
    return scatter_extreme_with(xp, _at(xp, xp.minimum, nan_first=True))


def _at(xp: Any, combine: Any, nan_first: bool) -> Callable[[Any, Any, Any], None]:
    def at(target: Any, places: Any, values: Any) -> None:
        if target.dtype.kind == "b":
            values = values if combine is xp.maximum else ~values
            target[places[values]] = combine is xp.maximum
            return
        keys = _ordered(xp, target, nan_first)
        combine.at(keys, places, _ordered(xp, values, nan_first))
        target[...] = _restored(xp, keys, target.dtype)

    return at


def _ordered(xp: Any, x: Any, nan_first: bool) -> Any:
    """Unsigned integers that order as ``x`` does, -0.0 below 0.0, and NaN at the end that wins."""
    if x.dtype.kind == "u":
        return x.copy()
    wide = xp.uint64 if x.dtype.itemsize == 8 else xp.uint32
    top = wide(1 << (8 * x.dtype.itemsize - 1))
    if x.dtype.kind == "i":
        return x.view(wide) ^ top
    bits = xp.where(xp.isnan(x), xp.copysign(x.dtype.type(xp.nan), x.dtype.type(-1 if nan_first else 1)), x).view(wide)
    return xp.where(bits >= top, ~bits, bits | top)


def _restored(xp: Any, keys: Any, dtype: Any) -> Any:
    if dtype.kind == "u":
        return keys
    top = keys.dtype.type(1 << (8 * dtype.itemsize - 1))
    if dtype.kind == "i":
        return (keys ^ top).view(dtype)
    return xp.where(keys >= top, keys ^ top, ~keys).view(dtype)
