"""Numbers at even distances."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType


@kernel("range")
def range_(xp: Any) -> Any:
    """See the op; element i is ``start + i * delta``, for short floats in float32."""

    def run(start: Any, limit: Any, delta: Any, *, dtype: DType, count: int | None) -> Any:
        if delta == 0:
            raise ValueError("delta is 0")
        if (start > limit) if delta > 0 else (start < limit):
            raise ValueError(f"limit {limit} cannot be reached from start {start} by steps of {delta}")
        number = dtype.numpy.type
        if dtype.is_integer:
            count = -((start - limit) // delta)
            return xp.arange(start, start + count * delta, delta, dtype.numpy)
        if count is None:
            count = math.ceil(abs(float((number(limit) - number(start)) / number(delta))))
        wide = xp.float64 if dtype.size == 8 else xp.float32
        result = xp.arange(count, dtype=wide)
        if delta != 1:
            result *= wide(number(delta))
        if start != 0:
            result += wide(number(start))
        return result.astype(dtype.numpy, copy=False)

    return run


@kernel("linspace")
def linspace(xp: Any) -> Any:
    """See the op; between the ends ``start + i * ((stop - start) / (num - 1))``, for short floats in float32."""

    def run(start: Any, stop: Any, num: int, *, axis: int) -> Any:
        if num < 0:
            raise ValueError(f"num is {num}")
        dtype, wide = _dtypes(xp, start.dtype)
        difference = stop - start if wide is None else stop.astype(wide, copy=False) - start.astype(wide, copy=False)
        wide = wide or dtype
        rank = difference.ndim + 1
        if not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is out of range for a result of rank {rank}")
        at = axis % rank
        shape = difference.shape
        apart = (*shape[:at], 1, *shape[at:])
        delta = xp.asarray(difference.astype(wide, copy=False) / wide.type(max(num - 1, 1))).reshape(apart)
        first, last = (_spread(xp, end.astype(wide, copy=False), shape, apart) for end in (start, stop))
        steps = xp.arange(num, dtype=xp.float64 if wide.kind == "c" else wide).reshape((num,) + (1,) * (rank - 1 - at))
        result = steps if rank == 1 and steps.dtype == wide else xp.empty((*shape[:at], num, *shape[at:]), wide)
        xp.multiply(steps, delta, result)
        result += first
        if num > 1:
            result[(slice(None),) * at + (slice(num - 1, num),)] = last
        return result.astype(dtype, copy=False)

    return run


def _dtypes(xp: Any, dtype: Any) -> tuple[Any, Any]:
    """The dtype of the result, and that of the arithmetic where the difference is not taken as it is."""
    if dtype.kind in "iu":
        return xp.dtype(xp.float32 if dtype.itemsize <= 2 else xp.float64), None
    return dtype, xp.dtype(xp.float32) if dtype.itemsize <= 2 else dtype


def _spread(xp: Any, end: Any, shape: tuple[int, ...], apart: tuple[int, ...]) -> Any:
    """An end of every row, with a place for the new axis."""
    return (end if end.shape == shape else xp.broadcast_to(end, shape)).reshape(apart)
