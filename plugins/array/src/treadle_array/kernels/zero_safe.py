"""Products, quotients and logarithms that are 0 where one factor is 0, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.declare import kernel
from treadle_array.blocks import scalars
from treadle_array.intermediates import of_two


@kernel("multiply_no_nan", out=True)
@kernel("slope_product", out=True)
def multiply_no_nan(xp: Any) -> Any:
    """See the ops."""

    def product(x: Any, y: Any, out: Any) -> Any:
        xp.multiply(x, y, out)
        return y

    return _zero_where_zero(xp, product)


@kernel("divide_no_nan", out=True)
def divide_no_nan(xp: Any) -> Any:
    """See the op."""

    def quotient(x: Any, y: Any, out: Any) -> Any:
        xp.divide(x, y, out)
        return y

    return _zero_where_zero(xp, quotient)


@kernel("xdivy", out=True)
def xdivy(xp: Any) -> Any:
    """See the op."""

    def quotient(x: Any, y: Any, out: Any) -> Any:
        xp.divide(x, y, out)
        return x

    return _zero_where_zero(xp, quotient)


@kernel("xlogy", out=True)
def xlogy(xp: Any) -> Any:
    """See the op."""

    def product(x: Any, y: Any, out: Any) -> Any:
        xp.multiply(x, xp.log(y), out)
        return x

    return _zero_where_zero(xp, product)


@kernel("xlog1py", out=True)
def xlog1py(xp: Any) -> Any:
    """See the op."""

    def product(x: Any, y: Any, out: Any) -> Any:
        xp.multiply(x, xp.log1p(y), out)
        return x

    return _zero_where_zero(xp, product)


def _zero_where_zero(xp: Any, fill: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """A kernel that puts 0 where what ``fill`` gives back is 0."""
    zeros = scalars(xp, 0)

    def steps(x: Any, y: Any, out: Any) -> None:
        decisive = fill(x, y, out)
        (zero,) = zeros(x.dtype)
        xp.copyto(out, zero, where=xp.equal(decisive, zero))

    return of_two(xp, steps)
