"""Special functions through ``cupyx.scipy.special``, which has no ``dawsn``, ``spence`` and Fresnel integrals: those ops have no kernel here."""

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
    "digamma": "digamma",
    "zeta": "zeta",
    "betainc": "betainc",
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
    "expint": "expi",
}
"""Op to CuPy's name for it."""


def _declared(op: str, name: str) -> None:
    @kernel(op, out=True)
    def factory(xp: Any) -> Callable[..., Any]:
        from cupyx.scipy import special

        return in_float32(xp, getattr(special, name))


for _op, _name in NAMES.items():
    _declared(_op, _name)


@kernel("lgamma")
def lgamma(xp: Any) -> Any:
    """See the op."""
    from cupyx.scipy import special

    return lgamma_with(xp, special)


@kernel("polygamma")
def polygamma(xp: Any) -> Any:
    """See the op."""
    from cupyx.scipy import special

    return polygamma_with(xp, special)


@kernel("igamma")
def igamma(xp: Any) -> Any:
    """See the op."""
    from cupyx.scipy import special

    return igamma_with(xp, special)


@kernel("igammac")
def igammac(xp: Any) -> Any:
    """See the op."""
    from cupyx.scipy import special

    return igammac_with(xp, special)
