"""Sorting, places of extremes, the largest elements, and searching in what is sorted."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

NAN, INF = float("nan"), float("inf")
DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "uint8", "uint32", "uint64"]


def sample(dtype, shape, seed=0):
    """Numbers with many ties; floats with -0.0, NaN and infinity among them."""
    rng = np.random.default_rng(seed)
    dtype = getattr(td, dtype)
    x = rng.integers(0 if dtype.is_unsigned else -4, 5, shape).astype(dtype.as_numpy_dtype)
    if dtype is td.uint32:
        x += np.uint32(2**31 - 2)
    if dtype.is_floating and x.size:
        flat = x.reshape(-1)
        flat[::7], flat[3::11], flat[5::13] = -0.0, NAN, INF
    return x


def stable(x, descending=False):
    """Places in order along the last axis: NaN is the largest, equal ones stay in order."""
    keys = np.nan_to_num(x.astype(np.float64), nan=np.inf)
    nan = x != x
    order = np.lexsort(
        (np.broadcast_to(np.arange(x.shape[-1]), x.shape), -nan.astype(int) if descending else nan, -keys if descending else keys), axis=-1
    )
    return order.astype(np.int32)


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_elements_keep_their_order(dtype, every_mode):
    for shape in ((9,), (3, 5), (40, 60), (2, 0)):
        x = sample(dtype, shape)
        for direction in ("ASCENDING", "DESCENDING"):
            want = stable(x, direction == "DESCENDING")
            places, ordered = every_mode(lambda x, d=direction: (td.argsort(x, direction=d), td.cast(td.sort(x, direction=d), td.float64)), x)
            np.testing.assert_array_equal(places, want, strict=True)
            picked = np.take_along_axis(x, want, -1)
            assert td.sort(x).dtype.as_numpy_dtype is x.dtype.type
            np.testing.assert_array_equal(ordered, picked.astype(np.float64))
            number = picked == picked
            np.testing.assert_array_equal(np.signbit(ordered)[number], np.signbit(picked.astype(np.float64))[number])


def test_other_axes_are_sorted_too(every_mode):
    x = sample("float32", (4, 5, 3))
    for axis in (0, 1, -2):
        places, ordered = every_mode(lambda x, a=axis: (td.argsort(x, a, "DESCENDING", True), td.sort(x, axis=a)), x)
        np.testing.assert_array_equal(places, np.moveaxis(stable(np.moveaxis(x, axis, -1), True), -1, axis))
        np.testing.assert_array_equal(ordered, np.sort(x, axis=axis))


def test_the_gradient_of_a_sort_goes_back_to_the_places(check_gradient):
    x = np.random.default_rng(0).standard_normal((2, 3, 4))
    for axis in (-1, 0, 1):
        check_gradient(lambda x, a=axis: td.sort(x, axis=a, direction="DESCENDING") ** 2, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_top_k_takes_the_first_of_equal_ones(dtype, every_mode):
    for shape in ((7,), (3, 6), (30, 100)):
        x = sample(dtype, shape, 1)
        want = stable(x, True)
        for k in {0, 1, 3, shape[-1]}:
            values, places = every_mode(lambda x, k=k: (td.cast((t := td.math.top_k(x, k)).values, td.float64), t.indices), x)
            np.testing.assert_array_equal(places, want[..., :k], strict=True)
            np.testing.assert_array_equal(values, np.take_along_axis(x, want[..., :k], -1).astype(np.float64))


def test_top_k_with_a_number_known_at_run_time(check_gradient):
    found = td.function(lambda x, k: td.math.top_k(x, k, index_type=td.int64), autograph=False)(td.constant([1.0, 5.0, 3.0]), td.constant(2))
    assert (type(found).__name__, found.values.numpy().tolist(), found.indices.numpy().tolist()) == ("TopKV2", [5, 3], [1, 2])
    check_gradient(lambda x: td.math.top_k(x, 2).values ** 2, np.random.default_rng(5).standard_normal((3, 4)))
    assert td.nn.top_k is td.math.top_k


def test_top_k_refuses_what_is_not_there(refuses):
    x = np.float32([1, 2, 3])
    refuses(ValueError, lambda x: td.math.top_k(x, 4), x, match="columns")
    refuses(ValueError, lambda x: td.math.top_k(x, -1), x, match="columns")
    refuses(ValueError, lambda x: td.math.top_k(x, 1), np.float32(1), match="scalar")
    refuses(ValueError, lambda x: td.sort(x, axis=1), x, match="out of range")
    refuses(TypeError, td.argsort, np.array([True]), match="bool")
    for function in (td.sort, td.argsort):
        with pytest.raises(ValueError, match="direction"):
            function(x, direction="UP")


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
def test_places_of_extremes_are_the_first(dtype, every_mode):
    x = sample(dtype, (40, 60)) if dtype != "bool" else sample("int8", (40, 60)) > 0
    for axis in (0, 1, -2):
        high, low = every_mode(lambda x, a=axis: (td.argmax(x, a), td.argmin(x, a, td.int32)), x)
        wide = x.astype(np.float64)
        np.testing.assert_array_equal(high, np.argmax(np.where(wide == wide, wide, -INF), axis), strict=True)
        np.testing.assert_array_equal(low, np.argmin(np.where(wide == wide, wide, INF), axis).astype(np.int32), strict=True)


def test_places_of_extremes_pass_over_nan(every_mode):
    x = np.float32([[1, NAN, 2], [NAN, 5, INF], [-INF, -INF, NAN], [NAN, NAN, NAN]])
    for tile in (x, np.tile(x, (4000, 1))):
        high, low = every_mode(lambda x: (td.argmax(x, 1), td.argmin(x, 1)), tile)
        assert (high[:4].tolist(), low[:4].tolist()) == ([2, 2, 0, 0], [0, 1, 0, 0])
    one, none = every_mode(lambda x: (td.argmax(x[0]), td.argmax(x[:, :0])), x)
    assert (one, none.shape) == (2, (0,))


def test_places_of_extremes_need_something_to_choose_from(refuses):
    for function in (td.argmax, td.argmin):
        refuses(td.errors.InvalidArgumentError, lambda x, f=function: f(x, axis=1), np.zeros((2, 0), np.float32), match="nothing to choose")
        refuses(ValueError, function, np.float32(1), match="out of range")
        refuses(TypeError, function, np.complex64([1]), match="complex64")
        with pytest.raises(ValueError, match="integer"):
            function([1.0], output_type=td.float32)


def test_in_top_k(every_mode, refuses):
    predictions = np.float32([[1, 1, 0], [2, 2, 2], [1, NAN, 0], [INF, 2, 0], [3, 2, 1], [3, 2, 1]])
    (got,) = every_mode(lambda t, p: td.math.in_top_k(t, p, 1), np.int32([0, 2, 0, 1, 1, 7]), predictions)
    assert got.tolist() == [True, True, False, False, False, False]
    (two,) = every_mode(lambda t, p: td.nn.in_top_k(t, p, k=2), np.int64([1, 2]), predictions[4:])
    assert two.tolist() == [True, False]
    refuses(ValueError, lambda t, p: td.math.in_top_k(t, p, 1), np.int32([0]), predictions, match="differ")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searching_agrees_with_numpy(dtype, side, every_mode):
    for shape, count in (((6,), 5), ((3, 6), 4), ((40, 9), 7), ((2, 2, 5), 3), ((6,), 0), ((40, 0), 2)):
        sequences = np.take_along_axis(s := sample(dtype, shape), stable(s), -1)
        values = sample(dtype, (*shape[:-1], count), 1)
        (got,) = every_mode(lambda s, v: td.searchsorted(s, v, side=side, out_type=td.int64), sequences, values)
        rows = zip(sequences.reshape(-1, shape[-1]) if shape[-1] else np.zeros((40, 0)), values.reshape(-1, count) if count else [[]], strict=True)
        want = [np.searchsorted(a.astype(np.float64), np.asarray(b, np.float64), side) for a, b in rows]
        np.testing.assert_array_equal(got, np.reshape(want, got.shape).astype(np.int64), strict=True)


def test_searching_refuses_rows_that_do_not_belong_together(refuses):
    x = np.zeros((2, 3), np.float32)
    refuses(ValueError, td.searchsorted, x, np.zeros((3, 2), np.float32), match="last axis|do not fit")
    refuses(ValueError, td.searchsorted, x[0], np.float32(1), match="scalar|do not fit")
    refuses(TypeError, td.searchsorted, x, x.astype(np.int32), match="dtypes")
    with pytest.raises(ValueError, match="side"):
        td.searchsorted([1.0], [1.0], side="middle")


def test_growing_numbers(every_mode):
    for x, weakly, strictly in (([1, 2, 2], True, False), ([1, 2, 3], True, True), ([2, 1], False, False), ([], True, True), ([5], True, True)):
        assert [bool(r) for r in every_mode(lambda x: (td.math.is_non_decreasing(x), td.math.is_strictly_increasing(x)), np.int32(x))] == [
            weakly,
            strictly,
        ]
    assert not td.math.is_non_decreasing([1.0, NAN, 2.0])
    assert td.math.is_strictly_increasing(np.int32([[-(2**31), 0], [1, 2**31 - 1]]))
