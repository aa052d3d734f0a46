"""Sums, products, means and truth over axes."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle_array.axis_sums import summation, widened
from treadle_array.places import with_axis


@kernel("reduce_sum")
def reduce_sum(xp: Any) -> Any:
    """See the op; short floats are summed in float32."""
    add_up = summation(xp)

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        wide = widened(xp, x)
        total = add_up(wide, axis, keepdims)
        return total if wide is x else total.astype(x.dtype)

    return run


@kernel("reduce_prod")
def reduce_prod(xp: Any) -> Any:
    """See the op; short floats are multiplied in float32."""
    multiply = xp.multiply.reduce

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        wide = widened(xp, x)
        product = multiply(wide, axis=axis, dtype=wide.dtype, keepdims=keepdims)
        return product if wide is x else product.astype(x.dtype)

    return run


@kernel("reduce_mean")
def reduce_mean(xp: Any) -> Any:
    """See the op; integers are summed in 64 bits, and their mean is cut toward zero."""
    add_up = summation(xp)

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        if x.dtype.kind in "iu":
            total = xp.add.reduce(x, axis=axis, dtype=xp.int64 if x.dtype.kind == "i" else xp.uint64, keepdims=keepdims)
            return _cut(xp, total, max(1, reduced_count(x.shape, axis))).astype(x.dtype)
        wide = widened(xp, x)
        mean = add_up(wide, axis, keepdims) / reduced_count(x.shape, axis)
        return mean if wide is x else mean.astype(x.dtype)

    return run


def _cut(xp: Any, total: Any, count: int) -> Any:
    """``total / count`` cut toward zero."""
    quotient = total // count
    return quotient if total.dtype.kind == "u" else quotient + ((total < 0) & (quotient * count != total))


def reduced_count(shape: tuple[int, ...], axis: tuple[int, ...] | None) -> int:
    """How many elements go into one of a reduction's results."""
    return math.prod(shape) if axis is None else math.prod([shape[a] for a in axis])


def kept_shape(shape: tuple[int, ...], axis: tuple[int, ...] | None) -> tuple[int, ...]:
    """A shape with size 1 for the axes reduced."""
    if axis is None:
        return (1,) * len(shape)
    gone = [with_axis(a, len(shape)) for a in axis]
    if len(set(gone)) != len(gone):
        raise ValueError(f"axes {axis} name an axis twice")
    return tuple(1 if i in gone else n for i, n in enumerate(shape))


def reduced_shape(shape: tuple[int, ...], axis: tuple[int, ...] | None, keepdims: bool) -> tuple[int, ...]:
    """The shape of a reduction's result."""
    if keepdims:
        return kept_shape(shape, axis)
    rank = len(shape)
    kept_shape(shape, axis)
    return () if axis is None else tuple(n for i, n in enumerate(shape) if i not in axis and i - rank not in axis)


@kernel("reduce_any")
def reduce_any(xp: Any) -> Any:
    """See the op."""
    return _truth("any")


@kernel("reduce_all")
def reduce_all(xp: Any) -> Any:
    """See the op."""
    return _truth("all")


def _truth(method: str) -> Any:
    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        return getattr(x, method)(axis=axis, keepdims=keepdims)

    return run


@kernel("reduced_count")
def reduced_count_kernel(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, axis: tuple[int, ...] | None, dtype: Any) -> Any:
        return xp.full((), reduced_count(x.shape, axis), dtype.numpy)

    return run


@kernel("kept_shape")
def kept_shape_kernel(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, axis: tuple[int, ...] | None) -> Any:
        return xp.array(kept_shape(x.shape, axis), xp.int32)

    return run
