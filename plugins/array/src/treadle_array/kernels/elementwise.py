"""Arithmetic and exponentials, element by element."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel, same_names
from treadle_array.blocks import scalars
from treadle_array.intermediates import of_two

same_names(
    __name__,
    add="add",
    subtract="subtract",
    multiply="multiply",
    divide="divide",
    negative="negative",
    reciprocal="reciprocal",
    square="square",
    exp="exp",
    expm1="expm1",
    log="log",
    log1p="log1p",
    tanh="tanh",
    conj="conjugate",
)


@kernel("squared_difference", out=True)
def squared_difference(xp: Any) -> Any:
    """See the op."""

    def steps(x: Any, y: Any, out: Any) -> None:
        xp.subtract(x, y, out)
        if out.dtype.kind == "c":
            out[...] = xp.square(out.real) + xp.square(out.imag)
        else:
            xp.square(out, out)

    return of_two(xp, steps)


@kernel("tanh_grad", out=True)
def tanh_grad(xp: Any) -> Any:
    """See the op."""
    ones = scalars(xp, 1)

    def steps(y: Any, g: Any, out: Any) -> None:
        slope = xp.subtract(ones(y.dtype)[0], xp.multiply(y, y))
        xp.multiply(slope, g, out)  # not in place: of one complex number NumPy's product then rounds otherwise

    return of_two(xp, steps)
