"""Variances, norms and log-sum-exps over axes."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

INF = float("inf")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_deviations_agree_with_numpy(dtype, every_mode):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((3, 4, 5)) + (1j * rng.standard_normal((3, 4, 5)) if dtype == "complex64" else 0)).astype(dtype)
    for axis in (None, 1, (0, 2)):
        variance, deviation = every_mode(lambda x, a=axis: (td.math.reduce_variance(x, a), td.math.reduce_std(x, a, True)), x)
        np.testing.assert_allclose(variance, np.var(x, axis=axis), rtol=1e-5, strict=True)
        np.testing.assert_allclose(deviation, np.std(x, axis=axis, keepdims=True), rtol=1e-5, strict=True)


def test_a_variance_of_large_numbers_keeps_its_digits():
    x = np.float32(1e4) + np.arange(8, dtype=np.float32)
    np.testing.assert_allclose(td.math.reduce_variance(x), np.var(x.astype(np.float64)), rtol=1e-6)


def test_norms(every_mode):
    x = np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)
    (norm,) = every_mode(lambda x: td.math.reduce_euclidean_norm(x, 1), x)
    np.testing.assert_allclose(norm, np.linalg.norm(x, axis=1), rtol=1e-6, strict=True)
    assert td.math.reduce_euclidean_norm([[1, 2, 3], [1, 1, 1]]).numpy() == 4
    (moduli,) = every_mode(td.math.reduce_euclidean_norm, np.complex64([3 + 4j, 12]))
    assert (moduli.dtype, moduli) == (np.complex64, 13)


def test_logsumexp_neither_overflows_nor_meets_nan_at_infinity(every_mode):
    x = np.float32([[1000, 1000], [-1000, -1000], [-INF, -INF], [INF, 1], [-INF, 2]])
    (y,) = every_mode(lambda x: td.reduce_logsumexp(x, 1), x)
    np.testing.assert_allclose(y, [1000 + np.log(2), -1000 + np.log(2), -INF, INF, 2], rtol=1e-6)
    (none,) = every_mode(lambda x: td.reduce_logsumexp(x, 0, True), np.zeros((0, 2)))
    assert none.tolist() == [[-INF, -INF]]
    v = td.constant(x[[2, 4]])
    with td.GradientTape() as tape:
        tape.watch(v)
        y = td.reduce_logsumexp(v, 1)
    assert tape.gradient(y, v).numpy().tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize("function", [td.math.reduce_variance, td.math.reduce_std, td.math.reduce_euclidean_norm, td.reduce_logsumexp])
def test_gradients_agree_with_differences(function, check_gradient):
    x = np.random.default_rng(4).standard_normal((2, 3, 2))
    for axis, keepdims in ((None, False), (1, True), ([0, -1], False)):
        check_gradient(lambda x, a=axis, k=keepdims: function(x, axis=a, keepdims=k), x)


def test_gradients_at_zero_are_those_of_tensorflow():
    for function in (td.math.reduce_std, td.math.reduce_euclidean_norm):
        x = td.constant([[0.0, 0.0], [3.0, -4.0]])
        with td.GradientTape() as tape:
            tape.watch(x)
            y = function(x, axis=1)
        gradient = tape.gradient(y, x).numpy()
        assert np.isnan(gradient[0]).all()
        assert np.isfinite(gradient[1]).all()
