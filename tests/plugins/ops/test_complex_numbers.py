"""Complex numbers, their parts, absolute values and signs."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td


@pytest.mark.parametrize(("part", "whole"), [("float32", "complex64"), ("float64", "complex128")])
def test_numbers_are_made_of_parts_and_taken_apart(part, whole, every_mode):
    x, y = np.array([[1], [2]], part), np.array([3, -4], part)
    made, real, imag, conjugate, angle = every_mode(
        lambda x, y: (z := td.complex(x, y), td.math.real(z), td.math.imag(z), td.math.conj(z), td.math.angle(z)), x, y
    )
    want = (x + 1j * y).astype(whole)
    np.testing.assert_array_equal(made, want, strict=True)
    np.testing.assert_array_equal(real, want.real, strict=True)
    np.testing.assert_array_equal(imag, want.imag, strict=True)
    np.testing.assert_array_equal(conjugate, want.conj(), strict=True)
    np.testing.assert_allclose(angle, np.angle(want), rtol=1e-6, strict=True)


def test_a_real_tensor_is_its_own_real_part(every_mode):
    x = np.float32([1, -1, 0, np.nan])
    real, imag, conjugate, angle = every_mode(lambda x: (td.math.real(x), td.math.imag(x), td.math.conj(x), td.math.angle(x)), x, rank=False)
    np.testing.assert_array_equal(real, x)
    np.testing.assert_array_equal(conjugate, x)
    assert imag.tolist() == [0, 0, 0, 0]
    np.testing.assert_allclose(angle, [0, np.pi, 0, 0], rtol=1e-6)


def test_parts_must_be_of_one_wide_dtype(refuses):
    refuses(TypeError, td.complex, np.float32([1]), np.float64([1]))
    refuses(TypeError, td.complex, np.float16([1]), np.float16([1]), match="float16")


def test_an_absolute_value_neither_overflows_nor_vanishes(every_mode):
    z = np.array([3e30 + 4e30j, 3e-30 - 4e-30j, 0, complex(np.inf, np.nan)], np.complex64)
    (result,) = every_mode(td.abs, z)
    np.testing.assert_allclose(result, np.float32([5e30, 5e-30, 0, np.inf]), rtol=1e-6, strict=True)


def test_a_number_is_its_sign_times_its_absolute_value(every_mode):
    z = np.array([3 + 4j, -2j, 0, -5])
    sign, product = every_mode(lambda z: (td.sign(z), td.sign(z) * td.cast(td.abs(z), z.dtype)), z, rank=False)
    np.testing.assert_allclose(sign, [0.6 + 0.8j, -1j, 0, -1], rtol=1e-15)
    np.testing.assert_allclose(product, z, rtol=1e-15)
    (real,) = every_mode(td.sign, np.float32([np.nan, -0.0, 1e-40, -7]))
    np.testing.assert_array_equal(real, np.float32([np.nan, 0, 1, -1]))


@pytest.mark.parametrize(
    "function",
    [
        lambda z: td.abs(z),
        lambda z: td.math.real(z * z),
        lambda z: td.math.imag(td.exp(z)),
        lambda z: td.math.angle(z),
        lambda z: td.abs(td.complex(td.math.imag(z), 2.0 * td.math.real(z))),
        lambda z: td.math.real(td.sign(z) * (1 + 2j)),
        lambda z: td.math.real(td.math.conj(z) * z * z),
    ],
)
def test_gradients_of_real_results_point_uphill(function, check_gradient):
    rng = np.random.default_rng(4)
    check_gradient(lambda x, y: function(td.complex(x, y)), rng.uniform(0.5, 1.5, 3), rng.uniform(0.5, 1.5, 3), second=False)


def test_the_gradient_of_an_absolute_value_is_zero_at_zero():
    z = td.constant([0j, 3 + 4j])
    with td.GradientTape() as tape:
        tape.watch(z)
        size = td.abs(z)
    np.testing.assert_allclose(tape.gradient(size, z), [0, 0.6 + 0.8j])
