"""Transposition in slabs of one cache line, which NumPy's own copy does not do."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.declare import kernel

_LARGE = 1 << 18
"""Bytes from which a copy is worth a loop."""

_LINE = 64
_CACHE_LINES = 384
_CONFLICTING = 1024
"""Addresses at a multiple of this many bytes fall into few sets of the cache, so that fewer lines than it has stay in it."""


@kernel("transpose")
def transpose(xp: Any) -> Any:
    """See the op; where what is read for one row of the result does not stay in the cache, a few rows are read at a time."""

    def run(x: Any, *, perm: tuple[int, ...] | None) -> Any:
        turned = x.transpose(perm)
        if x.ndim < 2:
            return turned
        if x.nbytes < _LARGE or not _is_scattered(x, turned):
            return np.ascontiguousarray(turned)
        result = np.empty(turned.shape, x.dtype)
        rows = max(_LINE // x.itemsize, 8)
        for start in range(0, turned.shape[-1], rows):
            result[..., start : start + rows] = turned[..., start : start + rows]
        return result

    return run


def _is_scattered(x: Any, turned: Any) -> bool:
    size, stride = turned.shape[-1], turned.strides[-1]
    if stride < 512 or x.shape[-1] < 64 or size < max(64, 16 * x.itemsize) or x.size < 256 * size:
        return False
    return size > _CACHE_LINES or not stride % _CONFLICTING
