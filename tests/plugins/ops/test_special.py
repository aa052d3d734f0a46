"""Special functions, sigmoids and the exponentials at their edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import treadle as td

X = np.linspace(0.1, 3, 7)
PAIRS = {
    "math.erf": special.erf,
    "math.erfc": special.erfc,
    "math.lgamma": special.gammaln,
    "math.digamma": special.psi,
    "math.ndtri": lambda x: special.ndtri(x / 4),
    "math.erfinv": lambda x: special.erfinv(x / 4),
    "math.erfcinv": lambda x: special.erfcinv(x / 4),
    "math.special.bessel_i0": special.i0,
    "math.special.bessel_i0e": special.i0e,
    "math.special.bessel_i1": special.i1,
    "math.special.bessel_i1e": special.i1e,
    "math.special.bessel_j0": special.j0,
    "math.special.bessel_j1": special.j1,
    "math.special.bessel_k0": special.k0,
    "math.special.bessel_k0e": special.k0e,
    "math.special.bessel_k1": special.k1,
    "math.special.bessel_k1e": special.k1e,
    "math.special.bessel_y0": special.y0,
    "math.special.bessel_y1": special.y1,
    "math.special.dawsn": special.dawsn,
    "math.special.expint": special.expi,
    "math.special.spence": special.spence,
    "math.special.fresnel_sin": lambda x: special.fresnel(x)[0],
    "math.special.fresnel_cos": lambda x: special.fresnel(x)[1],
}


def public(path):
    found = td
    for part in path.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("path", sorted(PAIRS))
def test_functions_of_one_variable_agree_with_scipy(path):
    x = X / 4 if path in ("math.ndtri", "math.erfinv", "math.erfcinv") else X
    np.testing.assert_allclose(public(path)(td.constant(x)), PAIRS[path](X), rtol=1e-13)
    np.testing.assert_allclose(public(path)(td.constant(x.astype(np.float16))), PAIRS[path](X), rtol=2e-2, atol=1e-2)


def test_functions_of_several_variables_agree_with_scipy():
    a, b, x = np.meshgrid([0.3, 1.0, 4.5], [0.5, 2.0], [0.1, 0.5, 0.9])
    np.testing.assert_allclose(td.math.betainc(a, b, x), special.betainc(a, b, x), rtol=1e-13)
    np.testing.assert_allclose(td.math.igamma(a, x), special.gammainc(a, x), rtol=1e-13)
    np.testing.assert_allclose(td.math.igammac(a, x), special.gammaincc(a, x), rtol=1e-13)
    np.testing.assert_allclose(td.math.zeta(a + 1, b), special.zeta(a + 1, b), rtol=1e-13)
    for n in range(4):
        np.testing.assert_allclose(td.math.polygamma(float(n), X), special.polygamma(n, X), rtol=1e-12)
    assert np.isnan(td.math.polygamma([0.5, -1.0], [1.0, 1.0])).all()
    np.testing.assert_allclose(td.math.lbeta([2.0, 3.0]), math.log(math.gamma(2) * math.gamma(3) / math.gamma(5)), rtol=1e-6)


def test_special_functions_at_their_edges(every_mode):
    nan, inf = np.nan, np.inf
    (gamma,) = every_mode(td.math.lgamma, np.float32([nan, inf, -inf, 0, -0.0, -1, 1]))
    np.testing.assert_array_equal(gamma, np.float32([nan, inf, inf, inf, inf, inf, 0]))
    a, x = np.float32([0, 1, 0.5, nan, 2, -1, 1]), np.float32([1, 0, inf, 1, -1, 1, nan])
    lower, upper = every_mode(lambda a, x: (td.math.igamma(a, x), td.math.igammac(a, x)), a, x)
    np.testing.assert_array_equal(lower, np.float32([nan, 0, 1, nan, nan, nan, nan]))
    np.testing.assert_array_equal(upper, np.float32([nan, 1, 0, nan, nan, nan, nan]))
    (inverse,) = every_mode(td.math.erfinv, np.float32([1, -1, 2, 0]))
    np.testing.assert_array_equal(inverse, np.float32([inf, -inf, nan, 0]))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_of_the_incomplete_gamma_function_agree_with_differences(order):
    from treadle_cpu.incomplete_gamma import derivative

    a, x = (v.ravel() for v in np.meshgrid([0.01, 0.3, 1.0, 2.5, 10.0, 100.0], [1e-3, 0.5, 1.0, 2.0, 9.0, 30.0, 120.0]))
    h = 1e-3 * a
    before, after = (special.gammainc(a + s, x) if order == 1 else derivative(a + s, x, order - 1) for s in (-h, h))
    far_before, far_after = (special.gammainc(a + s, x) if order == 1 else derivative(a + s, x, order - 1) for s in (-2 * h, 2 * h))
    want = (8 * (after - before) - (far_after - far_before)) / (12 * h)
    np.testing.assert_allclose(derivative(a, x, order), want, rtol=1e-6, atol=1e-9 * np.abs(want).max())


def test_gradients_of_bessel_functions_at_zero(check_gradient):
    for name in ("i0", "i1", "j0", "j1"):
        check_gradient(public(f"math.special.bessel_{name}"), np.array([0.0, -0.5]), atol=1e-5, second=False)
    check_gradient(td.math.special.spence, np.array([1.0, 0.5]), second=False)


def test_sigmoids_neither_overflow_nor_lose_small_values(every_mode):
    x = np.float32([-np.inf, -104, -20, 0, 20, 104, np.inf])
    step, plus, logarithm = every_mode(lambda x: (td.sigmoid(x), td.math.softplus(x), td.math.log_sigmoid(x)), x)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(step, special.expit(wide), rtol=1e-6, atol=1e-38)
    np.testing.assert_allclose(plus, np.logaddexp(wide, 0), rtol=1e-6, atol=1e-38)
    np.testing.assert_allclose(logarithm, -np.logaddexp(-wide, 0), rtol=1e-6, atol=1e-38)


def test_gradients_of_sigmoids_are_finite_everywhere():
    x = td.constant([-1000.0, -50.0, 0.0, 50.0, 1000.0])
    slopes = {td.sigmoid: (0, 0), td.math.softplus: (0, 1), td.math.log_sigmoid: (1, 0), td.math.softsign: (0, 0), td.tanh: (0, 0)}
    for function, ends in slopes.items():
        with td.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        gradient = tape.gradient(y, x).numpy()
        assert np.isfinite(gradient).all()
        np.testing.assert_allclose(gradient[[0, -1]], ends, atol=1e-5)


def test_small_arguments_keep_their_digits(every_mode):
    x = np.float32([1e-10, -1e-10])
    results = every_mode(lambda x: (td.math.expm1(x), td.math.log1p(x), td.math.xlog1py(td.ones_like(x), x)), x, rank=False)
    for result in results:
        np.testing.assert_allclose(result, x, rtol=1e-6)


def test_rounding_goes_to_even_and_keeps_signs_of_zero(every_mode):
    x = np.float32([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, np.nan, np.inf])
    whole, nearest, down, up = every_mode(lambda x: (td.round(x), td.math.rint(x), td.floor(x), td.math.ceil(x)), x)
    for got, want in ((whole, np.rint(x)), (nearest, np.rint(x)), (down, np.floor(x)), (up, np.ceil(x))):
        np.testing.assert_array_equal(got, want, strict=True)
        assert np.signbit(got).tolist() == np.signbit(want).tolist()
    assert td.round(td.constant([3, -4])).numpy().tolist() == [3, -4]


def test_the_next_number(every_mode):
    (result,) = every_mode(td.math.nextafter, np.float32([0, 1, 1, np.inf]), np.float32([1, 0, 1, 0]))
    np.testing.assert_array_equal(result, np.float32([1.4e-45, 0.99999994, 1, 3.4028235e38]), strict=True)
