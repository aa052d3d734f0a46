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
        index = indices.reshape(-1).astype(xp.int64)
        after = math.prod(indices.shape[at:])
        number = xp.arange(index.shape[0])
        places = number * depth + index if after == 1 else (number // after * depth + index) * after + number % after
        if reaches_out(indices, depth):
            places = places[((index >= 0) & (index < depth)).nonzero()[0]]
        result.reshape(-1)[places] = 1
        return result

    return run
