"""The distinct elements of a vector."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

NAN = float("nan")


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint32", "uint64", "float32", "float64", "bfloat16", "complex64"])
def test_distinct_elements_come_in_the_order_of_their_first_places(dtype, every_mode):
    rng = np.random.default_rng(0)
    for size, high in ((0, 1), (1, 3), (9, 4), (3000, 300)):
        x = rng.integers(0, high, size).astype(getattr(td, dtype).as_numpy_dtype)
        (y, idx), (again, same, count) = td.unique(x), td.unique_with_counts(x)
        first = sorted({int(v.real): i for i, v in reversed(list(enumerate(x)))}.items(), key=lambda item: item[1])
        assert [int(v.real) for v in y.numpy()] == [v for v, _ in first]
        np.testing.assert_array_equal(y.numpy()[idx.numpy()] if size else x, x)
        np.testing.assert_array_equal(again.numpy(), y.numpy())
        np.testing.assert_array_equal(same.numpy(), idx.numpy())
        np.testing.assert_array_equal(count.numpy(), np.bincount(idx.numpy(), minlength=len(first)))
        every_mode(td.unique_with_counts, x)


def test_every_nan_is_distinct_and_zeros_are_one(every_mode):
    y, idx = every_mode(td.unique, np.float32([-0.0, NAN, 0.0, NAN, 1]))
    np.testing.assert_array_equal(y, np.float32([-0.0, NAN, NAN, 1]))
    assert np.signbit(y[0])
    assert idx.tolist() == [0, 1, 0, 2, 3]


def test_results_have_names_and_dtypes():
    found = td.unique_with_counts([True, False, True], out_idx=td.int64)
    assert (type(found).__name__, found._fields) == ("UniqueWithCounts", ("y", "idx", "count"))
    assert (found.y.dtype, found.idx.dtype, found.count.dtype) == (td.bool, td.int64, td.int64)
    assert found.count.numpy().tolist() == [2, 1]
    assert (type(td.unique([1])).__name__, td.unique([1]).idx.dtype) == ("Unique", td.int32)


def test_only_vectors_are_taken(refuses):
    refuses(ValueError, td.unique, np.zeros((2, 2), np.float32), match="rank")
    refuses(ValueError, td.unique_with_counts, np.float32(1), match="rank")
    with pytest.raises(TypeError, match="integer"):
        td.unique([1], out_idx=td.float32)
