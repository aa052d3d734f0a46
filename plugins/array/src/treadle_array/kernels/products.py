"""Matrix products."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.matrices import is_one_memory


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
        if transpose_a is not transpose_b and is_one_memory(a, b):
            b = b.copy()
        if b.ndim == 2 and a.ndim > 2 and not transpose_a and a.flags.c_contiguous and (out is None or out.flags.c_contiguous):
            return many_by_one(a, b.swapaxes(-1, -2) if transpose_b else b, out)
        if transpose_a:
            a = a.swapaxes(-1, -2)
        if transpose_b:
            b = b.swapaxes(-1, -2)
        return product(a, b, out)

    def many_by_one(a: Any, b: Any, out: Any) -> Any:
        """One product of all rows instead of one for each matrix."""
        shape = (*a.shape[:-1], b.shape[1])
        if a.shape[-1] != b.shape[0] or 0 in (*shape, *a.shape):
            return product(a, b, out)  # which tells what does not fit
        rows = product(a.reshape(-1, a.shape[-1]), b, None if out is None else out.reshape(-1, shape[-1]))
        return rows.reshape(shape) if out is None else out

    return run
