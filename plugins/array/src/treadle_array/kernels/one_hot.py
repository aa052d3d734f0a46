"""Indices as vectors with a single element that differs from the others."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType
from treadle_array.places import reaches_out, with_axis


@kernel("one_hot")
def one_hot(xp: Any) -> Any:
    """See the op."""

    def run(indices: Any, depth: int, *, axis: int, dtype: DType) -> Any:
        at = with_axis(axis, indices.ndim + 1)
        if isinstance(depth, tuple) or depth < 0:
            raise ValueError(f"depth {depth} must be a scalar, 0 or more")
        result = xp.zeros((*indices.shape[:at], depth, *indices.shape[at:]), dtype.numpy)
        index, after = indices.reshape(-1), math.prod(indices.shape[at:])
        number = xp.arange(index.shape[0])
        if index.dtype.kind == "u":
            index = index.astype(xp.int64)
        kept = ((index >= 0) & (index < depth)).nonzero()[0] if reaches_out(index, depth) else None
        if after == 1:
            places = (number, index) if kept is None else (kept, index[kept])
            result.reshape(index.shape[0], depth)[places] = 1
        else:
            places = (number // after * depth + index) * after + number % after
            result.reshape(-1)[places if kept is None else places[kept]] = 1
        return result

    return run
