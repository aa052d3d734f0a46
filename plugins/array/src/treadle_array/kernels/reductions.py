"""Sums, products, means, extremes and truth over axes."""

from __future__ import annotations

import math
from collections.abc import Callable
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
        mean = add_up(wide, axis, keepdims) / xp.asarray(reduced_count(x.shape, axis), wide.real.dtype)
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


@kernel("reduce_max")
def reduce_max(xp: Any) -> Any:
    """See the op; NaN wins."""
    return _extreme(xp, xp.max, -math.inf, "min")


@kernel("reduce_min")
def reduce_min(xp: Any) -> Any:
    """See the op; NaN wins."""
    return _extreme(xp, xp.min, math.inf, "max")


def _extreme(xp: Any, extreme: Callable[..., Any], of_floats: float, of_integers: str) -> Any:
    """The largest or smallest over axes; over nothing an infinity, or the end of the integers' range."""

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        if not x.size:
            nothing = getattr(xp.iinfo(x.dtype), of_integers) if x.dtype.kind in "iu" else of_floats
            kept = kept_shape(x.shape, axis)
            shape = kept if keepdims else tuple(n for i, n in enumerate(kept) if not _is_in(i, axis, x.ndim))
            return xp.full(shape, nothing, x.dtype)
        wide = widened(xp, x)
        found = extreme(wide, axis=axis, keepdims=keepdims)
        return found if wide is x else found.astype(x.dtype)

    return run


def _is_in(i: int, axis: tuple[int, ...] | None, rank: int) -> bool:
    return axis is None or i in axis or i - rank in axis


@kernel("reduce_any")
def reduce_any(xp: Any) -> Any:
    """See the op."""
    return _truth(xp.any)


@kernel("reduce_all")
def reduce_all(xp: Any) -> Any:
    """See the op."""
    return _truth(xp.all)


def _truth(holds: Callable[..., Any]) -> Any:
    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        return holds(x, axis=axis, keepdims=keepdims)

    return run


@kernel("share_among_ties")
def share_among_ties(xp: Any) -> Any:
    """See the op."""

    def run(g: Any, x: Any, y: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        ties, count = _ties(xp, x, y, axis)
        share = widened(xp, g).reshape(count.shape) / count
        return xp.where(ties, share, xp.zeros((), share.dtype)).astype(x.dtype, copy=False)

    return run


@kernel("mean_of_ties")
def mean_of_ties(xp: Any) -> Any:
    """See the op."""
    add_up = summation(xp)

    def run(g: Any, x: Any, y: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        ties, count = _ties(xp, x, y, axis)
        wide = widened(xp, g)
        total = add_up(xp.where(ties, wide, xp.zeros((), wide.dtype)), axis, True)
        return (total / count).astype(x.dtype, copy=False).reshape(y.shape)

    return run


def _ties(xp: Any, x: Any, y: Any, axis: tuple[int, ...] | None) -> tuple[Any, Any]:
    """Where ``x`` is equal to its reduction ``y``, and how often, as floats with the axes kept; 1 instead of 0, for NaN is equal to nothing."""
    shape = kept_shape(x.shape, axis)
    ties = x == y.reshape(shape)
    count = xp.add.reduce(ties, axis=axis, dtype=xp.int64, keepdims=True)
    return ties, xp.maximum(count, 1).astype(widened(xp, xp.zeros((), x.dtype)).dtype)


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


@kernel("rows_of_axes")
def rows_of_axes(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, axis: Any) -> Any:
        order, width = _axes_last(x.shape, axis)
        moved = xp.ascontiguousarray(x.transpose(order))
        return moved.reshape(-1 if width else math.prod(n for i, n in enumerate(x.shape) if i not in order[len(order) - _count(axis) :]), width)

    return run


@kernel("axes_of_rows")
def axes_of_rows(xp: Any) -> Any:
    """See the op."""

    def run(rows: Any, axis: Any, shape: tuple[int, ...]) -> Any:
        order, _ = _axes_last(shape, axis)
        back = sorted(range(len(order)), key=order.__getitem__)
        return xp.ascontiguousarray(rows.reshape([shape[i] for i in order]).transpose(back))

    return run


@kernel("reduced_shape")
def reduced_shape(xp: Any) -> Any:
    """See the op."""

    def run(shape: tuple[int, ...], axis: Any, *, keepdims: bool) -> Any:
        order, _ = _axes_last(shape, axis)
        gone = order[len(order) - _count(axis) :]
        return xp.array([1 if i in gone else n for i, n in enumerate(shape) if keepdims or i not in gone], xp.int32)

    return run


def _count(axis: Any) -> int:
    return len(axis) if isinstance(axis, tuple) else 1


def _axes_last(shape: tuple[int, ...], axis: Any) -> tuple[list[int], int]:
    """The axes with those of ``axis`` moved to the end, in order, and how many elements those have.

    Raises:
        ValueError: an axis is out of range or named twice.
    """
    gone = sorted(with_axis(a, len(shape)) for a in (axis if isinstance(axis, tuple) else (axis,)))
    if len(set(gone)) != len(gone):
        raise ValueError(f"axes {axis} name an axis twice")
    return [i for i in range(len(shape)) if i not in gone] + gone, math.prod(shape[i] for i in gone)
