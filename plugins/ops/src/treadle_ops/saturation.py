"""Casts that clip to the range of the target instead of wrapping."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.declare import public
from treadle.dtypes import DType, as_dtype
from treadle_ops.arguments import tensor
from treadle_ops.casting import cast
from treadle_ops.clipping import clip_by_value_op
from treadle_ops.complex_numbers import complex_op, imag_op, real_op


@public("saturate_cast", "dtypes.saturate_cast")
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """A tensor in another dtype, with what is out of range moved to the nearest end of it.

    Floats that are cast to integers are clipped to the largest float that does not exceed the integer's range.

    Args:
        value: any shape, any dtype.
        dtype: the wanted dtype.
        name: ignored.

    Returns:
        The shape of ``value``, of ``dtype``. Of complex numbers a real dtype takes the real part.

    Sources:
        TensorFlow ``tf.saturate_cast``.
    """
    x, wanted = tensor(value), as_dtype(dtype)
    if x.dtype.is_complex:
        x = _clipped_complex(x, wanted) if wanted.is_complex else real_op(x)
    if not x.dtype.is_complex and not wanted.is_bool and not x.dtype.is_bool:
        x = _clipped(x, wanted.real_dtype)
    return cast(x, wanted)


def _clipped(x: Any, wanted: DType) -> Any:
    """A real tensor within the range of a real dtype; as it is where the range of its own dtype is no wider."""
    low, high = _limit(x.dtype, wanted.min, lower=True), _limit(x.dtype, wanted.max, lower=False)
    return x if low is None and high is None else clip_by_value_op(x, x.dtype.min if low is None else low, x.dtype.max if high is None else high)


def _clipped_complex(x: Any, wanted: DType) -> Any:
    part = x.dtype.real_dtype
    if _limit(part, wanted.real_dtype.max, lower=False) is None:
        return x
    return complex_op(_clipped(real_op(x), wanted.real_dtype), _clipped(imag_op(x), wanted.real_dtype))


def _limit(dtype: DType, end: Any, *, lower: bool) -> Any:
    """The end of a range as a value of ``dtype`` within that range; None if ``dtype`` does not reach beyond it."""
    own, end = (dtype.min, dtype.max)[not lower], end if isinstance(end, int) else float(end)
    if dtype.is_integer:
        return None if (own >= end if lower else own <= end) else int(end)
    if float(own) >= end if lower else float(own) <= end:
        return None
    nearest = dtype.as_numpy_dtype(float(end))
    while int(float(nearest)) < end if lower else int(float(nearest)) > end:  # rounding left the range
        nearest = np.nextafter(nearest, dtype.as_numpy_dtype(0))
    return float(nearest)
