"""Determinants by the array module's LAPACK; short floats are computed in float32."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.matrices import back, decomposed, square, widened


@kernel("det")
def det(xp: Any) -> Any:
    """See the op."""

    def run(input: Any) -> Any:
        if not square(input).size:
            return xp.ones(input.shape[:-2], input.dtype)
        return back(xp, xp.asarray(xp.linalg.det(widened(xp, input))), input)

    return run


@kernel("slogdet")
def slogdet(xp: Any) -> Any:
    """See the op."""

    def run(input: Any) -> Any:
        if not square(input).size:
            return xp.ones(input.shape[:-2], input.dtype), xp.zeros(input.shape[:-2], input.dtype)
        sign, size = xp.linalg.slogdet(widened(xp, input))
        sign = xp.asarray(sign)
        return back(xp, sign, input), back(xp, xp.asarray(size).astype(sign.dtype), input)

    return run


@kernel("cofactors")
def cofactors(xp: Any) -> Any:
    """See the op: from ``u @ diag(s) @ vh``, where the cofactors of a diagonal matrix are the products of the other elements."""

    def run(x: Any) -> Any:
        if not square(x).size:
            return x.copy()
        wide = widened(xp, x)
        u, s, vh = decomposed(xp.linalg.svd, wide)
        before, after = xp.ones_like(s), xp.ones_like(s)
        xp.cumprod(s[..., :-1], axis=-1, out=before[..., 1:])
        after[..., :-1] = xp.cumprod(s[..., :0:-1], axis=-1)[..., ::-1]
        sign = xp.asarray(xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]
        if wide.dtype.kind == "c":
            u, vh = u.conj(), vh.conj()
        return back(xp, sign * xp.matmul(u * (before * after)[..., None, :], vh), x)

    return run
