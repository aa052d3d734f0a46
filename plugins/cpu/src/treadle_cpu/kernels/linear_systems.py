"""Triangular systems by SciPy's BLAS."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle_array.kernels.linear_systems import check_system, empty_solution
from treadle_array.matrices import back, widened


@kernel("triangular_solve")
def triangular_solve(xp: Any) -> Any:
    """See the op; one call of ``trsm`` for each matrix, which reads the transposed matrix as it lies."""
    from scipy.linalg import get_blas_funcs

    def run(a: Any, b: Any, *, lower: bool, adjoint: bool) -> Any:
        check_system(a, b)
        wide, right = widened(np, a), widened(np, b)
        x = np.array(empty_solution(np, wide, right) + right, order="C")
        if not x.size:
            return back(np, x, a)
        trsm = get_blas_funcs("trsm", (wide, x))
        many = np.broadcast_to(wide, (*x.shape[:-2], *wide.shape[-2:])).reshape(-1, *wide.shape[-2:])
        flat = x.reshape(-1, *x.shape[-2:])
        for i in range(flat.shape[0]):
            matrix = many[i]
            # Fortran sees the transposes: x^T op(a)^T = b^T, solved from the right and written over b^T.
            if adjoint and matrix.dtype.kind == "c":
                matrix = matrix.conj()
            solved = trsm(1.0, matrix.T, flat[i].T, side=1, lower=not lower, trans_a=bool(adjoint), overwrite_b=True)
            if not np.shares_memory(solved, flat):
                flat[i] = solved.T
        return back(np, x, a)

    return run
