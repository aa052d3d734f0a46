"""Shapes of tensors and how to change them."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType
from treadle_array.axis_sums import summation, widened


@kernel("shape")
def shape(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, out_type: DType) -> Any:
        return xp.array(x.shape, out_type.numpy)

    return run


@kernel("reshape")
def reshape(xp: Any) -> Any:
    """See the op; array modules take any negative size for what is left, and only -1 is."""

    def run(x: Any, shape: tuple[int, ...]) -> Any:
        if not x.size and 0 in shape and -1 in shape:
            shape = _with_the_rest(x.shape, shape)
        result = x.reshape(shape)
        if result.shape != shape and min(shape) < -1:
            raise ValueError(f"the shape {shape} has a negative size other than -1")
        return result

    return run


def _with_the_rest(have: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    """The shape wanted of an empty array, with the quotient of the sizes that are not 0 for -1, as in TensorFlow."""
    at = wanted.index(-1)
    rest = math.prod(n for n in have if n) // math.prod(n for n in wanted if n not in (0, -1))
    return (*wanted[:at], rest, *wanted[at + 1 :])


@kernel("expand_dims")
def expand_dims(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, axis: int) -> Any:
        shape = x.shape
        rank = len(shape) + 1
        if not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is out of range for a result of rank {rank}")
        at = axis % rank
        return x.reshape((*shape[:at], 1, *shape[at:]))

    return run


@kernel("squeeze")
def squeeze(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, axis: tuple[int, ...] | None) -> Any:
        return x.squeeze(axis)

    return run


@kernel("ensure_shape")
def ensure_shape(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, shape: tuple[int | None, ...]) -> Any:
        if x.shape != shape and (x.ndim != len(shape) or any(want not in (None, have) for have, want in zip(x.shape, shape, strict=True))):
            raise ValueError(f"shape {x.shape} is not compatible with {shape}, the shape it must have")
        return x

    return run


@kernel("broadcast_to")
def broadcast_to(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, shape: tuple[int, ...]) -> Any:
        if x.shape == shape:
            return x
        if x.ndim > len(shape):
            raise ValueError(f"shape {x.shape} has more axes than {shape}")
        result = xp.empty(shape, x.dtype)
        result[...] = x
        return result

    return run


@kernel("sum_to_shape")
def sum_to_shape(xp: Any) -> Any:
    """See the op; short floats are summed in float32."""
    add_up = summation(xp)

    def run(x: Any, shape: tuple[int, ...]) -> Any:
        if x.shape == shape:
            return x
        wide = widened(xp, x)
        total = add_up(wide, _repeated_axes(x.shape, shape), True).reshape(shape)
        return total if wide is x else total.astype(x.dtype)

    return run


@lru_cache(4096)
def _repeated_axes(shape: tuple[int, ...], before: tuple[int, ...]) -> tuple[int, ...]:
    """The axes along which ``before`` was repeated to become ``shape``."""
    lead = len(shape) - len(before)
    if lead < 0 or any(n not in (1, have) for n, have in zip(before, shape[lead:], strict=True)):
        raise ValueError(f"shape {shape} cannot be summed to {before}")
    return tuple(range(lead)) + tuple(i + lead for i, n in enumerate(before) if n == 1 and shape[i + lead] != 1)


@kernel("transpose")
def transpose(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, perm: tuple[int, ...] | None) -> Any:
        turned = x.transpose(perm)
        return xp.ascontiguousarray(turned) if x.ndim > 1 else turned

    return run
