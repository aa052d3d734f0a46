"""Elements kept and scaled, or set to 0."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.blocks import block_of, is_short


@kernel("keep_scaled")
def keep_scaled(xp: Any) -> Any:
    """See the op; what is dropped is set to 0 by its bits, which takes no branch and no account of infinities."""
    limit = block_of(xp)

    def run(x: Any, bits: Any, *, rate: float) -> Any:
        scale, short = 1 / (1 - rate), is_short(x.dtype)
        least = xp.full((), min(round(rate * 2**32), 2**32 - 1), xp.uint32)
        if bits.shape != x.shape:
            scaled = xp.multiply(x.astype(xp.float32) if short else x, scale)
            return xp.where(bits >= least, scaled, xp.zeros((), scaled.dtype)).astype(x.dtype, copy=False)
        result = xp.empty(x.shape, x.dtype)
        flat, target, chance = x.reshape(-1), result.reshape(-1), bits.reshape(-1)
        for start in range(0, x.size, limit):
            here = slice(start, start + limit)
            part = target[here]
            scaled = xp.multiply(flat[here].astype(xp.float32), scale) if short else xp.multiply(flat[here], scale, part)
            content = scaled.view(xp.int64 if scaled.dtype.itemsize == 8 else xp.int32)
            mask = xp.greater_equal(chance[here], least).astype(content.dtype)
            xp.bitwise_and(content, xp.negative(mask, mask), content)
            if short:
                part[...] = scaled
        return result

    return run
