"""Complex numbers and their parts."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


@kernel("complex")
def complex_(xp: Any) -> Any:
    """See the op."""

    def run(real: Any, imag: Any) -> Any:
        result = xp.empty(xp.broadcast(real, imag).shape, xp.complex64 if real.dtype.itemsize == 4 else xp.complex128)
        result.real = real
        result.imag = imag
        return result

    return run


@kernel("real")
def real(xp: Any) -> Any:
    """See the op."""

    def run(x: Any) -> Any:
        return x.real.copy()

    return run


@kernel("imag")
def imag(xp: Any) -> Any:
    """See the op."""

    def run(x: Any) -> Any:
        return x.imag.copy()

    return run


@kernel("angle")
def angle(xp: Any) -> Any:
    """See the op."""

    def run(x: Any) -> Any:
        return xp.arctan2(x.imag, x.real)

    return run
