"""Rows folded together by the number of their segment."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

LEAST = float(np.finfo(np.float32).min)
EMPTY = {"sum": 0, "prod": 1, "max": LEAST, "min": -LEAST, "mean": 0, "sqrt_n": 0}
FOLD = {
    "sum": lambda r: r.sum(0),
    "prod": lambda r: r.prod(0),
    "max": lambda r: r.max(0),
    "min": lambda r: r.min(0),
    "mean": lambda r: r.mean(0),
    "sqrt_n": lambda r: r.sum(0) / np.sqrt(len(r)),
}


def folded(how, data, ids, count, empty):
    rows = data.reshape(ids.size, *data.shape[ids.ndim :]).astype(np.float64)
    members = [rows[ids.reshape(-1) == s] for s in range(count)]
    result = [FOLD[how](m) if len(m) else np.full(rows.shape[1:], empty) for m in members]
    return np.array(result).reshape(count, *rows.shape[1:])


@pytest.mark.parametrize("how", FOLD)
def test_unsorted_numbers_agree_with_numpy(how, every_mode):
    rng = np.random.default_rng(0)
    function = getattr(td.math, f"unsorted_segment_{how}")
    for shape, rest in (((9,), ()), ((9,), (3,)), ((2, 3), (2, 2)), ((0,), (2,)), ((500,), (2,)), ((1,), ())):
        data = rng.standard_normal(shape + rest).astype(np.float32)
        ids = rng.integers(-1, 5, shape).astype(np.int64)
        (got,) = every_mode(lambda d, i: function(d, i, 6), data, ids, rank=how not in ("mean", "sqrt_n"))
        np.testing.assert_allclose(got, folded(how, data, ids, 6, EMPTY[how]).astype(np.float32), rtol=1e-5, atol=1e-6, strict=True)


@pytest.mark.parametrize("how", ["sum", "prod", "max", "min", "mean"])
def test_sorted_numbers_agree_with_numpy(how, every_mode):
    rng = np.random.default_rng(1)
    function = getattr(td.math, f"segment_{how}")
    for size, rest in ((9, ()), (9, (3,)), (0, (2,)), (500, (2,))):
        data = rng.standard_normal((size, *rest)).astype(np.float32)
        ids = np.sort(rng.integers(1, 6, size)).astype(np.int32)
        (got,) = every_mode(function, data, ids)
        empty = 1 if how == "prod" else 0
        np.testing.assert_allclose(
            got, folded(how, data, ids, ids[-1] + 1 if size else 0, empty).astype(np.float32), rtol=1e-5, atol=1e-6, strict=True
        )


def test_integers_wrap_and_their_mean_is_cut_toward_zero():
    ids = np.int32([0, 0, 2])
    assert td.math.segment_sum(np.uint8([200, 100, 1]), ids).numpy().tolist() == [44, 0, 1]
    assert td.math.unsorted_segment_prod(np.int8([100, 3, 1]), ids, 4).numpy().tolist() == [44, 1, 1, 1]
    assert td.math.segment_mean(np.int32([-6, 3, 5]), ids).numpy().tolist() == [-1, 0, 5]
    assert td.math.unsorted_segment_max(np.int8([-5, 3, 1]), ids, 3).numpy().tolist() == [3, -128, 1]
    assert td.math.unsorted_segment_mean(np.int32([1, 2, 5]), ids, 3).dtype is td.float64


def test_extremes_keep_infinities_and_nan():
    data = np.float32([-np.inf, np.nan, 1.0])
    assert td.math.unsorted_segment_max(data, [0, 1, 1], 2).numpy().tolist()[0] == -np.inf
    assert np.isnan(td.math.unsorted_segment_max(data, [0, 1, 1], 2)[1])
    assert td.math.segment_max(np.float32([[-np.inf], [2.0]]), [0, 2]).numpy().tolist() == [[-np.inf], [0], [2]]


def test_sums_of_many_are_accurate():
    data = np.random.default_rng(0).random((100_000, 2), np.float32)
    ids = np.zeros(100_000, np.int32)
    for part in (data, data[:, :1], data[:, 0]):
        np.testing.assert_allclose(td.math.unsorted_segment_sum(part, ids, 1)[0], part.astype(np.float64).sum(0), rtol=2e-7)


@pytest.mark.parametrize("how", FOLD)
def test_gradients_agree_with_differences(how, check_gradient):
    rng = np.random.default_rng(2)
    data = rng.standard_normal((6, 2))
    ids = td.constant([2, 0, -1, 2, 2, 0])
    check_gradient(lambda x: getattr(td.math, f"unsorted_segment_{how}")(x, ids, 4)[::2], data)
    if how != "sqrt_n":
        check_gradient(lambda x: getattr(td.math, f"segment_{how}")(x, td.constant([0, 0, 0, 2, 2, 3])), data)
    if how == "prod":
        data[[0, 1, 5], 0] = 0
        check_gradient(lambda x: td.math.unsorted_segment_prod(x, ids, 4), data)
        check_gradient(lambda x: td.math.unsorted_segment_prod(td.reshape(x, [2, 3, 2]), td.reshape(ids, [2, 3]), 4), data)
        check_gradient(lambda x: td.math.segment_prod(x, td.constant([0, 0, 0, 1, 1, 1])), data)


def test_equal_extremes_share_the_gradient():
    data = td.constant([1.0, 3.0, 3.0, 5.0])
    for function in (lambda x: td.math.segment_max(x, [0, 0, 0, 1]), lambda x: td.math.unsorted_segment_max(x, [0, 0, 0, -1], 2)):
        with td.GradientTape() as tape:
            tape.watch(data)
            y = function(data)
        assert tape.gradient(y, data).numpy().tolist()[:3] == [0, 0.5, 0.5]


def test_the_number_of_segments_may_be_known_at_run_time():
    traced = td.function(lambda x, i, n: td.math.unsorted_segment_sum(x, i, n), autograph=False)
    assert traced(td.ones([3, 2]), td.constant([0, 2, 2]), td.constant(4)).numpy().tolist() == [[1, 1], [0, 0], [2, 2], [0, 0]]


def test_numbers_that_do_not_fit_are_refused(refuses):
    x, invalid = np.float32([1, 2, 3]), td.errors.InvalidArgumentError
    for how in ("sum", "prod", "max", "min", "mean"):
        function = getattr(td.math, f"segment_{how}")
        refuses(invalid, function, x, np.int32([0, 2, 1]), match="increasing")
        refuses(invalid, function, x, np.int32([-1, 0, 0]), match=">= 0")
        refuses(invalid, function, x, np.int32([0, 0]), match="same size|do not fit")
        refuses(ValueError, function, x, np.int32([[0], [0], [1]]), match="vector|rank")
    for how in FOLD:
        function = getattr(td.math, f"unsorted_segment_{how}")
        refuses(invalid, lambda x, i, f=function: f(x, i, 3), x, np.int32([0, 1, 5]), match="out of range")
        refuses(ValueError, lambda x, i, f=function: f(x, i, 3), x, np.int32([0, 1]), match="begin with|do not fit")
        refuses(invalid, lambda x, i, f=function: f(x, i, -1), x, np.int32([0, 1, 1]), match="num_segments")
    refuses(TypeError, td.math.segment_max, x.astype(np.complex64), np.int32([0, 0, 0]), match="complex64")
