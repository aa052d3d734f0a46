"""Quotients and remainders, rounded down or toward zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.declare import kernel
from treadle.errors import InvalidArgumentError
from treadle_array.intermediates import reused


def _refuse_zero(xp: Any, x: Any, y: Any) -> None:
    if x.size and int(xp.count_nonzero(y)) != y.size:
        raise InvalidArgumentError("an integer is divided by zero; only floats have a quotient then")


@kernel("floordiv", out=True)
def floordiv(xp: Any) -> Any:
    """See the op."""

    def integers(x: Any, y: Any, out: Any) -> Any:
        return xp.floor_divide(x, y, out=out)

    return _quotient(xp, integers, xp.floor)


@kernel("truncatediv")
def truncatediv(xp: Any) -> Any:
    """See the op.

    The float64 quotient of integers of 32 bits never rounds across a whole number. Of wider ones with different signs, a quotient that leaves a
    remainder was rounded one too far down.
    """

    def integers(x: Any, y: Any, out: Any) -> Any:
        if x.dtype.itemsize <= 4:
            quotient = xp.true_divide(x, y).astype(xp.int64).astype(x.dtype)
        elif x.dtype.kind == "u":
            quotient = xp.floor_divide(x, y)
        else:
            down = xp.floor_divide(x, y)
            quotient = xp.add(down, (xp.multiply(down, y) != x) & (xp.bitwise_xor(x, y) < 0))
        return quotient

    return _quotient(xp, integers, xp.trunc)


def _quotient(xp: Any, integers: Callable[..., Any], whole: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, y: Any, *, out: Any = None) -> Any:
        if x.dtype.kind in "iu":
            _refuse_zero(xp, x, y)
            return integers(x, y, out)
        quotient = xp.divide(x, y, out=out)
        return whole(quotient, out=out if out is not None else reused(quotient))

    return run


@kernel("floormod", out=True)
def floormod(xp: Any) -> Any:
    """See the op."""
    return _remainder(xp, xp.remainder)


@kernel("truncatemod", out=True)
def truncatemod(xp: Any) -> Any:
    """See the op."""
    return _remainder(xp, xp.fmod)


def _remainder(xp: Any, remainder: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, y: Any, *, out: Any = None) -> Any:
        if x.dtype.kind in "iu":
            _refuse_zero(xp, x, y)
        return remainder(x, y, out=out)

    return run


@kernel("divide_integers")
def divide_integers(xp: Any) -> Any:
    """See the op; of short integers the float64 quotient rounds to the float32 one."""

    def run(x: Any, y: Any) -> Any:
        quotient = xp.true_divide(x, y)
        return quotient.astype(xp.float32) if x.dtype.itemsize <= 2 else quotient

    return run
