"""LU by LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle.dtypes import DType
from treadle_array.kernels.factorizations import require_invertible
from treadle_array.matrices import back, square, widened


@kernel("lu", dtypes=("float16", "bfloat16", "float32", "float64"))
def lu(xp: Any) -> Any:
    """See the op; one call of ``getrf`` for each matrix. Complex pivots, which it compares by another modulus, are left to treadle-array."""
    from scipy.linalg import get_lapack_funcs

    def run(input: Any, *, output_idx_type: DType) -> Any:
        size = square(input).shape[-1]
        wide = widened(np, input)
        factors = np.empty(wide.shape, wide.dtype)
        order = np.empty(wide.shape[:-1], output_idx_type.numpy)
        if not input.size:
            return back(np, factors, input), order
        getrf = get_lapack_funcs("getrf", (wide,))
        rows = np.arange(size)
        for index in np.ndindex(wide.shape[:-2]):
            factors[index], exchanged, _ = getrf(wide[index])
            order[index] = _order(rows.copy(), exchanged)
        require_invertible(np, factors)
        return back(np, factors, input), order

    return run


def _order(rows: Any, exchanged: Any) -> Any:
    """The order of rows that a series of exchanges gives."""
    for i, j in enumerate(exchanged):
        if i != j:
            rows[i], rows[j] = rows[j], rows[i]
    return rows
