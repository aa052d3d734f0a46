"""Derivatives of the regularised lower incomplete gamma function with respect to its first argument.

Every number is carried as a Taylor polynomial in ``a``: an array whose first axis holds the coefficients. The series and the continued fraction
are those of the function itself, so that any order costs a few more products.

Sources:
    NIST Digital Library of Mathematical Functions, 8.7.1 and 8.9.2. R. J. Moore, "Algorithm AS 187", Applied Statistics 31 (1982).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

Array = np.ndarray[Any, Any]

MOST_STEPS = 200_000
TINY = 4 * np.finfo(np.float64).eps
HUGE = 2.0**512


def derivative(a: Array, x: Array, order: int) -> Array:
    """The derivative of that order (1 or more), broadcast over ``a`` and ``x``, in float64.

    0 where ``x`` is 0 or infinite; NaN where ``a`` is not above 0, or ``x`` is below 0.
    """
    a, x = np.broadcast_arrays(a, x)
    result = np.where((a > 0) & (x >= 0), 0.0, np.nan)
    inner = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    by_series = inner & (x <= np.maximum(a, 1))
    by_fraction = inner & ~by_series
    if by_series.any():
        result[by_series] = _series(a[by_series], x[by_series], order)[order] * math.factorial(order)
    if by_fraction.any():
        result[by_fraction] = -_fraction(a[by_fraction], x[by_fraction], order)[order] * math.factorial(order)
    return result


def _series(a: Array, x: Array, order: int) -> Array:
    """The function as ``x^a e^-x / gamma(a + 1)`` times the sum of ``x^k / ((a + 1) ... (a + k))``."""
    term = _constant(1.0, a, order)
    total = term.copy()
    for k in range(1, MOST_STEPS):
        term = _times_inverse(term, a + k) * x
        total += term
        if _is_small(term, total):
            break
    return _product(_prefix(a, x, order, 1), total)


def _fraction(a: Array, x: Array, order: int) -> Array:
    """The upper function as ``x^a e^-x / gamma(a)`` times a continued fraction."""
    y, z = 1 - a, x + 2 - a  # both fall by one as a grows by one
    before, before_below = _constant(1.0, a, order), _constant(1.0, a, order) * x
    above, below = _constant(1.0, a, order) * (x + 1), _times_linear(_constant(1.0, a, order), z) * x
    value = _quotient(above, below)
    settled = np.zeros(a.shape, bool)
    for count in range(1, MOST_STEPS):
        y, z = y + 1, z + 2
        above, before = _times_linear(above, z) - _times_linear(before, y) * count, above
        below, before_below = _times_linear(below, z) - _times_linear(before_below, y) * count, below
        previous, value = value, _quotient(above, below)
        settled |= np.abs(value - previous).max(0) <= TINY * np.abs(value).max(0)  # once is enough: later steps only turn the last bits
        if settled.all():
            break
        large = np.abs(below[0]) > HUGE
        if large.any():
            for part in (above, before, below, before_below):
                part[:, large] /= HUGE
    return _product(_prefix(a, x, order, 0), value)


def _prefix(a: Array, x: Array, order: int, shift: int) -> Array:
    """``x^a e^-x / gamma(a + shift)``."""
    b = a + shift
    exponent = np.empty((order + 1, a.size))
    exponent[0] = a * np.log(x) - x - special.gammaln(b)
    exponent[1] = np.log(x) - special.psi(b)
    for k in range(2, order + 1):
        exponent[k] = -special.polygamma(k - 1, b) / math.factorial(k)
    result = np.empty_like(exponent)
    result[0] = np.exp(exponent[0])
    for k in range(1, order + 1):  # the derivative of exp(p) is p' exp(p)
        result[k] = sum(j * exponent[j] * result[k - j] for j in range(1, k + 1)) / k
    return result


# ---------------------------------------------------------------------- Taylor polynomials


def _constant(value: float, like: Array, order: int) -> Array:
    result = np.zeros((order + 1, like.size))
    result[0] = value
    return result


def _is_small(p: Array, q: Array) -> bool:
    return bool(np.all(np.abs(p).max(0) <= TINY * np.abs(q).max(0)))


def _product(p: Array, q: Array) -> Array:
    return np.stack([sum(p[j] * q[k - j] for j in range(k + 1)) for k in range(len(p))])


def _quotient(p: Array, q: Array) -> Array:
    result = np.empty_like(p)
    for k in range(len(p)):
        result[k] = (p[k] - sum(result[j] * q[k - j] for j in range(k))) / q[0]
    return result


def _times_linear(p: Array, constant: Array) -> Array:
    """``p`` times a polynomial ``constant - t``."""
    result = p * constant
    result[1:] -= p[:-1]
    return result


def _times_inverse(p: Array, constant: Array) -> Array:
    """``p`` divided by ``constant + t``."""
    result = np.empty_like(p)
    result[0] = p[0] / constant
    for k in range(1, len(p)):
        result[k] = (p[k] - result[k - 1]) / constant
    return result
