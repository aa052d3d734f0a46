"""Shapes of tensors and how to change them."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType


@kernel("shape")
def shape(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, out_type: DType) -> Any:
        return xp.array(x.shape, out_type.numpy)

    return run


@kernel("reshape")
def reshape(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, shape: tuple[int, ...]) -> Any:
        return x.reshape(shape)

    return run


@kernel("expand_dims")
def expand_dims(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, axis: int) -> Any:
        at = axis if axis >= 0 else axis + x.ndim + 1
        return x.reshape((*x.shape[:at], 1, *x.shape[at:]))

    return run


@kernel("broadcast_to")
def broadcast_to(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, shape: tuple[int, ...]) -> Any:
        if x.shape == shape:
            return x
        result = xp.empty(shape, x.dtype)
        result[...] = x
        return result

    return run


@kernel("sum_to_shape")
def sum_to_shape(xp: Any) -> Any:
    """See the op; short floats are summed in float32."""
    reduce = xp.add.reduce

    def total(x: Any, axes: Any) -> Any:
        if x.dtype.itemsize == 2 and x.dtype.kind not in "iu":
            return reduce(x.astype(xp.float32), axes).astype(x.dtype)
        return reduce(x, axes, x.dtype)

    def run(x: Any, shape: tuple[int, ...]) -> Any:
        if x.shape == shape:
            return x
        lead = x.ndim - len(shape)
        if x.shape[lead:] == shape:
            return total(x, 0 if lead == 1 else tuple(range(lead)))
        axes = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(shape) if n == 1 and x.shape[i + lead] != 1)
        return total(x, axes).reshape(shape)

    return run


@kernel("transpose")
def transpose(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, perm: tuple[int, ...] | None) -> Any:
        return xp.ascontiguousarray(x.transpose(perm)) if x.ndim > 1 else x

    return run
