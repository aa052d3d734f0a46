"""Matrix products."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


@kernel("matmul", out=True)
def matmul(xp: Any) -> Any:
    """See the op; a transposed input is handed to BLAS as it is."""
    product = xp.matmul

    def run(a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False, out: Any = None) -> Any:
        if transpose_a:
            a = a.swapaxes(-1, -2)
        if transpose_b:
            b = b.swapaxes(-1, -2)
        return product(a, b, out)

    return run
