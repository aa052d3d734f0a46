"""Sums of rows at given places. A card's atomic additions come in any order, so only integers, of which every order gives the same, use them.

Rows of floats are sorted by place and added in pairs at doubling distances, so that the same input gives the same bits.
"""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.kernels.gathering import gather_grad_with
from treadle_array.kernels.scattering import scatter_add_with, scatter_nd_with
from treadle_array.row_sums import spread, sum_rows


def sums_of_rows(xp: Any, index: Any, rows: Any, count: int) -> Any:
    """See ``treadle_array.row_sums.sums_of_rows``."""
    sums = xp.zeros((count, rows.shape[1]), rows.dtype)
    if not rows.size:
        return sums
    kind = rows.dtype.kind
    if kind == "b":
        sums.reshape(-1)[spread(xp, index, rows.shape[1])[rows.reshape(-1)]] = True
    elif kind in "iu":
        # atomic additions exist for uint64 and not, in CuPy 13, for int64; both wrap alike
        target, added = (x.view(xp.uint64) if x.dtype.itemsize == 8 else x for x in (sums, rows))
        xp.add.at(target.reshape(-1), spread(xp, index, rows.shape[1]), added.reshape(-1))
    else:
        _add_in_order(xp, sums, index, rows)
    return sums


def _add_in_order(xp: Any, sums: Any, index: Any, rows: Any) -> None:
    order = xp.argsort(index)  # CuPy's sort is stable
    places, rows = index.take(order), rows.take(order, 0)
    starts = xp.ones(places.shape, xp.bool_)
    starts[1:] = places[1:] != places[:-1]
    step = 1
    while step < rows.shape[0]:
        same = places[step:] == places[:-step]
        if not bool(same.any()):
            break
        rows[:-step] += xp.where(same.reshape(-1, 1), rows[step:], xp.zeros((), rows.dtype))
        step *= 2
    first = starts.nonzero()[0]
    sums[places.take(first)] = rows.take(first, 0)


def added_rows(xp: Any, target: Any, index: Any, rows: Any, *, negate: bool = False) -> Any:
    """See ``treadle_array.row_sums.added_rows``; the sums of the rows are added to the target once."""
    combine = xp.subtract if negate else xp.add
    return combine(target, sum_rows(xp, index, rows, target.shape[0], sums_of_rows))


@kernel("gather_grad")
def gather_grad(xp: Any) -> Any:
    """See the op."""
    return gather_grad_with(xp, sums_of_rows)


@kernel("scatter_nd")
def scatter_nd(xp: Any) -> Any:
    """See the op."""
    return scatter_nd_with(xp, sums_of_rows)


@kernel("tensor_scatter_nd_add")
def tensor_scatter_nd_add(xp: Any) -> Any:
    """See the op."""
    return scatter_add_with(xp, added_rows, negate=False)


@kernel("tensor_scatter_nd_sub")
def tensor_scatter_nd_sub(xp: Any) -> Any:
    """See the op."""
    return scatter_add_with(xp, added_rows, negate=True)
