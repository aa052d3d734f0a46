"""Means and variances over axes."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.axis_sums import summation, widened
from treadle_array.kernels.reductions import reduced_count, reduced_shape


@kernel("moments")
def moments(xp: Any) -> Any:
    """See the op; the mean is subtracted before anything is squared."""
    add_up = summation(xp)

    def run(x: Any, *, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
        wide, count = widened(xp, x), reduced_count(x.shape, axis)
        mean = add_up(wide, axis, True) / count
        deviation = xp.asarray(wide - mean)
        xp.multiply(deviation, deviation, deviation)
        variance = add_up(deviation, axis, True) / count
        shape = reduced_shape(x.shape, axis, keepdims)
        return mean.astype(x.dtype, copy=False).reshape(shape), variance.astype(x.dtype, copy=False).reshape(shape)

    return run
