"""The coordinates of places in a flat array."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle_array.places import require_in_range


@kernel("unravel_index")
def unravel_index(xp: Any) -> Any:
    """See the op."""

    def run(indices: Any, dims: tuple[int, ...]) -> Any:
        require_in_range(indices, math.prod(dims))
        result = xp.empty((len(dims), *indices.shape), indices.dtype)
        left = indices.astype(xp.int64)
        for axis in reversed(range(len(dims))):
            result[axis] = left % dims[axis] if dims[axis] else 0
            left = left // dims[axis] if dims[axis] else left
        return result

    return run
