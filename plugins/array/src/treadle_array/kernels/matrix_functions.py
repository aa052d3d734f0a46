"""The exponential of matrices by scaling, a Padé approximant of degree 13 and squaring."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.matrices import back, square, widened

_PADE = (
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
)
_REACH = 5.371920351148152
"""The norm up to which the approximant is exact to double precision."""


@kernel("expm")
def expm(xp: Any) -> Any:
    """See the op; short floats and float32 are computed in double precision."""

    def run(input: Any) -> Any:
        if not square(input).size:
            return input.copy()
        a = widened(xp, input)
        a = a.astype(xp.complex128 if a.dtype.kind == "c" else xp.float64)
        norms = xp.abs(a).sum(axis=-2).max(axis=-1)
        finite = xp.where(xp.isfinite(norms), norms, 0)
        squarings = xp.maximum(xp.ceil(xp.log2(xp.maximum(finite, 1e-300) / _REACH)), 0)
        result = _approximant(xp, a / (2.0**squarings)[..., None, None])
        for i in range(int(squarings.max())):
            squared = xp.matmul(result, result.copy())
            result = squared if a.ndim == 2 else xp.where((squarings > i)[..., None, None], squared, result)
        if not bool(xp.isfinite(norms).all()):
            result = xp.where(xp.isfinite(norms)[..., None, None], result, xp.nan)
        return back(xp, result, input) if input.dtype.itemsize == 2 else result.astype(input.dtype)

    return run


def _approximant(xp: Any, a: Any) -> Any:
    b = _PADE
    unit = xp.eye(a.shape[-1], dtype=a.dtype)
    a2 = xp.matmul(a, a.copy())  # a copy: BLAS takes another way for a matrix times itself
    a4 = xp.matmul(a2, a2.copy())
    a6 = xp.matmul(a4, a2)
    odd = xp.matmul(a6, b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * unit
    even = xp.matmul(a6, b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * unit
    u = xp.matmul(a, odd)
    finite = xp.isfinite(even - u).all(axis=(-2, -1), keepdims=True)
    return xp.linalg.solve(xp.where(finite, even - u, unit), even + u)
