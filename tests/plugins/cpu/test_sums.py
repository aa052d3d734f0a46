"""The CPU's own sums of rows, columns and squares are right for every size, and as accurate as the others."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from treadle_array.kernels import losses as any_losses
from treadle_array.kernels import segments
from treadle_cpu.kernels import losses, row_sums
from treadle_cpu.rows import column_sum


@pytest.mark.parametrize("width", [1, 2, 47, 48, 200])
@pytest.mark.parametrize("count", [1, 15, 16, 17, 33, 1000])
def test_a_sum_of_columns_takes_every_row_once(count, width):
    x = np.random.default_rng(0).integers(0, 99, (count, width)).astype(np.float32)
    np.testing.assert_array_equal(column_sum(x), x.sum(0))
    strided = np.repeat(x, 2, 1)[:, ::2]
    np.testing.assert_array_equal(column_sum(strided), x.sum(0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (4095,), (4096,), (4097,), (3, 5000)])
def test_half_the_sum_of_squares(shape, dtype):
    x = (np.random.default_rng(0).standard_normal(shape) / 8).astype(dtype)
    got = losses.l2_loss(np)(x)
    assert got.dtype == dtype
    want = np.square(x.astype(np.float64)).sum() / 2
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=2 * float(ml_dtypes.finfo(dtype).eps))
    np.testing.assert_allclose(got.astype(np.float64), any_losses.l2_loss(np)(x).astype(np.float64), rtol=2 * float(ml_dtypes.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int32, np.complex64])
@pytest.mark.parametrize("shape", [(50, 3), (4000, 4), (2, 900, 3, 2), (4000,), (0, 3)])
def test_segments_in_any_order_are_summed(shape, dtype):
    rng = np.random.default_rng(0)
    data = rng.integers(-9, 9, shape).astype(dtype)
    ids = rng.integers(-1, 7, shape[: 2 if len(shape) > 2 else 1])
    got = row_sums.unsorted_segment_sum(np)(data, ids, 9)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, segments.unsorted_segment_sum(np)(data, ids, 9))


def test_segments_that_do_not_fit_are_refused():
    data = np.zeros((4000, 4), np.float32)
    with pytest.raises(ValueError, match="out of range"):
        row_sums.unsorted_segment_sum(np)(data, np.full(4000, 9), 9)
    with pytest.raises(ValueError, match="do not fit"):
        row_sums.unsorted_segment_sum(np)(data, np.zeros(3999, int), 9)
