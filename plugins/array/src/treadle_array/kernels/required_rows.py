"""A tensor handed on, if it has rows to go over."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.errors import InvalidArgumentError, ShapeError


@kernel("required_rows")
def required_rows(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, axis: int, least: int, what: str) -> Any:
        if x.ndim <= axis:
            raise ShapeError(f"{what}: elements in elems must be 1+ dimensional tensors, not scalars")
        if x.shape[axis] < least:
            raise InvalidArgumentError(f"{what}: elems has no rows, and there is no initializer; give one")
        return x

    return run
