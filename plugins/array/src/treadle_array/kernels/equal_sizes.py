"""A tensor handed on, if one of its sizes is that of another tensor."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.errors import ShapeError
from treadle_array.places import with_axis


@kernel("equal_sizes")
def equal_sizes(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, y: Any, *, axis: int, other: int, what: str) -> Any:
        have, want = x.shape[with_axis(axis, x.ndim)], y.shape[with_axis(other, y.ndim)]
        if have != want:
            raise ShapeError(f"{what}, {have} and {want}, must be equal (shapes {x.shape} and {y.shape})")
        return x

    return run
