"""The coordinates of places in a flat array."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle_array.intermediates import reused
from treadle_array.places import require_in_range


@kernel("unravel_index")
def unravel_index(xp: Any) -> Any:
    """See the op."""

    def run(indices: Any, dims: tuple[int, ...]) -> Any:
        require_in_range(indices, math.prod(dims))
        result = xp.empty((len(dims), *indices.shape), indices.dtype)
        fits = indices.dtype.itemsize >= 4 and max(dims, default=0) <= xp.iinfo(indices.dtype).max
        left = indices if fits else indices.astype(xp.int64)
        for axis in reversed(range(1, len(dims))):
            rows = left // max(1, dims[axis])  # an axis of size 0 has no indices
            before = rows * dims[axis]
            result[axis] = xp.subtract(left, before, out=reused(before))
            left = rows
        if dims:
            result[0] = left
        return result

    return run
