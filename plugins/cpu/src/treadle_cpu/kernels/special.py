"""Special functions with SciPy, which is imported when one is first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.declare import kernel
from treadle_array.intermediates import in_float32
from treadle_array.special_functions import igamma_with, igammac_with, lgamma_with, polygamma_with

NAMES = {
    "erf": "erf",
    "erfc": "erfc",
    "erfinv": "erfinv",
    "ndtri": "ndtri",
    "digamma": "psi",
    "zeta": "zeta",
    "bessel_i0": "i0",
    "bessel_i0e": "i0e",
    "bessel_i1": "i1",
    "bessel_i1e": "i1e",
    "bessel_j0": "j0",
    "bessel_j1": "j1",
    "bessel_k0": "k0",
    "bessel_k0e": "k0e",
    "bessel_k1": "k1",
    "bessel_k1e": "k1e",
    "bessel_y0": "y0",
    "bessel_y1": "y1",
    "dawsn": "dawsn",
    "expint": "expi",
    "spence": "spence",
}
"""Op to SciPy's name for it."""


def _declared(op: str, name: str) -> None:
    @kernel(op, out=True)
    def factory(xp: Any) -> Callable[..., Any]:
        from scipy import special

        return in_float32(xp, getattr(special, name))


for _op, _name in NAMES.items():
    _declared(_op, _name)


@kernel("lgamma")
def lgamma(xp: Any) -> Any:
    """See the op."""
    from scipy import special

    return lgamma_with(xp, special)


@kernel("polygamma")
def polygamma(xp: Any) -> Any:
    """See the op."""
    from scipy import special

    return polygamma_with(xp, special)


@kernel("igamma")
def igamma(xp: Any) -> Any:
    """See the op."""
    from scipy import special

    return igamma_with(xp, special)


@kernel("igammac")
def igammac(xp: Any) -> Any:
    """See the op."""
    from scipy import special

    return igammac_with(xp, special)


@kernel("betainc")
def betainc(xp: Any) -> Any:
    """See the op; NaN for parameters that are not above 0."""
    from scipy import special

    def compute(a: Any, b: Any, x: Any, *, out: Any) -> Any:
        return xp.where((a > 0) & (b > 0), special.betainc(a, b, x), a.dtype.type(xp.nan))

    return in_float32(xp, compute)


@kernel("fresnel_sin")
def fresnel_sin(xp: Any) -> Any:
    """See the op."""
    from scipy import special

    def compute(x: Any, *, out: Any) -> Any:
        return special.fresnel(x)[0]

    return in_float32(xp, compute)


@kernel("fresnel_cos")
def fresnel_cos(xp: Any) -> Any:
    """See the op."""
    from scipy import special

    def compute(x: Any, *, out: Any) -> Any:
        return special.fresnel(x)[1]

    return in_float32(xp, compute)


@kernel("igamma_derivative")
def igamma_derivative(xp: Any) -> Any:
    """See the op."""
    from treadle_cpu.incomplete_gamma import derivative

    def run(a: Any, x: Any, *, order: int) -> Any:
        return derivative(a.astype(xp.float64), x.astype(xp.float64), order).astype(a.dtype)

    return run
