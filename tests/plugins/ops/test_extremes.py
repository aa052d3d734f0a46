"""The larger and the smaller of two."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import treadle as td

NUMBERS = (np.nan, -np.inf, -1.0, -0.0, 0.0, 1.0, np.inf)


def expected(a, b):
    """The larger and the smaller, by the rules."""
    if np.isnan(a) or np.isnan(b):
        return np.nan, np.nan
    if a == b == 0:
        return (0.0, -0.0 if np.signbit(a) or np.signbit(b) else 0.0) if not (np.signbit(a) and np.signbit(b)) else (-0.0, -0.0)
    return max(a, b), min(a, b)


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float32", "float64"])
@pytest.mark.parametrize("size", [1, 37, 600, 1500])
def test_nan_wins_and_zeros_are_ordered_in_every_lane(dtype, size):
    for a, b in itertools.product(NUMBERS, NUMBERS):
        high, low = expected(a, b)
        for left, right in (((size,), (size,)), ((), (size,)), ((size,), ()), ((size,), (1,)), ((), ())):
            x, y = td.constant(np.full(left, a).astype(dtype)), td.constant(np.full(right, b).astype(dtype))
            for function, want in ((td.maximum, high), (td.minimum, low)):
                got = np.asarray(function(x, y)).astype(np.float64)
                np.testing.assert_array_equal(got, np.full_like(got, want))
                assert np.isnan(want) or np.all(np.signbit(got) == np.signbit(want)), (a, b, left, right)


def test_zeros_among_other_numbers_are_left_alone(every_mode):
    x, y = np.float32([0.0, -0.0, -5, 0.0, -0.0, 2]), np.float32([-5, -5, 0.0, 3, 3, -0.0])
    high, low = every_mode(lambda x, y: (td.maximum(x, y), td.minimum(x, y)), x, y)
    assert high.tolist() == [0, 0, 0, 3, 3, 2]
    assert low.tolist() == [-5, -5, -5, 0, 0, 0]
    assert np.signbit(high).tolist() == [False, True, False, False, False, False]
    assert np.signbit(low).tolist() == [True, True, True, False, True, True]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_integers(dtype, every_mode):
    rng = np.random.default_rng(2)
    x, y = (rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 1200, dtype, endpoint=True) for _ in range(2))
    for other in (y, y[0]):
        high, low = every_mode(lambda x, y: (td.maximum(x, y), td.minimum(x, y)), x, other)
        np.testing.assert_array_equal(high, np.maximum(x, other), strict=True)
        np.testing.assert_array_equal(low, np.minimum(x, other), strict=True)


def test_ties_give_the_gradient_to_the_first():
    x, y = td.constant([1.0, 2.0, 3.0]), td.constant([1.0, 5.0, 0.0])
    for function, first in ((td.maximum, [1, 0, 1]), (td.minimum, [1, 1, 0])):
        with td.GradientTape() as tape:
            tape.watch([x, y])
            z = function(x, y)
        gx, gy = tape.gradient(z, [x, y])
        assert gx.numpy().tolist() == first
        assert (gx + gy).numpy().tolist() == [1, 1, 1]
