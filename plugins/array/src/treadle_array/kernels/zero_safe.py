"""Products, quotients and logarithms that are 0 where one factor is 0."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.intermediates import in_float32


@kernel("multiply_no_nan")
def multiply_no_nan(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, y: Any) -> Any:
        return xp.where(y == 0, x.dtype.type(0), xp.multiply(x, y))

    return run


@kernel("divide_no_nan")
def divide_no_nan(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, y: Any) -> Any:
        return xp.where(y == 0, x.dtype.type(0), xp.divide(x, y))

    return run


@kernel("xdivy")
def xdivy(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, y: Any) -> Any:
        return xp.where(x == 0, x.dtype.type(0), xp.divide(x, y))

    return run


@kernel("xlogy")
def xlogy(xp: Any) -> Any:
    """See the op."""
    return _times_logarithm(xp, xp.log)


@kernel("xlog1py")
def xlog1py(xp: Any) -> Any:
    """See the op."""
    return _times_logarithm(xp, xp.log1p)


def _times_logarithm(xp: Any, logarithm: Any) -> Any:
    def compute(x: Any, y: Any, *, out: Any) -> Any:
        return xp.where(x == 0, x.dtype.type(0), xp.multiply(x, logarithm(y)))

    return in_float32(xp, compute)
