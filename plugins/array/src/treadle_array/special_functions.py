"""Special functions from a library with SciPy's names, put right where it differs from TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle_array.intermediates import in_float32


def lgamma_with(xp: Any, special: Any) -> Callable[..., Any]:
    """The logarithm of the absolute gamma function; infinite at -infinity too, as in C."""

    def compute(x: Any, *, out: Any) -> Any:
        return xp.where(xp.isinf(x), x.dtype.type(xp.inf), special.gammaln(x))

    return in_float32(xp, compute)


def polygamma_with(xp: Any, special: Any) -> Callable[..., Any]:
    """Derivatives of the digamma function; the sign of the series is that of ``(-1) ** (a + 1)``."""

    def compute(a: Any, x: Any, *, out: Any) -> Any:
        wide_a, wide_x = a.astype(xp.float64), x.astype(xp.float64)
        sign = xp.where(wide_a % 2 == 0, -1.0, 1.0)
        value = sign * special.gamma(wide_a + 1) * special.zeta(wide_a + 1, wide_x)
        value = xp.where(wide_a == 0, special.digamma(wide_x), value)
        return xp.where((wide_a >= 0) & (wide_a == xp.floor(wide_a)), value, xp.nan).astype(x.dtype)

    return in_float32(xp, compute)


def igamma_with(xp: Any, special: Any) -> Callable[..., Any]:
    """The lower incomplete gamma function; NaN for an ``a`` that is not above 0."""

    def compute(a: Any, x: Any, *, out: Any) -> Any:
        return xp.where((a <= 0) & (x != 0), a.dtype.type(xp.nan), special.gammainc(a, x))

    return in_float32(xp, compute)


def igammac_with(xp: Any, special: Any) -> Callable[..., Any]:
    """The upper incomplete gamma function; NaN for an ``a`` that is not above 0."""

    def compute(a: Any, x: Any, *, out: Any) -> Any:
        return xp.where(a <= 0, a.dtype.type(xp.nan), special.gammaincc(a, x))

    return in_float32(xp, compute)
