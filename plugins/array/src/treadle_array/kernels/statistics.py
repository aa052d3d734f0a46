"""Variances, norms and log-sum-exps over axes; short floats in float32."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle_array.axis_sums import summation, widened
from treadle_array.kernels.reductions import kept_shape, reduced_count, reduced_shape


@kernel("reduce_variance")
def reduce_variance(xp: Any) -> Any:
    """See the op; the mean is found first, then what is left of the elements without it."""
    add_up = summation(xp)

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        wide = widened(xp, x)
        count = reduced_count(x.shape, axis)
        deviation = wide - add_up(wide, axis, True) / count
        if x.dtype.kind == "c":
            deviation = _square(deviation)
        else:
            deviation *= deviation
        variance = add_up(deviation, axis, keepdims) / count
        return variance if wide is x else variance.astype(x.dtype)

    return run


def _square(x: Any) -> Any:
    """The squared modulus."""
    return x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x


@kernel("reduce_euclidean_norm")
def reduce_euclidean_norm(xp: Any) -> Any:
    """See the op."""
    add_up = summation(xp)

    def square(x: Any, out: Any) -> Any:
        return _square(x) if x.dtype.kind == "c" else xp.multiply(x, x, out=out)

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        wide = widened(xp, x)
        total = add_up(wide, axis, keepdims, square)
        norm = xp.sqrt(total.astype(xp.float64)) if x.dtype.kind in "iu" else xp.sqrt(total)
        return norm if norm.dtype == x.dtype else norm.astype(x.dtype)

    return run


@kernel("reduce_logsumexp")
def reduce_logsumexp(xp: Any) -> Any:
    """See the op; the largest element, where it is finite, is taken out first."""
    add_up = summation(xp)

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        wide = widened(xp, x)
        largest = wide.max(axis=axis, keepdims=True) if x.size else xp.full(kept_shape(x.shape, axis), -math.inf, wide.dtype)
        largest = xp.where(xp.isfinite(largest), largest, xp.zeros((), wide.dtype))
        result = xp.log(add_up(xp.exp(wide - largest), axis, True)) + largest
        result = result.reshape(reduced_shape(x.shape, axis, keepdims))
        return result if wide is x else result.astype(x.dtype)

    return run


@kernel("exp_of_difference")
def exp_of_difference(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, y: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        wide = widened(xp, x)
        finite = xp.maximum(widened(xp, y), -xp.finfo(wide.dtype).max).reshape(kept_shape(x.shape, axis))
        result = xp.exp(wide - finite)
        return result if wide is x else result.astype(x.dtype)

    return run
