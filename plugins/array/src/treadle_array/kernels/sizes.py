"""Sizes as tensors: the number of elements, of axes, and what shapes broadcast to."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.dims import broadcast
from treadle.dtypes import DType


@kernel("size")
def size(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, out_type: DType) -> Any:
        return xp.array(x.size, out_type.numpy)

    return run


@kernel("rank")
def rank(xp: Any) -> Any:
    """See the op."""

    def run(x: Any) -> Any:
        return xp.array(x.ndim, xp.int32)

    return run


@kernel("axis_size")
def axis_size(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, axis: int) -> Any:
        return xp.array(x.shape[axis], xp.int32)

    return run


@kernel("broadcast_dynamic_shape")
def broadcast_dynamic_shape(xp: Any) -> Any:
    """See the op."""

    def run(x: tuple[int, ...], y: tuple[int, ...], *, out_type: DType) -> Any:
        if min((*x, *y), default=0) < 0:
            raise ValueError(f"one of the shapes {x} and {y} has a negative size")
        return xp.array(broadcast(x, y), out_type.numpy)

    return run
