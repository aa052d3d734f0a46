"""Systems with tridiagonal matrices, and their eigenvalues, by LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle.errors import InvalidArgumentError
from treadle_array.kernels.tridiagonal import check_tridiagonal
from treadle_array.matrices import back, widened


@kernel("tridiagonal_solve")
def tridiagonal_solve(xp: Any) -> Any:
    """See the op; one call of ``gtsv`` for each matrix."""
    from scipy.linalg import get_lapack_funcs

    def run(diagonals: Any, b: Any) -> Any:
        check_tridiagonal(diagonals, b)
        rows, right = widened(np, diagonals), widened(np, b)
        lead = np.broadcast_shapes(rows.shape[:-2], right.shape[:-2])
        x = np.array(np.broadcast_to(right, (*lead, *right.shape[-2:])), order="C")
        if not x.size:
            return back(np, x, diagonals)
        gtsv = get_lapack_funcs("gtsv", (rows, x))
        flat = x.reshape(-1, *x.shape[-2:])
        for i, (above, main, below) in enumerate(np.broadcast_to(rows, (*lead, *rows.shape[-2:])).reshape(-1, *rows.shape[-2:])):
            if main.size == 1:
                flat[i] /= main
                continue
            *_, solved, info = gtsv(below[1:], main, above[:-1], flat[i])
            if info:
                raise InvalidArgumentError("Input matrix is not invertible.")
            flat[i] = solved
        return back(np, x, diagonals)

    return run


@kernel("eigh_tridiagonal")
def eigh_tridiagonal(xp: Any) -> Any:
    """See the op."""
    from scipy.linalg import eigh_tridiagonal as decompose

    def run(main: Any, beside: Any, *, select: str, bounds: Any) -> Any:
        _require_vectors(main, beside)
        values, vectors = decompose(main, beside, select=select, select_range=bounds)
        return np.ascontiguousarray(values.astype(main.dtype)), np.ascontiguousarray(vectors.astype(main.dtype))

    return run


@kernel("eigvalsh_tridiagonal")
def eigvalsh_tridiagonal(xp: Any) -> Any:
    """See the op."""
    from scipy.linalg import eigvalsh_tridiagonal as decompose

    def run(main: Any, beside: Any, *, select: str, bounds: Any) -> Any:
        _require_vectors(main, beside)
        return np.ascontiguousarray(decompose(main, beside, select=select, select_range=bounds).astype(main.dtype))

    return run


def _require_vectors(main: Any, beside: Any) -> None:
    if main.ndim != 1 or beside.ndim != 1:  # SciPy takes several at once
        raise ValueError(f"diagonals of the shapes {main.shape} and {beside.shape}; expected vectors")
