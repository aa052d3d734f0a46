"""Sums of rows at given places as products with a sparse matrix, which SciPy computes several times faster than NumPy adds at places.

The rows are added in the same order, so the results have the same bits.
"""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle_array.kernels.gathering import gather_grad_with
from treadle_array.kernels.scattering import scatter_nd_with
from treadle_array.kernels.segments import require_fitting
from treadle_array.kernels.segments import unsorted_segment_sum as unsorted_segment_sum_of_array
from treadle_array.row_sums import sum_rows, sums_of_rows

LARGE = 8192
"""Elements from which the product is faster, the making of the matrix included; SciPy is imported for the first of them."""


def sparse_sums_of_rows(xp: Any, index: Any, rows: Any, count: int) -> Any:
    """See ``sums_of_rows``."""
    if rows.size < LARGE or rows.shape[1] < 2 or rows.dtype.kind == "b":
        return sums_of_rows(xp, index, rows, count)
    from scipy.sparse import csc_array

    places = index if index.dtype in (xp.int32, xp.int64) else index.astype(xp.int64)
    starts = xp.arange(len(places) + 1, dtype=places.dtype)
    return csc_array((xp.ones(len(places), rows.dtype), places, starts), shape=(count, len(places))) @ rows


@kernel("gather_grad")
def gather_grad(xp: Any) -> Any:
    """See the op."""
    return gather_grad_with(xp, sparse_sums_of_rows)


@kernel("unsorted_segment_sum")
def unsorted_segment_sum(xp: Any) -> Any:
    """See the op; rows of float32 and shorter floats add up in float64, as single elements do."""
    fold = unsorted_segment_sum_of_array(xp)

    def run(data: Any, segment_ids: Any, num_segments: int) -> Any:
        rest = data.shape[segment_ids.ndim :]
        width = math.prod(rest)
        if data.size < LARGE or width < 2 or data.dtype.kind == "c" or data.dtype == xp.float64:
            return fold(data, segment_ids, num_segments)
        require_fitting(data, segment_ids, num_segments)
        index, rows = segment_ids.reshape(-1), data.reshape(-1, width)
        if bool(index.min() < 0):
            kept = index >= 0
            index, rows = index[kept], rows[kept]
        rows = rows if data.dtype.kind in "iu" else rows.astype(xp.float64)
        return sum_rows(xp, index, rows, num_segments, sparse_sums_of_rows).reshape(num_segments, *rest).astype(data.dtype, copy=False)

    return run


@kernel("scatter_nd")
def scatter_nd(xp: Any) -> Any:
    """See the op."""
    return scatter_nd_with(xp, sparse_sums_of_rows)
