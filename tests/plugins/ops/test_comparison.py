"""Comparisons, and Python's == and !=."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

NAN = float("nan")
WAYS = (lambda f: f, td.function)


def test_nan_equals_nothing_and_zeros_are_equal(every_mode):
    x, y = np.float32([NAN, 0.0, 1.0, 1.0]), np.float32([NAN, -0.0, 1.0, 2.0])
    results = every_mode(
        lambda x, y: (td.equal(x, y), td.not_equal(x, y), td.less(x, y), td.less_equal(x, y), td.greater(x, y), td.greater_equal(x, y)), x, y
    )
    assert [r.tolist() for r in results] == [
        [False, True, True, False],
        [True, False, False, True],
        [False, False, False, True],
        [False, True, True, True],
        [False, False, False, False],
        [False, True, True, False],
    ]


def test_an_operator_compares_with_numbers_arrays_and_from_both_sides():
    x = td.constant([1, 2, 3])
    for way in WAYS:
        assert way(lambda x: x == 2)(x).numpy().tolist() == [False, True, False]
        assert way(lambda x: 2 != x)(x).numpy().tolist() == [True, False, True]  # noqa: SIM300  the reflected comparison is under test
        assert way(lambda x: 2 < x)(x).numpy().tolist() == [False, False, True]  # noqa: SIM300  the reflected comparison is under test
        assert way(lambda x: x >= np.array([3, 2, 1], np.int32))(x).numpy().tolist() == [False, True, True]
    assert (td.Variable([1.0]) == 1.0).numpy().tolist() == [True]


@pytest.mark.parametrize("way", WAYS)
def test_shapes_that_do_not_broadcast_are_plainly_unequal(way):
    x, y = td.ones([2]), td.ones([3])
    assert way(lambda x, y: x == y)(x, y).numpy().tolist() is False
    assert way(lambda x, y: x != y)(x, y).numpy().tolist() is True
    with pytest.raises(ValueError, match="equal"):
        way(td.equal)(x, y)


def test_unknown_sizes_that_turn_out_not_to_broadcast_are_plainly_unequal():
    f = td.function(lambda x, y: (x == y, x != y), input_signature=[td.TensorSpec([None]), td.TensorSpec([None])])
    assert f.get_concrete_function().structured_outputs[0].shape == [None]
    assert [r.numpy().tolist() for r in f(td.ones([2]), td.ones([2]))] == [[True, True], [False, False]]
    assert [r.numpy().tolist() for r in f(td.ones([2]), td.ones([3]))] == [False, True]


def test_none_is_never_equal():
    assert (td.constant(1) == None) is False  # noqa: E711  == None is under test
    assert (td.constant(1) != None) is True  # noqa: E711  == None is under test
    assert td.function(lambda x: td.constant(x == None))(td.constant(1)).numpy().tolist() is False  # noqa: E711  == None is under test


def test_dtypes_are_not_mixed(refuses):
    refuses(TypeError, lambda x, y: x == y, np.float32([1]), np.float64([1]), match="float32 and float64")
    refuses(TypeError, lambda x: x == 0.5, np.int32([1]), match="int32")


def test_tests_for_nan_and_infinity(every_mode):
    x = np.float16([NAN, np.inf, -np.inf, 1])
    results = every_mode(lambda x: (td.math.is_nan(x), td.math.is_inf(x), td.math.is_finite(x)), x)
    assert [r.tolist() for r in results] == [[True, False, False, False], [False, True, True, False], [False, False, False, True]]
