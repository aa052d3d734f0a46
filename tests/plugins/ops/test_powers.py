"""Powers and roots."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td


def gradients(function, *inputs):
    tensors = [td.constant(x) for x in inputs]
    with td.GradientTape() as tape:
        tape.watch(tensors)
        result = function(*tensors)
    return [g.numpy().tolist() for g in tape.gradient(result, tensors)]


def test_powers_at_the_edges(every_mode):
    nan, inf = np.nan, np.inf
    base = np.float32([0, nan, 1, 1, -2, -2, -8, 0, -0.0, inf, -inf])
    exponent = np.float32([0, 0, nan, inf, 3, 2, 1 / 3, -1, 3, -1, 3])
    (result,) = every_mode(td.pow, base, exponent)
    np.testing.assert_array_equal(result, np.float32([1, 1, 1, 1, -8, 4, nan, inf, -0.0, 0, -inf]))


def test_integers_multiply_and_wrap(every_mode):
    (result,) = every_mode(td.pow, np.array([2, -3, 0, 2], np.int32), np.array([10, 3, 0, 31], np.int32))
    assert result.tolist() == [1024, -27, 1, -(2**31)]


def test_an_integer_to_a_negative_power_is_refused(refuses):
    for dtype in ("int8", "int32", "int64"):
        refuses(td.errors.InvalidArgumentError, td.pow, np.array([2, 3], dtype), np.array([1, -1], dtype), match="negative power")
    assert td.pow(td.zeros([0], td.int32), -1).shape == [0]


@pytest.mark.parametrize("number", [2, 2.0])
def test_a_square_is_exact(number, every_mode):
    x = np.float32([-3, 1.5, 1e-3, np.nan, -np.inf])
    (result,) = every_mode(lambda x: x**number, x)
    np.testing.assert_array_equal(result, x * x, strict=True)
    assert (td.constant([3]) ** 2).numpy().tolist() == [9]
    with pytest.raises(TypeError):
        td.constant([3]) ** 2.0


def test_gradients_of_powers_are_limits_at_zero_and_real_below():
    base, exponent = gradients(td.pow, [0.0, 0.0, 0.0, -2.0, -2.0, 2.0], [2.0, 1.0, 0.0, 2.0, 3.0, 0.0])
    assert base == [0, 1, 0, -4, 12, 0]
    np.testing.assert_allclose(exponent, [0, 0, 0, 0, 0, np.log(2)], rtol=1e-6)


def test_second_gradients_of_powers_are_exact_at_zero():
    x = td.constant([0.0, 0.0, 0.0, -1.0])
    with td.GradientTape() as outer:
        outer.watch(x)
        with td.GradientTape() as inner:
            inner.watch(x)
            y = td.pow(x, td.constant([1.0, 2.0, 3.0, 3.0]))
        slope = inner.gradient(y, x)
    assert outer.gradient(slope, x).numpy().tolist() == [0, 2, 0, -6]


def test_roots(every_mode):
    x = np.float32([4, 0, -0.0, np.inf, -1])
    root, inverse = every_mode(lambda x: (td.sqrt(x), td.math.rsqrt(x)), x)
    np.testing.assert_array_equal(root, np.float32([2, 0, -0.0, np.inf, np.nan]), strict=True)
    np.testing.assert_array_equal(inverse, np.float32([0.5, np.inf, -np.inf, 0, np.nan]), strict=True)
    assert gradients(td.sqrt, [0.0, 4.0]) == [[np.inf, 0.25]]
