"""Quotients and remainders."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treadle as td

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_round_down_or_toward_zero(dtype, every_mode):
    info = np.iinfo(dtype)
    numbers = [n for n in (info.min, info.min + 1, -7, -2, -1, 1, 2, 3, 7, info.max - 1, info.max) if n >= info.min and n != 0]
    x, y = np.array(list(itertools.product(numbers, numbers)), dtype).T.copy()
    pairs = [(int(a), int(b)) for a, b in zip(x, y, strict=True)]
    down, rest, quotient, remainder = every_mode(lambda x, y: (x // y, x % y, td.truncatediv(x, y), td.truncatemod(x, y)), x, y)

    def wrapped(values):
        return np.array([v % 2 ** (8 * x.itemsize) for v in values], f"u{x.itemsize}").astype(dtype)

    toward_zero = [abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in pairs]
    np.testing.assert_array_equal(down, wrapped([a // b for a, b in pairs]), strict=True)
    np.testing.assert_array_equal(rest, wrapped([a % b for a, b in pairs]), strict=True)
    np.testing.assert_array_equal(quotient, wrapped(toward_zero), strict=True)
    np.testing.assert_array_equal(remainder, wrapped([a - b * q for (a, b), q in zip(pairs, toward_zero, strict=True)]), strict=True)


@pytest.mark.parametrize("dtype", INTEGERS[:4])
def test_the_smallest_integer_alone_divided_by_minus_one_wraps(dtype, every_mode):
    least = np.array(np.iinfo(dtype).min, dtype)
    results = every_mode(lambda x, y: (x // y, x % y, td.truncatediv(x, y), td.truncatemod(x, y)), least, np.array(-1, dtype))
    assert [int(r) for r in results] == [int(least), 0, int(least), 0]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["math.floordiv", "math.floormod", "truncatediv", "truncatemod"])
def test_integers_are_not_divided_by_zero(dtype, name, refuses):
    function = getattr(td.math, name.removeprefix("math.")) if name.startswith("math.") else getattr(td, name)
    refuses(td.errors.InvalidArgumentError, function, np.array([1, 2], dtype), np.array([1, 0], dtype), match="zero")
    refuses(td.errors.InvalidArgumentError, function, np.array(1, dtype), np.array(0, dtype), match="zero")
    assert function(td.zeros([0], dtype), td.zeros([], dtype)).shape == [0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_divide_by_zero_and_infinity(dtype, every_mode):
    x = np.array([5, -5, np.inf, 5, -5, 7.5, -7.5, 0], dtype)
    y = np.array([0, 0, 2, np.inf, np.inf, 2, 2, 3], dtype)
    down, rest, quotient, remainder = every_mode(lambda x, y: (x // y, x % y, td.truncatediv(x, y), td.truncatemod(x, y)), x, y)
    np.testing.assert_array_equal(down, np.array([np.inf, -np.inf, np.inf, 0, -0.0, 3, -4, 0], dtype), strict=True)
    np.testing.assert_array_equal(rest, np.array([np.nan, np.nan, np.nan, 5, np.inf, 1.5, 0.5, 0], dtype), strict=True)
    np.testing.assert_array_equal(quotient, np.array([np.inf, -np.inf, np.inf, 0, 0, 3, -3, 0], dtype), strict=True)
    np.testing.assert_array_equal(remainder, np.array([np.nan, np.nan, np.nan, 5, -5, 1.5, -1.5, 0], dtype), strict=True)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_true_division_of_integers_is_floating(dtype, every_mode):
    wide = np.float32 if np.dtype(dtype).itemsize <= 2 else np.float64
    x, y = np.array([7, 1, 0], dtype), np.array([2, 3, 0], dtype)
    for function in (td.divide, td.math.truediv, lambda x, y: x / y):
        (result,) = every_mode(function, x, y)
        np.testing.assert_array_equal(result, np.array([3.5, 1 / 3, np.nan], wide), strict=True)
    assert td.divide(3, 2).numpy() == 1.5
    assert td.divide(3, td.constant([2.0])).numpy().tolist() == [1.5]


def test_division_is_correctly_rounded_in_every_lane(every_mode):
    x = np.arange(1, 68, dtype=np.float32)
    (result,) = every_mode(lambda x: x / 3.0, x)
    np.testing.assert_array_equal(result, x / np.float32(3), strict=True)


def test_dtypes_are_not_mixed(refuses):
    refuses(TypeError, td.divide, np.int32([1]), np.int64([1]))
    refuses(TypeError, lambda x: x / 1.5, np.int32([1]))
    refuses(TypeError, td.divide, np.int32([1]), np.float32([1]))


def test_quotients_without_nan(every_mode):
    nan, inf = np.nan, np.inf
    x, y = np.float32([nan, inf, 0, 1, 0]), np.float32([0, 0, nan, 2, 0])
    names = ("divide_no_nan", "multiply_no_nan", "xdivy", "xlogy")
    results = every_mode(lambda x, y: (*[getattr(td.math, name)(x, y) for name in names], td.math.reciprocal_no_nan(y)), x, y)
    wanted = [0, 0, nan, 0.5, 0], [0, 0, nan, 2, 0], [nan, inf, 0, 0.5, 0], [nan, -inf, 0, np.log(2), 0], [0, 0, nan, 0.5, 0]
    for got, want in zip(results, wanted, strict=True):
        np.testing.assert_allclose(got, np.float32(want), rtol=1e-6)


def test_gradients_at_zeros_are_finite():
    x, y = td.constant([0.0, 3.0]), td.constant([0.0, 0.0])
    for function in (td.math.divide_no_nan, td.math.multiply_no_nan):
        with td.GradientTape() as tape:
            tape.watch([x, y])
            z = function(x, y)
        assert np.isfinite(tape.gradient(z, [x, y])).all()
