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
        return (xp.arange(count).astype(wide) * wide(number(delta)) + wide(number(start))).astype(dtype.numpy, copy=False)

    return run


@kernel("linspace")
def linspace(xp: Any) -> Any:
    """See the op; between the ends ``start + i * ((stop - start) / (num - 1))``, for short floats in float32."""

    def run(start: Any, stop: Any, num: int, *, axis: int) -> Any:
        if num < 0:
            raise ValueError(f"num is {num}")
        start, stop = xp.broadcast_arrays(start, stop)
        rank = start.ndim + 1
        if not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is out of range for a result of rank {rank}")
        at = axis % rank
        kind, size = start.dtype.kind, start.dtype.itemsize
        result_type = start.dtype if kind not in "iu" else xp.float32 if size <= 2 else xp.float64
        wide = xp.float32 if size <= 2 else result_type
        distance = (stop - start).astype(wide) if kind in "iu" else stop.astype(wide) - start.astype(wide)
        start, stop = xp.expand_dims(start.astype(wide), at), xp.expand_dims(stop.astype(wide), at)
        delta = xp.expand_dims(distance / wide_number(xp, wide, max(num - 1, 1)), at)
        steps = xp.arange(num).astype(wide).reshape((num,) + (1,) * (rank - 1 - at))
        result = xp.empty((*start.shape[:at], num, *start.shape[at + 1 :]), wide)
        result[...] = start + steps * delta
        if num > 1:
            last = (slice(None),) * at + (slice(num - 1, num),)
            result[last] = stop
        return result.astype(result_type, copy=False)

    return run


def wide_number(xp: Any, dtype: Any, number: int) -> Any:
    """A number as a rank-0 array of a dtype, so that arithmetic with it keeps that dtype."""
    return xp.asarray(number).astype(dtype)
