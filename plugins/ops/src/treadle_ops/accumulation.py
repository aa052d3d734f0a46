"""The sum of two cotangents of one tensor, which may be lists of tensors, or rows of a larger tensor."""

from __future__ import annotations

from typing import Any

from treadle_ops.elementwise import add
from treadle_ops.indexed_slices import IndexedSlices, together
from treadle_ops.tensor_lists import tensor_list_add


def accumulate(x: Any, y: Any) -> Any:
    """The sum of two cotangents; rows stay rows."""
    if isinstance(x, IndexedSlices) and isinstance(y, IndexedSlices):
        return together(x, y)
    return tensor_list_add(x, y) if x.dtype.kind == "l" else add(x, y)
