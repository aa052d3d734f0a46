"""Matrices with rows and columns exchanged."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.matrices import matrix


@kernel("matrix_transpose")
def matrix_transpose(xp: Any) -> Any:
    """See the op."""
    return lambda x: xp.ascontiguousarray(matrix(x).swapaxes(-1, -2))
