"""Arithmetic and exponentials, element by element."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel, same_names
from treadle_array.intermediates import in_float32, reused

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

    def run(x: Any, y: Any, *, out: Any = None) -> Any:
        difference = xp.subtract(x, y, out=out)
        if x.dtype.kind != "c":
            return xp.square(difference, out=out if out is not None else reused(difference))
        squared = (xp.square(difference.real) + xp.square(difference.imag)).astype(x.dtype)
        if out is None:
            return squared
        out[...] = squared
        return out

    return run


@kernel("tanh_grad", out=True)
def tanh_grad(xp: Any) -> Any:
    """See the op."""

    def compute(y: Any, g: Any, *, out: Any) -> Any:
        slope = xp.multiply(y, y)
        slope = xp.subtract(1, slope, out=reused(slope))
        return xp.multiply(slope, g, out=out)

    return in_float32(xp, compute)
