"""Values put into, or combined with, places of a tensor that are given by coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from treadle.declare import kernel
from treadle_array.kernels.gathering import row_places
from treadle_array.row_sums import Summer, accumulator, added_rows, spread, sum_rows, sums_of_rows


def _updates(xp: Any, indices: Any, updates: Any, shape: tuple[int, ...], batch_dims: int, ignore: bool) -> tuple[Any, Any, int]:
    """Row numbers, the rows to put there, and how many rows there are.

    Raises:
        ValueError: the shapes do not fit.
    """
    places, bad, count = row_places(xp, indices, shape, batch_dims, ignore)
    rest = shape[batch_dims + indices.shape[-1] :]
    if updates.shape != (*indices.shape[:-1], *rest):
        raise ValueError(f"updates of shape {updates.shape} do not fit indices of shape {indices.shape} into shape {shape}")
    rows = updates.reshape(places.shape[0], math.prod(rest))
    if bad is not None:
        kept = (~bad).nonzero()[0]
        places, rows = places[kept], rows[kept]
    return places, rows, count


def scatter_nd_with(xp: Any, summer: Summer) -> Any:
    """The kernel of scatter_nd with a way to sum rows."""

    def run(indices: Any, updates: Any, shape: tuple[int, ...], *, batch_dims: int, ignore: bool) -> Any:
        places, rows, count = _updates(xp, indices, updates, shape, batch_dims, ignore)
        return sum_rows(xp, places, rows, count, summer).reshape(shape)

    return run


def scatter_add_with(xp: Any, adder: Callable[..., Any], negate: bool) -> Any:
    """The kernel of tensor_scatter_nd_add and tensor_scatter_nd_sub with a way to add rows, as ``added_rows`` is one."""

    def run(tensor: Any, indices: Any, updates: Any, *, ignore: bool) -> Any:
        places, rows, count = _updates(xp, indices, updates, tensor.shape, 0, ignore)
        target = tensor.copy().reshape(count, rows.shape[1])
        return adder(xp, target, places, rows, negate=negate).reshape(tensor.shape)

    return run


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


@kernel("tensor_scatter_nd_update")
def tensor_scatter_nd_update(xp: Any) -> Any:
    """See the op."""

    def run(tensor: Any, indices: Any, updates: Any) -> Any:
        places, rows, count = _updates(xp, indices, updates, tensor.shape, 0, False)
        result = tensor.copy().reshape(count, rows.shape[1])
        result[places] = rows
        return result.reshape(tensor.shape)

    return run


def scatter_extreme_with(xp: Any, combine_at: Callable[[Any, Any, Any], None]) -> Any:
    """The kernel of tensor_scatter_nd_max and tensor_scatter_nd_min with a way to combine: ``(flat target, places, flat values)``, in place."""

    def run(tensor: Any, indices: Any, updates: Any, *, ignore: bool) -> Any:
        places, rows, _ = _updates(xp, indices, updates, tensor.shape, 0, ignore)
        wide = accumulator(xp, tensor.dtype)
        result = tensor.astype(wide)
        combine_at(result.reshape(-1), spread(xp, places, rows.shape[1]), rows.reshape(-1).astype(wide, copy=False))
        return result if wide == tensor.dtype else result.astype(tensor.dtype)

    return run


@kernel("tensor_scatter_nd_max")
def tensor_scatter_nd_max(xp: Any) -> Any:
    """See the op."""
    return scatter_extreme_with(xp, xp.maximum.at)


@kernel("tensor_scatter_nd_min")
def tensor_scatter_nd_min(xp: Any) -> Any:
    """See the op."""
    return scatter_extreme_with(xp, xp.minimum.at)
