"""Means and variances over axes, and the sums they are made from."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import treadle as td
from treadle.errors import InvalidArgumentError, ShapeError

CASES = [
    ((3, 4), [0], False),
    ((3, 4), [-1], True),
    ((3, 4), [0, 1], False),
    ((2, 3, 4), [0, 2], True),
    ((2, 3, 4), [1], False),
    ((2, 3, 4), [], False),
    ((5,), [0], True),
    ((), [], False),
    ((300, 200), [1], True),
    ((3000, 20), [0], False),
    ((4, 30, 30, 8), [0, 1, 2], False),
    ((4, 30, 30, 8), [1, 2], True),
    ((100_000,), [0], False),
    ((2, 70_000), [1], False),
]


@pytest.mark.parametrize(("shape", "axes", "keepdims"), CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments_agree_with_numpy(every_mode, shape, axes, keepdims, dtype):
    x = (np.random.default_rng(13).standard_normal(shape) * 2 + 50).astype(dtype)
    mean, variance = every_mode(lambda t: td.nn.moments(t, axes, keepdims=keepdims), x)
    assert mean.dtype == variance.dtype == dtype
    wide, over = x.astype(np.float64), tuple(axes)
    tolerance = 2e-6 if dtype is np.float32 else 1e-13
    np.testing.assert_allclose(mean, wide.mean(over, keepdims=keepdims), rtol=tolerance, strict=False)
    np.testing.assert_allclose(variance, wide.var(over, keepdims=keepdims), rtol=50 * tolerance, atol=1e-15)
    assert mean.shape == variance.shape == wide.mean(over, keepdims=keepdims).shape


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_short_floats_are_computed_in_float32(dtype):
    x = (np.random.default_rng(14).standard_normal((4, 3000)) + 300).astype(dtype)
    for axis in (0, 1):
        mean, variance = (np.asarray(m) for m in td.nn.moments(td.constant(x), [axis]))
        assert mean.dtype == variance.dtype == dtype
        ulp = float(ml_dtypes.finfo(dtype).eps)
        np.testing.assert_allclose(mean.astype(float), x.astype(float).mean(axis), rtol=0.6 * ulp)
        np.testing.assert_allclose(variance.astype(float), x.astype(float).var(axis), rtol=ulp, atol=1e-3)


def test_a_large_mean_does_not_drown_the_variance():
    x = np.float32([1e4, 1e4 + 1, 1e4 + 2])
    assert [float(m) for m in td.nn.moments(np.tile(x, 50_000), [0])] == [10001, pytest.approx(2 / 3, rel=1e-5)]


@pytest.mark.parametrize(("shape", "axes", "keepdims"), CASES[:7])
def test_both_gradients_of_moments_agree_with_differences(check_gradient, shape, axes, keepdims):
    x = np.random.default_rng(15).standard_normal(shape)

    def both(t):
        mean, variance = td.nn.moments(t, axes, keepdims=keepdims)
        return mean * mean + variance * variance

    check_gradient(both, x)
    check_gradient(lambda t: td.nn.moments(t, axes)[1], x)


def test_moments_of_other_dtypes_and_axes_known_only_at_run_time():
    mean, variance = td.nn.moments(td.constant([1, 2, 6]), [0])
    assert (int(mean), int(variance)) == (3, 4)
    assert mean.dtype is variance.dtype is td.int32
    assert [np.asarray(m).tolist() for m in td.nn.moments([[1.0, 3.0]], None)] == [2, 1]
    run = td.function(lambda x, axes: td.nn.moments(x, axes), input_signature=[td.TensorSpec([2, 2]), td.TensorSpec([1], td.int32)])
    assert [np.asarray(m).tolist() for m in run([[1.0, 3.0], [2.0, 6.0]], [1])] == [[2, 4], [1, 4]]


def test_weighted_moments_agree_with_repeated_elements(every_mode, check_gradient):
    x, weights = np.array([[1.0, 2.0, 5.0], [0.0, 4.0, 2.0]]), np.array([1.0, 3.0, 2.0])
    repeated = np.repeat(x, [1, 3, 2], axis=1)
    for axes, keepdims in (([1], False), ([1], True), ([0, 1], False), (None, False)):
        over = None if axes is None else tuple(axes)
        mean, variance = every_mode(lambda t, w, a=axes, k=keepdims: td.nn.weighted_moments(t, a, w, keepdims=k), x, weights)
        np.testing.assert_allclose(mean, repeated.mean(over, keepdims=keepdims), rtol=1e-14)
        np.testing.assert_allclose(variance, repeated.var(over, keepdims=keepdims), rtol=1e-14)
    check_gradient(lambda t, w: td.nn.weighted_moments(t, [1], w)[1], x, weights)
    half = td.nn.weighted_moments(td.constant(x, td.float16), [1], td.constant(weights))
    assert half[0].dtype is half[1].dtype is td.float16


def test_moments_of_no_weight_are_0_and_so_are_their_gradients(every_mode):
    def moments_and_gradients(x, w):
        with td.GradientTape() as tape:
            tape.watch([x, w])
            mean, variance = td.nn.weighted_moments(x, [1], w)
        return mean, variance, *tape.gradient([mean, variance], [x, w])

    found = every_mode(moments_and_gradients, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]), np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]))
    for got, want in zip(found, ([0, 5.5], [0, 2.25], [[0, 0, 0], [-1, 0, 2]], [[0, 0, 0], [-0.75, -1.25, 0.75]]), strict=True):
        np.testing.assert_allclose(got, want)


def test_sums_give_back_the_moments(every_mode, check_gradient):
    x = np.random.default_rng(16).standard_normal((3, 4, 2)) + 3

    def via_sums(t, shift, keepdims):
        return td.nn.normalize_moments(*td.nn.sufficient_statistics(t, [0, -1, 2], shift, keepdims))

    for shift in (None, 2.5):
        for keepdims in (False, True):
            got = every_mode(lambda t, s=shift, k=keepdims: via_sums(t, s, k), x, rank=False)
            np.testing.assert_allclose(got[0], x.mean((0, 2), keepdims=keepdims), rtol=1e-12)
            np.testing.assert_allclose(got[1], x.var((0, 2), keepdims=keepdims), rtol=1e-10)
    check_gradient(lambda t: via_sums(t, 2.5, False)[1], x)
    count, _, _, shift = td.nn.sufficient_statistics(td.constant(x), [0])
    assert (float(count), count.dtype, shift) == (3, td.float64, None)


def test_what_does_not_fit_is_refused(refuses):
    ones = np.ones((2, 3), np.float32)
    for axes in ([2], [0, 0], [-3]):
        refuses(InvalidArgumentError, lambda x, a=axes: td.nn.moments(x, a), ones)
    refuses(InvalidArgumentError, lambda x: td.nn.sufficient_statistics(x, [2])[1], ones)
    refuses(ShapeError, lambda x: td.nn.weighted_moments(x, [0], np.ones((4,), np.float32)), ones)
