"""Permutations as vectors of indices."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.errors import InvalidArgumentError


@kernel("invert_permutation")
def invert_permutation(xp: Any) -> Any:
    """See the op."""

    def run(x: Any) -> Any:
        (count,) = x.shape
        if count and int(x.view(f"u{x.dtype.itemsize}").max()) >= count:  # a negative number is a large one here
            raise InvalidArgumentError(f"x is not a permutation: its numbers must be 0 to {count - 1}")
        inverse = xp.full(count, -1, x.dtype)
        inverse[x] = xp.arange(count, dtype=x.dtype)
        if count and int(inverse.min()) < 0:
            raise InvalidArgumentError("x is not a permutation: a number stands in it twice")
        return inverse

    return run
