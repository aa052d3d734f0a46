"""Counts of elements that are not 0, of integers by their value, and of pairs of labels."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int16", "uint64", "bool", "complex64"])
def test_what_is_not_zero_is_counted(dtype, every_mode):
    x = np.random.default_rng(0).integers(0, 2, (3, 4, 5)).astype(getattr(td, dtype).as_numpy_dtype)
    for axis, keepdims in ((None, False), (None, True), (1, False), ((0, 2), True), ((), False)):
        (got,) = every_mode(lambda x, a=axis, k=keepdims: td.math.count_nonzero(x, a, k), x)
        np.testing.assert_array_equal(got, np.asarray(np.sum(x != 0, axis=axis, keepdims=keepdims)), strict=True)
    assert td.math.count_nonzero([0.0, float("nan"), -0.0], dtype=td.int32).numpy() == 1
    traced = td.function(lambda x, a: td.math.count_nonzero(x, a), autograph=False)
    assert traced(td.constant(x), td.constant([0, 1])).numpy().tolist() == np.sum(x != 0, axis=(0, 1)).tolist()


def test_the_part_that_is_zero(every_mode):
    (part,) = every_mode(td.math.zero_fraction, np.int32([[0, 1], [3, 0]]))
    assert (part.dtype, part) == (np.float32, 0.5)
    assert np.isnan(td.nn.zero_fraction(td.zeros([0])))
    x = td.constant([0.0, 1.0])
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.math.zero_fraction(x)
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_integers_are_counted_by_their_value(dtype, every_mode):
    x = np.array([1, 1, 3, 0, 7], dtype)
    for options, want in (
        ({}, [1, 2, 0, 1, 0, 0, 0, 1]),
        ({"minlength": 10}, [1, 2, 0, 1, 0, 0, 0, 1, 0, 0]),
        ({"maxlength": 3}, [1, 2, 0]),
        ({"minlength": 5, "maxlength": 4}, [1, 2, 0, 1]),
        ({"binary_output": True, "maxlength": 4}, [1, 1, 0, 1]),
        ({"dtype": td.float64, "maxlength": 2}, [1, 2]),
    ):
        (got,) = every_mode(lambda x, o=options: td.math.bincount(x, **o), x)
        assert (got.dtype, got.tolist()) == (options.get("dtype", td.int32).as_numpy_dtype, want)
    (none,) = every_mode(lambda x: td.math.bincount(x, minlength=2), x[:0])
    assert none.tolist() == [0, 0]


def test_rows_are_counted_each(every_mode):
    x = np.int32([[1, 1, 3], [0, 2, 2]])
    counts, binary = every_mode(
        lambda x: (td.math.bincount(x, axis=-1), td.math.bincount(x, axis=-1, binary_output=True, maxlength=3)), x, rank=False
    )
    assert (counts.tolist(), binary.tolist()) == ([[0, 2, 0, 1], [1, 0, 2, 0]], [[0, 1, 0], [1, 0, 1]])
    (sums,) = every_mode(lambda x, w: td.math.bincount(x, weights=w, axis=-1), x, np.float32([[1, 2, 4], [8, 16, 32]]), rank=False)
    assert sums.tolist() == [[0, 3, 0, 4], [8, 0, 48, 0]]
    assert td.math.bincount([1, 1], axis=-1).numpy().tolist() == [0, 2]


def test_weights_are_added_up_and_have_a_gradient(every_mode, check_gradient):
    x = np.int32([1, 5, 1, 2])
    (got,) = every_mode(lambda x, w: td.math.bincount(x, weights=w, maxlength=3), x, np.float32([1, 2, 4, 8]))
    assert (got.dtype, got.tolist()) == (np.float32, [0, 5, 8])
    check_gradient(lambda w: td.math.bincount(x, weights=w, maxlength=3) ** 2, np.array([1.0, 2.0, 3.0, 4.0]))


def test_what_cannot_be_counted_is_refused(refuses):
    refuses(td.errors.InvalidArgumentError, td.math.bincount, np.int32([1, -1]), match="non-negative")
    refuses(TypeError, td.math.bincount, np.complex64([1]), match="complex64")
    refuses(ValueError, lambda x, w: td.math.bincount(x, weights=w), np.int32([1, 2]), np.float32([1]), match="do not fit")
    refuses(ValueError, lambda x: td.math.bincount(x, axis=-1), np.zeros((1, 1, 1), np.int32), match="rank")
    with pytest.raises(ValueError, match="axis"):
        td.math.bincount([1], axis=1)
    with pytest.raises(ValueError, match="exclude"):
        td.math.bincount([1], weights=[1.0], binary_output=True)


def test_pairs_of_labels_are_counted(every_mode):
    labels, guesses = np.int32([0, 1, 2, 1]), np.int32([0, 2, 2, 1])
    found, larger = every_mode(lambda a, b: (td.math.confusion_matrix(a, b), td.math.confusion_matrix(a, b, num_classes=4)), labels, guesses)
    assert found.tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 1]]
    assert (larger.dtype, larger.shape, larger[:3, :3].tolist()) == (np.int32, (4, 4), found.tolist())
    assert td.math.confusion_matrix([[1], [0]], [1, 1]).numpy().tolist() == [[0, 1], [0, 1]]
    traced = td.function(lambda a, b, n: td.math.confusion_matrix(a, b, n), autograph=False)
    assert traced(td.constant(labels), td.constant(guesses), td.constant(3)).numpy().tolist() == found.tolist()


def test_weighted_pairs_have_a_gradient(every_mode, check_gradient):
    weights = np.array([1.0, 2.0, 4.0])

    def matrix(w):
        return td.math.confusion_matrix([0, 1, 1], [1, 1, 1], weights=w, dtype=w.dtype)

    (got,) = every_mode(matrix, weights)
    assert got.tolist() == [[0, 1], [0, 6]]
    check_gradient(lambda w: matrix(w) ** 2, weights)


def test_labels_out_of_range_are_refused(refuses):
    invalid, labels = td.errors.InvalidArgumentError, np.int32([0, 1])
    refuses(invalid, lambda a, b: td.math.confusion_matrix(a, b, num_classes=2), np.int32([0, 3]), labels, match="out of bound")
    refuses(invalid, td.math.confusion_matrix, labels, np.int32([0, -1]), match="negative")
    refuses(ValueError, td.math.confusion_matrix, labels, np.int32([0, 1, 1]), match="differ")
