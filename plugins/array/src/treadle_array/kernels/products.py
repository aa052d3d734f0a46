"""Matrix products."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


@kernel("matmul", out=True)
def matmul(xp: Any) -> Any:
    """See the op; a transposed input is handed to BLAS as it is, and short floats are multiplied in float32."""
    product = xp.matmul
    single, double = xp.zeros((), xp.float32).dtype, xp.zeros((), xp.float64).dtype

    def run(a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False, out: Any = None) -> Any:
        if a.ndim < 2 or b.ndim < 2:
            raise ValueError(f"both inputs need rank 2 or more, not the shapes {a.shape} and {b.shape}")
        dtype = a.dtype
        if dtype is not single and dtype is not double and dtype.itemsize == 2 and dtype.kind not in "iu":
            wide = run(a.astype(single), b.astype(single), transpose_a=transpose_a, transpose_b=transpose_b).astype(dtype)
            if out is None:
                return wide
            out[...] = wide
            return out
        if transpose_a is not transpose_b and _root(a) is _root(b):
            b = b.copy()  # BLAS would use syrk for a matrix times its own transpose, with other bits
        if transpose_a:
            a = a.swapaxes(-1, -2)
        if transpose_b:
            b = b.swapaxes(-1, -2)
        return product(a, b, out)

    return run


def _root(x: Any) -> Any:
    return x if x.base is None else x.base
