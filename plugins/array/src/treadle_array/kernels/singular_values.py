"""Singular values, by the array module's LAPACK; short floats are computed in float32."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.errors import InvalidArgumentError
from treadle_array.matrices import back, decomposed, matrix, widened


@kernel("svd")
def svd(xp: Any) -> Any:
    """See the op."""

    def run(a: Any, *, full_matrices: bool) -> Any:
        u, s, vh = _decomposed(xp, widened(xp, a), full_matrices)
        v = vh.swapaxes(-1, -2)
        v = xp.conjugate(v) if v.dtype.kind == "c" else v
        return back(xp, s, a), back(xp, u, a), back(xp, v, a)

    return run


def _decomposed(xp: Any, a: Any, full_matrices: bool) -> Any:
    """NumPy's decomposition; of a matrix without elements it is the identity and nothing."""
    matrix(a)
    rows, columns = a.shape[-2:]
    if rows and columns:
        return decomposed(xp.linalg.svd, a, full_matrices)
    lead = a.shape[:-2]
    real = xp.zeros((), a.dtype).real.dtype
    sides = [xp.eye(n if full_matrices else 0, dtype=a.dtype) if full_matrices else xp.zeros((n, 0), a.dtype) for n in (rows, columns)]
    u, v = (xp.zeros((*lead, *side.shape), a.dtype) + side for side in sides)
    return u, xp.zeros((*lead, 0), real), v.swapaxes(-1, -2)


@kernel("singular_values")
def singular_values(xp: Any) -> Any:
    """See the op."""

    def run(a: Any) -> Any:
        matrix(a)
        if not a.shape[-1] or not a.shape[-2]:
            return xp.zeros((*a.shape[:-2], 0), a.real.dtype if a.dtype.kind == "c" else a.dtype)
        return back(xp, decomposed(xp.linalg.svd, widened(xp, a), False, False), a)

    return run


@kernel("pinv")
def pinv(xp: Any) -> Any:
    """See the op."""

    def run(a: Any, rcond: Any) -> Any:
        matrix(a)
        wide = widened(xp, a)
        u, s, vh = _decomposed(xp, wide, False)
        if not s.shape[-1]:
            lead = xp.broadcast_shapes(a.shape[:-2], rcond.shape) if hasattr(xp, "broadcast_shapes") else a.shape[:-2]
            return xp.zeros((*lead, a.shape[-1], a.shape[-2]), a.dtype)
        cutoff = rcond[..., None] * s[..., :1]
        inverse = xp.where(s > cutoff, 1 / s, xp.zeros((), s.dtype))
        v, uh = vh.swapaxes(-1, -2), u.swapaxes(-1, -2)
        if wide.dtype.kind == "c":
            v, uh = v.conj(), uh.conj()
        if not bool(xp.isfinite(s).all()):
            raise InvalidArgumentError("pinv: an element of the matrix is not finite")
        return back(xp, xp.matmul(v * inverse[..., None, :], uh), a)

    return run
