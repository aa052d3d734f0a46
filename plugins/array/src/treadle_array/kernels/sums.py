"""Sums of several tensors."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


@kernel("add_n")
def add_n(xp: Any) -> Any:
    """See the op; short floats are summed in float32."""

    def run(inputs: list[Any]) -> Any:
        first = inputs[0]
        if any(x.shape != first.shape for x in inputs):
            raise ValueError(f"the inputs have the shapes {[x.shape for x in inputs]}; they must be equal")
        short = first.dtype.itemsize < 4 and first.dtype.kind not in "iu"
        total = xp.array(first, xp.float32 if short else first.dtype)
        for x in inputs[1:]:
            xp.add(total, x.astype(xp.float32) if short else x, out=total)
        return total.astype(first.dtype) if short else total

    return run
