"""Operations on the bits of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.declare import kernel, same_names

same_names(__name__, bitwise_and="bitwise_and", bitwise_or="bitwise_or", bitwise_xor="bitwise_xor", invert="invert")


@kernel("left_shift", out=True)
def left_shift(xp: Any) -> Any:
    """See the op."""
    return _shift(xp, xp.left_shift)


@kernel("right_shift", out=True)
def right_shift(xp: Any) -> Any:
    """See the op."""
    return _shift(xp, xp.right_shift)


def _shift(xp: Any, shift: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, y: Any, *, out: Any = None) -> Any:
        return shift(x, xp.clip(y, 0, 8 * y.dtype.itemsize - 1), out=out)

    return run
