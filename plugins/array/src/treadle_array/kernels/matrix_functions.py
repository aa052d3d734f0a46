"""The exponential of matrices by scaling, a Padé approximant and squaring.

Sources:
    N. Higham, "The scaling and squaring method for the matrix exponential revisited" (2005): the degrees, and the norms up to which they do.
"""

from __future__ import annotations

from math import factorial
from typing import Any

from treadle.declare import kernel
from treadle_array.matrices import square, widened

_REACH = {3: 1.495585217958292e-2, 5: 2.539398330063230e-1, 7: 9.504178996162932e-1, 9: 2.097847961257068, 13: 5.371920351148152}
"""Degree of the approximant to the norm up to which it is exact to double precision."""


def _coefficients(degree: int) -> tuple[float, ...]:
    """Of the numerator, the constant first, with 1 for the highest power."""
    return tuple([factorial(2 * degree - k) / (factorial(k) * factorial(degree - k)) for k in range(degree + 1)])


_PADE = {degree: _coefficients(degree) for degree in _REACH}


@kernel("expm")
def expm(xp: Any) -> Any:
    """See the op; short floats and float32 are computed in double precision."""

    def run(input: Any) -> Any:
        if not square(input).size:
            return input.copy()
        a = in_double(xp, input)
        norms = xp.abs(a).sum(axis=-2).max(axis=-1)
        finite = xp.where(xp.isfinite(norms), norms, 0)
        largest = float(finite.max())
        degree = next((m for m, reach in _REACH.items() if largest <= reach), 13)
        squarings = xp.maximum(xp.ceil(xp.log2(xp.maximum(finite, 1e-300) / _REACH[13])), 0)
        result = _approximant(xp, a if largest <= _REACH[13] else a / (2.0**squarings)[..., None, None], degree)
        for i in range(int(squarings.max())):
            squared = xp.matmul(result, result.copy())
            result = squared if a.ndim == 2 else xp.where((squarings > i)[..., None, None], squared, result)
        if not bool(xp.isfinite(norms).all()):
            result = xp.where(xp.isfinite(norms)[..., None, None], result, xp.nan)
        return result.astype(input.dtype, order="C", copy=False)

    return run


def in_double(xp: Any, input: Any) -> Any:
    """Matrices in double precision."""
    wide = widened(xp, input)
    return wide.astype(xp.complex128 if wide.dtype.kind == "c" else xp.float64)


def _approximant(xp: Any, a: Any, degree: int) -> Any:
    b = _PADE[degree]
    a2 = xp.matmul(a, a.copy())  # a copy: BLAS takes another way for a matrix times itself
    powers = [a2]
    if degree > 3:
        powers.append(xp.matmul(a2, a2.copy()))
    if degree > 5:
        powers.append(xp.matmul(powers[1], a2))
    if degree == 9:
        powers.append(xp.matmul(powers[2], a2))
    if degree == 13:
        a6 = powers[2]
        odd = xp.matmul(a6, _sum(xp, powers, b[9::2]))
        even = xp.matmul(a6, _sum(xp, powers, b[8::2]))
        odd += _sum(xp, powers, b[3:9:2], b[1])
        even += _sum(xp, powers, b[2:8:2], b[0])
    else:
        odd, even = _sum(xp, powers, b[3::2], b[1]), _sum(xp, powers, b[2::2], b[0])
    u = xp.matmul(a, odd)
    below = xp.subtract(even, u)
    above = xp.add(even, u, out=even)
    if not bool(xp.isfinite(below).all()):
        finite = xp.isfinite(below).all(axis=(-2, -1), keepdims=True)
        below = xp.where(finite, below, xp.eye(a.shape[-1], dtype=a.dtype))
    return xp.linalg.solve(below, above)


def _sum(xp: Any, powers: list[Any], coefficients: tuple[float, ...], diagonal: float = 0.0) -> Any:
    """The sum of matrices times numbers, and a number on the diagonal."""
    total = powers[0] * coefficients[0]
    term = xp.empty_like(total)
    for power, coefficient in zip(powers[1:], coefficients[1:], strict=True):
        total += xp.multiply(power, coefficient, out=term)
    if diagonal:
        places = xp.arange(total.shape[-1])
        total[..., places, places] += diagonal
    return total
