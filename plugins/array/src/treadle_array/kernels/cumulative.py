"""Running sums, products and log-sum-exps along an axis, and linear recurrences."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.axis_sums import widened
from treadle_array.places import with_axis

STEPS = 128
"""Elements along the axis up to which a recurrence goes step by step."""


@kernel("cumsum")
def cumsum(xp: Any) -> Any:
    """See the op; short floats are summed in float32."""
    return _running(xp, xp.add.accumulate, 0)


@kernel("cumprod")
def cumprod(xp: Any) -> Any:
    """See the op; short floats are multiplied in float32."""
    return _running(xp, xp.multiply.accumulate, 1)


def _running(xp: Any, accumulate: Any, first: int) -> Any:
    def run(x: Any, *, axis: int, exclusive: bool, reverse: bool) -> Any:
        at = with_axis(axis, x.ndim)
        wide = widened(xp, x)
        if not exclusive and not reverse:
            result = accumulate(wide, axis=at, dtype=wide.dtype)
        else:
            result = xp.empty(x.shape, wide.dtype)
            source, target = _from_start(wide, at, reverse), _from_start(result, at, reverse)
            if exclusive:
                target[_part(at, slice(None, 1))] = first
                source, target = source[_part(at, slice(None, -1))], target[_part(at, slice(1, None))]
            if target.size:
                accumulate(source, axis=at, dtype=wide.dtype, out=target)
        return result if wide is x else result.astype(x.dtype)

    return run


def _part(axis: int, part: slice) -> tuple[slice, ...]:
    return (slice(None),) * axis + (part,)


def _from_start(x: Any, axis: int, reverse: bool) -> Any:
    """The array seen from its end when reversed."""
    return x[_part(axis, slice(None, None, -1))] if reverse else x


@kernel("cumulative_logsumexp")
def cumulative_logsumexp(xp: Any) -> Any:
    """See the op; by doubling, where the array module has no running logaddexp."""
    accumulate = xp.logaddexp.accumulate if xp.__name__ == "numpy" else None

    def run(x: Any, *, axis: int, reverse: bool) -> Any:
        at = with_axis(axis, x.ndim)
        source = _from_start(widened(xp, x), at, reverse)
        if accumulate is not None:
            running = accumulate(source, axis=at)
        else:
            running, step = source.copy(), 1
            while step < x.shape[at]:
                late, early = _part(at, slice(step, None)), _part(at, slice(None, -step))
                running[late] = xp.logaddexp(running[late], running[early])
                step *= 2
        return xp.ascontiguousarray(_from_start(running, at, reverse)).astype(x.dtype, copy=False)

    return run


@kernel("shift")
def shift(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, axis: int, by: int, fill: float) -> Any:
        at = with_axis(axis, x.ndim)
        if by == 0:
            return x.copy()
        result = xp.empty(x.shape, x.dtype)
        into, out_of, free = (slice(by, None), slice(None, -by), slice(None, by)) if by > 0 else (slice(None, by), slice(-by, None), slice(by, None))
        result[_part(at, free)] = fill
        result[_part(at, into)] = x[_part(at, out_of)]
        return result

    return run


@kernel("linear_recurrence")
def linear_recurrence(xp: Any) -> Any:
    """See the op; step by step where the axis is short or there is much beside it, else by halves."""

    def run(a: Any, b: Any, *, axis: int, reverse: bool) -> Any:
        at = with_axis(axis, b.ndim)
        if a.shape != b.shape:
            raise ValueError(f"the shapes {a.shape} and {b.shape} differ")
        result = xp.empty(b.shape, widened(xp, b[:0]).dtype)
        length = b.shape[at]
        factors, terms, target = (xp.moveaxis(_from_start(t, at, reverse), at, 0) for t in (widened(xp, a), widened(xp, b), result))
        if length <= STEPS or length * length <= b.size:
            _by_steps(xp, factors, terms, target)
        else:
            target[...] = _by_halves(xp, factors, terms)
        return result.astype(b.dtype, copy=False)

    return run


def _by_steps(xp: Any, a: Any, b: Any, s: Any) -> None:
    s[...] = b
    rows = list(s[..., None])
    product = xp.empty((*s.shape[1:], 1), s.dtype)
    for factor, before, row in zip(list(a[1:, ..., None]), rows, rows[1:], strict=False):
        xp.multiply(factor, before, out=product)
        xp.add(row, product, out=row)


def _by_halves(xp: Any, a: Any, b: Any) -> Any:
    """Neighbours are joined, the recurrence of half the length is solved, and what was joined follows from it."""
    length = b.shape[0]
    if length == 1:
        return b
    half = length // 2
    even, odd = slice(0, 2 * half, 2), slice(1, 2 * half, 2)
    s = xp.empty(b.shape, b.dtype)
    s[odd] = _by_halves(xp, _times(xp, a[odd], a[even]), b[odd] + _times(xp, a[odd], b[even]))
    s[:1] = b[:1]
    s[2::2] = b[2::2] + _times(xp, a[2::2], s[1 : length - 1 : 2])
    return s


def _times(xp: Any, a: Any, b: Any) -> Any:
    """``a * b``, and 0 where ``b`` is 0: an ``a`` that is a product of many may have overflowed."""
    return xp.where(b == 0, b, a * b)
