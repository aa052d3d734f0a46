"""Sums over any axes as accurate as along the last one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from treadle_array.axis_sums import summation

add_up = summation(np)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32"])
def test_sums_over_all_axes_agree_with_numpy(dtype):
    rng = np.random.default_rng(0)
    for shape in ((), (1,), (5,), (200, 3), (7, 130, 5), (2, 3, 4, 5), (1, 300, 1), (4, 1, 300, 2), (1000, 4), (0, 3)):
        x = (rng.random(shape) * 100).astype(dtype)
        for axis in [None, *(c for n in range(len(shape) + 1) for c in itertools.combinations(range(len(shape)), n))]:
            for keepdims in (False, True):
                want = np.add.reduce(x, axis=axis, keepdims=keepdims, dtype=dtype)
                np.testing.assert_allclose(add_up(x, axis, keepdims), want, rtol=1e-5, strict=True)
    assert add_up(x, (-1,), False).shape == (0,)


def test_from_65_to_128_rows_the_bits_are_those_of_a_sum_along_the_last_axis():
    x = np.random.default_rng(1).standard_normal((128, 90), np.float32)
    for rows, width in itertools.product((65, 100, 127, 128), (1, 2, 9, 90)):
        part = np.ascontiguousarray(x[:rows, :width])
        np.testing.assert_array_equal(add_up(part, (0,), False), np.add.reduce(np.ascontiguousarray(part.T), axis=1))


def test_a_few_rows_are_added_one_by_one_however_many_matrices_there_are():
    x = np.random.default_rng(4).standard_normal((5, 64, 90), np.float32)
    for rows, width, count in itertools.product((1, 7, 8, 9, 64), (2, 9, 90), (1, 5)):
        part = np.ascontiguousarray(x[:count, :rows, :width])
        want = part[:, 0].copy()
        for k in range(1, rows):
            want += part[:, k]
        np.testing.assert_array_equal(add_up(part, (1,), False), want)


def test_a_sum_does_not_depend_on_what_is_beside_it():
    x = np.random.default_rng(2).standard_normal((1000, 70), np.float32)
    whole = add_up(x, (0,), False)
    for width in (2, 3, 5, 69):
        np.testing.assert_array_equal(add_up(np.ascontiguousarray(x[:, :width]), (0,), False), whole[:width])
    np.testing.assert_array_equal(add_up(np.stack([x, x]), (1,), False)[1], whole)


def test_no_axis_is_less_accurate_than_the_last():
    x = np.random.default_rng(3).random((50_000, 6), np.float32)
    exact = x.astype(np.float64).sum(0)
    along_last = np.abs(np.add.reduce(np.ascontiguousarray(x.T), axis=1) - exact).max()
    assert np.abs(add_up(x, (0,), False) - exact).max() <= 2 * along_last
    assert np.abs(add_up(x.reshape(500, 100, 6), (0, 1), False) - exact).max() <= 2 * along_last


def test_zeros_lose_their_sign_as_in_numpy():
    for shape in ((3,), (3, 2), (20, 2), (100, 3)):
        assert not np.signbit(add_up(np.full(shape, -0.0, np.float32), (0,), False)).any()


def test_axes_that_are_not_there_are_refused():
    for axis in ((2,), (-3,), (0, 0), (1, -1)):
        with pytest.raises(ValueError, match="ax"):
            add_up(np.ones((2, 3), np.float32), axis, False)
