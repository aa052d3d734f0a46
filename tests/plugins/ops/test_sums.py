"""Sums of several tensors, scalar products, polynomials, shifts and permutations."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "complex64", "uint8"])
def test_tensors_are_added(dtype, every_mode):
    arrays = [np.array([[1, 2], [3, 4]], dtype) * n for n in (1, 2, 3)]
    total, alone, named = every_mode(lambda *xs: (td.add_n(xs), td.add_n(xs[:1]), td.math.accumulate_n(list(xs))), *arrays)
    np.testing.assert_array_equal(total, arrays[0] * 6, strict=True)
    np.testing.assert_array_equal(alone, arrays[0], strict=True)
    np.testing.assert_array_equal(named, total, strict=True)


def test_short_floats_are_added_exactly():
    assert td.add_n([td.constant(2048.0, td.float16)] + [td.constant(1.0, td.float16)] * 4).numpy() == 2052


def test_the_gradient_of_a_sum_goes_to_every_term(check_gradient):
    rng = np.random.default_rng(6)
    check_gradient(lambda x, y: td.add_n([x, y * y, x]), rng.standard_normal(3), rng.standard_normal(3))


def test_terms_that_do_not_fit_are_refused(refuses):
    refuses(ValueError, lambda x, y: td.add_n([x, y]), np.float32([1, 2]), np.float32([1]), match="add_n")
    refuses(TypeError, lambda x, y: td.add_n([x, y]), np.float32([1]), np.float64([1]), match="add_n")
    with pytest.raises(ValueError, match="nothing"):
        td.add_n([])
    with pytest.raises(ValueError, match="shape"):
        td.math.accumulate_n([td.ones([2])], shape=[3])
    with pytest.raises(TypeError, match="dtype"):
        td.math.accumulate_n([td.ones([2])], tensor_dtype=td.int32)


def test_a_scalar_multiplies(every_mode, refuses):
    (result,) = every_mode(lambda x: td.scalar_mul(3, x), np.array([1, 2], np.int8))
    assert (result.dtype, result.tolist()) == (np.int8, [3, 6])
    refuses(ValueError, td.scalar_mul, np.float32([1, 2]), np.float32([1, 2]), match="scalar")


def test_polynomials(every_mode, check_gradient):
    x = np.float32([[0, 1], [2, -1]])
    (result,) = every_mode(lambda x: td.math.polyval([2, -1, 3], x), x)
    np.testing.assert_array_equal(result, 2 * x * x - x + 3, strict=True)
    assert td.math.polyval([], td.constant([5.0])).numpy().tolist() == [0]
    check_gradient(lambda c, x: td.math.polyval([c, 2.0, c], x), np.array([1.5]), np.array([0.5, -2.0]))
    with pytest.raises(ValueError, match="list"):
        td.math.polyval(td.ones([2]), 1.0)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_shifts_stop_at_the_width(dtype, every_mode):
    bits = np.iinfo(dtype).bits
    x = np.array([1, 3, np.iinfo(dtype).max, np.iinfo(dtype).min, 5], dtype)
    amounts = [1, bits - 1, bits, 100, 0]
    left, right = every_mode(lambda x, y: (td.bitwise.left_shift(x, y), td.bitwise.right_shift(x, y)), x, np.array(amounts, dtype))
    for i, amount in enumerate(min(a, bits - 1) for a in amounts):
        assert int(left[i]) % 2**bits == (int(x[i]) << amount) % 2**bits
        assert int(right[i]) == int(x[i]) >> amount
    if dtype.startswith("i"):
        assert td.bitwise.left_shift(td.constant(5, dtype), td.constant(-3, dtype)).numpy() == 5


def test_bits(every_mode):
    x, y = np.array([0b1100, -1], np.int16), np.array([0b1010, 7], np.int16)
    bits = td.bitwise
    results = every_mode(lambda x, y: (bits.bitwise_and(x, y), bits.bitwise_or(x, y), bits.bitwise_xor(x, y), bits.invert(x)), x, y)
    for got, want in zip(results, (x & y, x | y, x ^ y, ~x), strict=True):
        np.testing.assert_array_equal(got, want, strict=True)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_permutations_are_inverted(dtype, every_mode):
    (result,) = every_mode(td.math.invert_permutation, np.array([2, 0, 3, 1], dtype))
    assert (str(result.dtype), result.tolist()) == (dtype, [1, 3, 0, 2])
    assert td.math.invert_permutation(td.zeros([0], dtype)).shape == [0]


def test_what_is_no_permutation_is_refused(refuses):
    for wrong in ([0, 0, 1], [0, 3, 1], [-1, 0, 1]):
        refuses(td.errors.InvalidArgumentError, td.math.invert_permutation, np.array(wrong, np.int32), match="permutation")
    refuses(ValueError, td.math.invert_permutation, np.array([[0]], np.int32), match="rank")
    refuses(TypeError, td.math.invert_permutation, np.float32([0]), match="float32")
