"""Python's operators on tensors and Variables."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import treadle as td

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")


@pytest.mark.parametrize("name", ARITHMETIC)
def test_an_operator_takes_numbers_arrays_and_variables_on_both_sides(name, every_mode):
    f = getattr(operator, name)
    x = np.float32([1.5, 2, 3])
    for other in (2, 2.0, np.float32([2, 3, 4])):
        left, right = every_mode(lambda x, other=other: (f(x, other), f(other, x)), x)
        np.testing.assert_allclose(left, f(x, other).astype(np.float32), rtol=1e-6)
        np.testing.assert_allclose(right, f(other, x).astype(np.float32), rtol=1e-6)
    variable = td.Variable(x)
    np.testing.assert_array_equal(f(variable, variable), f(td.constant(x), td.constant(x)))


def test_matmul_from_both_sides():
    x = np.float32([[1, 2], [3, 4]])
    np.testing.assert_array_equal(td.constant(x) @ x, x @ x)
    np.testing.assert_array_equal(td.constant(x) @ td.constant(x), x @ x)


@pytest.mark.parametrize("name", ["and_", "or_", "xor"])
def test_bits_of_integers_and_logic_of_bools(name, every_mode):
    f = getattr(operator, name)
    for x, y, number in ((np.array([True, False]), np.array([True, True]), True), (np.array([6, -3]), np.array([3, 5]), 3)):
        both, left, right = every_mode(lambda x, y, number=number: (f(x, y), f(x, number), f(number, x)), x, y)
        np.testing.assert_array_equal(both, f(x, y), strict=True)
        np.testing.assert_array_equal(left, f(x, number), strict=True)
        np.testing.assert_array_equal(right, f(number, x), strict=True)


def test_unary_operators(every_mode):
    x = np.float32([-1.5, 2.5, 0.5])
    negated, same, size, whole = every_mode(lambda x: (-x, +x, abs(x), round(x)), x)
    for got, want in zip((negated, same, size, whole), (-x, x, abs(x), [-2, 2, 0]), strict=True):
        np.testing.assert_array_equal(got, want)
    inverted, flipped = every_mode(lambda i, b: (~i, ~b), np.array([0, 5]), np.array([True, False]))
    assert (inverted.tolist(), flipped.tolist()) == ([-1, -6], [False, True])


def test_round_takes_digits(every_mode):
    tenths, tens = every_mode(lambda x: (round(x, 1), round(x, -1)), np.array([12.345, -87.65]))
    np.testing.assert_allclose(tenths, [12.3, -87.6], rtol=1e-12)
    assert tens.tolist() == [10, -90]
    assert round(td.constant([7, 12]), 2).numpy().tolist() == [7, 12]


@pytest.mark.parametrize("name", ["and_", "or_", "xor"])
def test_bits_of_floats_are_refused(name, refuses):
    refuses(TypeError, getattr(operator, name), np.float32([1]), np.float32([2]))


@pytest.mark.parametrize("name", ARITHMETIC)
def test_a_float_beside_integers_is_refused(name, refuses):
    refuses(TypeError, lambda x: getattr(operator, name)(x, 1.5), np.array([1], np.int32))


@pytest.mark.parametrize("trace", [False, True])
def test_bools_of_python_and_numpy_are_numbers_beside_numbers(trace):
    def run(f, *args):
        return (td.function(f) if trace else f)(*args).numpy().tolist()

    x, k = td.constant([1.0, 2.0]), td.constant([1, 2])
    mask = np.array([True, False])
    assert run(lambda x: x * mask, x) == run(lambda x: mask * x, x) == [1.0, 0.0]
    assert run(lambda x: x + True, x) == [2.0, 3.0] and run(lambda x: td.subtract(x, [True, False]), x) == [0.0, 2.0]
    assert run(lambda k: k == True, k) == [True, False]  # noqa: E712 - the comparison is meant
    assert run(lambda x: td.where(mask, x, False), x) == [1.0, 0.0]
    assert run(lambda x: td.stack([x, mask]), x) == [[1.0, 2.0], [1.0, 0.0]]
    for refused in (lambda: x + td.constant([True, False]), lambda: td.gather(x, True), lambda: td.constant([True]) + 1):
        with pytest.raises(TypeError):
            refused()
