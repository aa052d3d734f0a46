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


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["sqrt", "rsqrt", "reciprocal"])
def test_roots_and_reciprocals_have_the_gradient_zero_where_nothing_comes_back(name, dtype, every_mode):
    function = getattr(td.math, name)
    values = td.cast([0.0, -0.0, 4.0] if dtype == "complex64" else [0.0, -0.0, 4.0, -4.0, np.inf, np.nan], dtype).numpy()

    def slopes(x, g):
        with td.GradientTape() as outer:
            outer.watch(g)
            with td.GradientTape() as inner:
                inner.watch(x)
                y = function(x)
            slope = inner.gradient(y, x, g)
        return slope, outer.gradient(slope, g)[2]

    slope, slope_of_one = every_mode(slopes, values, np.zeros_like(values))
    np.testing.assert_array_equal(slope, np.zeros_like(values), strict=True)
    assert slope_of_one.real == {"sqrt": 0.25, "rsqrt": -0.0625, "reciprocal": -0.0625}[name]


def test_a_root_may_stand_beside_the_condition_that_guards_it(every_mode):
    def slope(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.where(x > 0, td.sqrt(x), 0.0)
        return tape.gradient(y, x)

    (result,) = every_mode(slope, np.float32([0, -1, 4]))
    assert result.tolist() == [0, 0, 0.25]


def test_the_gradient_of_the_gradient_of_a_root_is_conjugated():
    x = td.constant([-1 + 2j, 2 + 0.5j], td.complex128)
    for function, power in ((td.sqrt, 0.5), (td.math.rsqrt, -0.5), (td.math.reciprocal, -1)):
        with td.GradientTape() as outer:
            outer.watch(x)
            with td.GradientTape() as inner:
                inner.watch(x)
                y = function(x)
            slope = td.math.conj(inner.gradient(y, x))
        second = outer.gradient(slope, x)
        np.testing.assert_allclose(second.numpy(), np.conj(power * (power - 1) * x.numpy() ** (power - 2)), rtol=1e-12)
