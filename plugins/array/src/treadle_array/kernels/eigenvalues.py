"""Eigenvalues by the array module's LAPACK; short floats are computed in float32."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.matrices import back, decomposed, square, widened


@kernel("eigh")
def eigh(xp: Any) -> Any:
    """See the op."""

    def run(a: Any) -> Any:
        if not square(a).size:
            return xp.zeros(a.shape[:-1], a.dtype), a.copy()
        values, vectors = decomposed(xp.linalg.eigh, widened(xp, a))
        return back(xp, values.astype(vectors.dtype), a), back(xp, vectors, a)

    return run


@kernel("eigvalsh")
def eigvalsh(xp: Any) -> Any:
    """See the op."""

    def run(a: Any) -> Any:
        if not square(a).size:
            return xp.zeros(a.shape[:-1], a.dtype)
        wide = widened(xp, a)
        return back(xp, decomposed(xp.linalg.eigvalsh, wide).astype(wide.dtype), a)

    return run


def _complex(xp: Any, a: Any) -> Any:
    return a if a.dtype.kind == "c" else a.astype(xp.complex128 if a.dtype.itemsize == 8 else xp.complex64)


@kernel("eig")
def eig(xp: Any) -> Any:
    """See the op."""

    def run(a: Any) -> Any:
        if not square(a).size:
            return xp.zeros(a.shape[:-1], _complex(xp, a).dtype), _complex(xp, a).copy()
        values, vectors = decomposed(xp.linalg.eig, widened(xp, a))
        return xp.ascontiguousarray(_complex(xp, values)), xp.ascontiguousarray(_complex(xp, vectors))

    return run


@kernel("eigvals")
def eigvals(xp: Any) -> Any:
    """See the op."""

    def run(a: Any) -> Any:
        if not square(a).size:
            return xp.zeros(a.shape[:-1], _complex(xp, a).dtype)
        return xp.ascontiguousarray(_complex(xp, decomposed(xp.linalg.eigvals, widened(xp, a))))

    return run


def _dense(xp: Any, main: Any, beside: Any) -> Any:
    if main.ndim != 1 or beside.shape != (max(main.shape[0] - 1, 0),):
        raise ValueError(f"diagonals of the shapes {main.shape} and {beside.shape} do not fit each other")
    return xp.diag(main) + xp.diag(beside, -1) + xp.diag(beside, 1)


def _chosen(xp: Any, values: Any, select: str, bounds: Any) -> Any:
    if select == "a":
        return slice(None)
    if select == "i":
        return slice(bounds[0], bounds[1] + 1)
    return (values > bounds[0]) & (values <= bounds[1])


@kernel("eigh_tridiagonal")
def eigh_tridiagonal(xp: Any) -> Any:
    """See the op."""

    def run(main: Any, beside: Any, *, select: str, bounds: Any) -> Any:
        values, vectors = decomposed(xp.linalg.eigh, _dense(xp, widened(xp, main), widened(xp, beside)))
        chosen = _chosen(xp, values, select, bounds)
        return back(xp, values[chosen], main), back(xp, vectors[:, chosen], main)

    return run


@kernel("eigvalsh_tridiagonal")
def eigvalsh_tridiagonal(xp: Any) -> Any:
    """See the op."""

    def run(main: Any, beside: Any, *, select: str, bounds: Any) -> Any:
        values = decomposed(xp.linalg.eigvalsh, _dense(xp, widened(xp, main), widened(xp, beside)))
        return back(xp, values[_chosen(xp, values, select, bounds)], main)

    return run
