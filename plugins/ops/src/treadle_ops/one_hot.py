"""Indices as vectors with a single element that differs from the others."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, IndexSpec, op, public
from treadle.dims import Dim
from treadle.dtypes import DType, as_dtype, float32
from treadle.dtypes import bool as bool_dtype
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle_ops.arguments import axis_argument, integer_argument, tensor_argument
from treadle_ops.called_function import checked
from treadle_ops.inference import INTEGER, normalize_axis, require_kind, require_rank
from treadle_ops.masking import where_op


@op("one_hot", can_fail=True)
def one_hot_op(indices: IndexSpec, depth: HostSpec, *, axis: int, dtype: DType) -> Spec:
    """1 at the position of each index along a new axis, 0 elsewhere."""
    require_kind(indices, INTEGER, "indices")
    if depth.dims not in ((), None):
        raise ShapeError(f"depth must be a scalar, not of shape {depth.shape}")
    if isinstance(depth.value, int) and depth.value < 0:
        raise InvalidArgumentError(f"depth is {depth.value}; it must be 0 or more")
    if indices.dims is None:
        return Spec(None, dtype)
    at = normalize_axis(axis, len(indices.dims) + 1)
    return Spec((*indices.dims[:at], Dim.symbol() if depth.value is None else depth.value, *indices.dims[at:]), dtype)


@public("one_hot")
def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None, name: str | None = None
) -> Any:
    """A vector for every index, with ``on_value`` at its position and ``off_value`` elsewhere.

    Args:
        indices: any shape, integers; those outside ``[0, depth)`` give ``off_value`` everywhere.
        depth: the length of the vectors.
        on_value: a scalar; 1 by default.
        off_value: a scalar; 0 by default.
        axis: where the vectors lie in the result; the last by default.
        dtype: of the result; by default that of ``on_value`` or ``off_value``, or float32.
        name: ignored.

    Returns:
        The shape of ``indices`` with ``depth`` put in at ``axis``.

    Raises:
        InvalidArgumentError: ``depth`` is negative, or the axis out of range.
        DTypeError: the indices are no integers, or the dtypes of the values and ``dtype`` differ.

    Sources:
        TensorFlow ``tf.one_hot``.
    """
    length = integer_argument(depth, "depth")
    at = -1 if axis is None else axis_argument(axis)
    wanted = None if dtype is None else as_dtype(dtype)
    if on_value is None and off_value is None:
        return one_hot_op(indices, length, axis=at, dtype=wanted or float32)
    on, off = (None if value is None else tensor_argument(value, hint=wanted) for value in (on_value, off_value))
    for value in (on, off):
        if value is not None:
            wanted = wanted or value.dtype
            checked(require_rank, Spec(value.dims, value.dtype), 0, "on_value or off_value")
            if value.dtype is not wanted:
                raise DTypeError(
                    f"one_hot: a value has dtype {value.dtype.name} where {wanted.name} is wanted; on_value, off_value and dtype must agree"
                )
    default = (True, False) if wanted.is_bool else (1, 0)
    return where_op(one_hot_op(indices, length, axis=at, dtype=bool_dtype), default[0] if on is None else on, default[1] if off is None else off)


def unit_vector(index: Any, length: int, dtype: DType) -> Any:
    """A vector of zeros but for a 1 at an index."""
    return one_hot_op(index, length, axis=-1, dtype=dtype)
