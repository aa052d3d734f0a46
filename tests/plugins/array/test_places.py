"""Elements found, counted, moved and put in places, the long ways and the short ones."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import IndexOutOfRangeError
from treadle_array.kernels import counting, diagonals, factorizations, grids, masking, reordering, segments, sorting
from treadle_array.places import of_coordinates, reaches_out


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
@pytest.mark.parametrize("size", [0, 3, 100, 200, 1 << 31, 1 << 40])
def test_an_index_out_of_range_is_seen(dtype, size):
    top = min(size, np.iinfo(dtype).max) - 1
    for index in ([], [0], [top], [-1] if np.dtype(dtype).kind == "i" else [0], [0, size] if size <= np.iinfo(dtype).max else [0]):
        array = np.array(index, np.int64).astype(dtype)
        assert reaches_out(array, size) == any(not 0 <= i < size for i in array.tolist()), (array, size)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_coordinates_become_places(dtype):
    shape = (3, 5, 7)
    indices = np.random.default_rng(0).integers(0, shape, (4, 6, 3)).astype(dtype)
    places, bad = of_coordinates(np, indices, shape, False)
    np.testing.assert_array_equal(places, np.ravel_multi_index(tuple(indices.reshape(-1, 3).T), shape))
    assert bad is None
    indices[1, 2, 1] = -1
    with pytest.raises(IndexOutOfRangeError, match=r"\[1,2\]"):
        of_coordinates(np, indices, shape, False)
    places, bad = of_coordinates(np, indices, shape, True)
    assert bad.nonzero()[0].tolist() == [8]
    assert places[8] == 0
    np.testing.assert_array_equal(of_coordinates(np, indices[..., :0], (), False)[0], np.zeros(24))


@pytest.mark.parametrize("dims", [(7,), (3, 4), (2, 1, 5, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_places_become_coordinates(dims, dtype):
    x = np.arange(np.prod(dims, dtype=int)).astype(dtype)
    got = grids.unravel_index(np)(x, dims)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.array(np.unravel_index(x, dims)).reshape(len(dims), x.size))


def test_coordinates_of_large_shapes():
    np.testing.assert_array_equal(grids.unravel_index(np)(np.int32([5, 2**31 - 1]), (3, 2**40)), [[0, 0], [5, 2**31 - 1]])
    assert grids.unravel_index(np)(np.zeros(0, np.int32), (0, 3)).shape == (2, 0)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_sequence_masks_of_narrow_lengths(dtype):
    lengths = np.array([0, 3, 100]).astype(dtype)
    np.testing.assert_array_equal(masking.sequence_mask(np)(lengths, 300, dtype=td.bool), np.arange(300) < np.array([[0], [3], [100]]))


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (2, 3, 5, 5), (0, 3), (1, 1), (3, 200, 200)])
@pytest.mark.parametrize("bounds", [(-1, 0), (0, -1), (1, 1), (0, 0), (2, 0), (-1, -1)])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex64, bool])
def test_bands(shape, bounds, dtype):
    lower, upper = bounds
    if lower > shape[-2] or upper > shape[-1]:
        return
    x = np.ones(shape, dtype)
    row, column = np.arange(shape[-2])[:, None], np.arange(shape[-1])
    inside = ((lower < 0) | (row - column <= lower)) & ((upper < 0) | (column - row <= upper))
    np.testing.assert_array_equal(diagonals.band_part(np)(x, bounds), np.where(inside, x, np.zeros((), dtype)))


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 3])
@pytest.mark.parametrize("padding", [0.0, -0.0, 7.0])
def test_one_diagonal(k, padding):
    diagonal = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    want = np.full((2, 4 + abs(k), 4 + abs(k)), padding, np.float32)
    for matrix, values in zip(want, diagonal, strict=True):
        matrix[np.arange(4) + max(-k, 0), np.arange(4) + max(k, 0)] = values
    got = diagonals.diag(np)(diagonal, np.float32(padding), (-1, -1), k=(k, k), align="RIGHT_LEFT")
    np.testing.assert_array_equal(got.view(np.int32), want.view(np.int32))
    put = diagonals.set_diag(np)(np.full_like(want, padding), diagonal, k=(k, k), align="RIGHT_LEFT")
    np.testing.assert_array_equal(put.view(np.int32), want.view(np.int32))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (5,), (4, 9), (2, 3, 300)])
def test_orders_are_inverted(shape):
    order = np.argsort(np.random.default_rng(0).random(shape), -1).astype(np.int32)
    got = factorizations.inverse_orders(np)(order)
    np.testing.assert_array_equal(got, np.argsort(order, -1))
    assert got.dtype == order.dtype
    if order.size:
        for wrong in (order.flat[-1] + (1 if shape[-1] > 1 else -1), -1, shape[-1]):
            bad = order.copy()
            bad.flat[-1] = wrong % (shape[-1] + 1) if wrong > 0 else wrong
            with pytest.raises(ValueError, match="once"):
                factorizations.inverse_orders(np)(bad)


@pytest.mark.parametrize(
    ("shape", "batch_axis", "seq_axis"), [((3, 700), 0, 1), ((700, 3), 1, 0), ((4, 5, 90), 1, 0), ((2, 40, 9), 0, 1), ((3, 5), 0, 1)]
)
def test_the_beginnings_of_sequences_are_turned(shape, batch_axis, seq_axis):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    lengths = np.random.default_rng(0).integers(0, shape[seq_axis] + 1, shape[batch_axis])
    want = x.copy()
    for i, n in enumerate(lengths.tolist()):
        rows = np.moveaxis(want, (batch_axis, seq_axis), (0, 1))[i]
        rows[:n] = rows[:n][::-1].copy()
    got = reordering.reverse_sequence(np)(x, lengths.astype(np.int32), seq_axis=seq_axis, batch_axis=batch_axis)
    np.testing.assert_array_equal(got, want)
    assert got.flags.c_contiguous


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.uint8])
@pytest.mark.parametrize("ties", ["none", "some", "nan"])
def test_the_largest_come_first_and_of_equal_ones_the_first(dtype, ties):
    rng = np.random.default_rng(0)
    if ties == "nan" and np.dtype(dtype).kind != "f":
        return
    x = rng.permuted(np.tile(np.arange(200), (30, 1)), axis=1).astype(dtype) - (100 if np.dtype(dtype).kind != "u" else 0)
    if ties == "some":
        x[rng.random(x.shape) < 0.3] = 0
        x[rng.random(x.shape) < 0.1] *= -1 if np.dtype(dtype).kind == "f" else 1  # some zeros are -0.0
    if ties == "nan":
        x[rng.random(x.shape) < 0.02] = np.nan
    keys = np.where(np.isnan(x), np.inf, x.astype(np.float64))
    want = np.argsort(-keys, -1, kind="stable")[:, :7]
    values, places = sorting.top_k(np)(x, 7, index_type=td.int32)
    np.testing.assert_array_equal(places, want)
    np.testing.assert_array_equal(values, np.take_along_axis(x, want, -1))


def test_a_tie_in_one_row_does_not_make_up_for_nan_in_another():
    x = np.tile(np.arange(200, dtype=np.float32), (20, 1))
    x[0, 5] = np.nan
    x[1, 0] = 197
    assert sorting.top_k(np)(x, 3, index_type=td.int32)[1][:3].tolist() == [[5, 199, 198], [199, 198, 0], [199, 198, 197]]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(("rows", "count"), [(1, 5), (40, 3), (40, 300), (0, 4), (3, 0)])
def test_many_rows_are_searched(side, rows, count):
    rng = np.random.default_rng(0)
    sequences, values = np.sort(rng.integers(0, 9, (rows, 12)).astype(np.float32), -1), rng.integers(-1, 10, (rows, count)).astype(np.float32)
    got = sorting.searchsorted(np)(sequences, values, side=side, out_type=td.int32)
    want = [np.searchsorted(s, v, side) for s, v in zip(sequences, values, strict=True)]
    np.testing.assert_array_equal(got, np.array(want).reshape(rows, count))


def test_segments_are_counted_without_negative_numbers():
    sizes = segments.segment_sizes(np)
    assert sizes(np.int32([2, -1, 2, 0]), 4, dtype=td.int32).tolist() == [1, 1, 2, 1]
    assert sizes(np.zeros((0, 2), np.int64), 2, dtype=td.float32).tolist() == [1, 1]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_pairs_of_classes_have_places(dtype):
    got = counting.confusion_places(np)(np.array([0, 2, 1], dtype), np.array([1, 2, 0], dtype), 3)
    assert got.tolist() == [1, 8, 3]
    assert got.dtype == np.int64
