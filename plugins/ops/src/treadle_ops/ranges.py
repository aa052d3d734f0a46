"""Numbers at even distances: range and linspace."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor, host_array
from treadle.declare import HostSpec, gradient, op, public
from treadle.dims import Dim, Size, add, floordiv, mul
from treadle.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    float16,
    float32,
    float64,
    from_numpy,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle.inspection import get_static_value
from treadle.state import LOCAL
from treadle.tensor import Tensor
from treadle_ops.arguments import axis_argument, integer_argument, tensor, tensor_argument
from treadle_ops.broadcasting import sum_like
from treadle_ops.called_function import blame
from treadle_ops.casting import cast
from treadle_ops.elementwise import multiply
from treadle_ops.inference import NUMERIC, broadcast, normalize_axis, same_dtype
from treadle_ops.known import LARGEST
from treadle_ops.reductions import reduce_sum_op
from treadle_ops.run_time_order import axis_to_back
from treadle_ops.shaping import reshape_op

_HIERARCHY = (uint8, int8, uint16, int16, uint32, int32, uint64, int64, float16, bfloat16, float32, float64)
_INT32 = builtins.range(-(2**31), 2**31)


@op("range", can_fail=True)
def range_op(start: HostSpec, limit: HostSpec, delta: HostSpec, *, dtype: DType, count: int | None = None) -> Spec:
    """Numbers from ``start`` up to but without ``limit``; ``count`` says how many there are where that is known beforehand."""
    numbers = (start.value, limit.value, delta.value)
    if dtype.is_integer and None not in numbers:
        size = _known_count(*numbers)
        return Spec((size,), dtype, _elements(numbers[0], numbers[2], size))
    return Spec((Dim.symbol() if count is None else count,), dtype)


def _known_count(start: Size, limit: Size, delta: Size) -> Size:
    """How many integers there are, symbolic where sizes are."""
    if not isinstance(delta, int):
        return Dim.symbol()
    way = add(limit, mul(-1, start))
    if delta == 0 or (isinstance(way, int) and way * delta < 0):
        raise _nowhere(start, limit, delta)
    return floordiv(add(mul(way, 1 if delta > 0 else -1), abs(delta) - 1), abs(delta))


def _nowhere(start: Any, limit: Any, delta: Any) -> InvalidArgumentError:
    if delta == 0:
        return InvalidArgumentError("range: delta is 0; it must not be")
    return InvalidArgumentError(f"range: limit {limit} cannot be reached from start {start} by steps of {delta}")


def _elements(start: Size, delta: Size, size: Size) -> Any:
    if not isinstance(size, int) or size > LARGEST:
        return None
    return tuple(add(start, mul(i, delta)) for i in builtins.range(size))


def _count_floats(start: float, limit: float, delta: float, dtype: DType) -> int:
    """How many numbers a range of floats has, by arithmetic in its dtype."""
    number: Any = dtype.numpy.type
    if delta == 0 or (start > limit if delta > 0 else start < limit):
        raise _nowhere(start, limit, delta)
    with np.errstate(all="ignore"):
        steps = abs(float((number(limit) - number(start)) / number(delta)))
    if not math.isfinite(steps):
        raise InvalidArgumentError(f"range: from {start} to {limit} by {delta} has no finite number of elements")
    return math.ceil(steps)


@public("range")
def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Any:
    """Numbers at even distances, from ``start`` up to but without ``limit``.

    Args:
        start: a scalar, any real dtype; 0 when ``limit`` is not given.
        limit: a scalar; ``start`` when it is not given.
        delta: the distance, not 0.
        dtype: of the result; by default the widest of the arguments' dtypes.
        name: ignored.

    Returns:
        A vector.

    Raises:
        InvalidArgumentError: ``delta`` is 0, or leads away from ``limit``.

    Sources:
        TensorFlow ``tf.range``.
    """
    if limit is None:
        start, limit = 0, start
    if type(start) is type(limit) is type(delta) is int and dtype is None and start in _INT32 and limit in _INT32 and delta in _INT32:
        return range_op(start, limit, delta, dtype=int32)
    wanted = None if dtype is None else as_dtype(dtype)
    ends = [_end(x, wanted) for x in (start, limit, delta)]
    if wanted is None:
        wanted = max((_dtype_of(x) for x in ends), key=_HIERARCHY.index)
    ends = [cast(x, wanted) if isinstance(x, Tensor) else x.astype(wanted.numpy) for x in ends]
    return range_op(*ends, dtype=wanted, count=None if LOCAL.graph is None else _static_count(ends, wanted))


def _end(value: Any, wanted: DType | None) -> Any:
    """An argument of range: a tensor or, where its value is known, a host array.

    Raises:
        DTypeError: it is not real.
        ShapeError: it is not a scalar.
    """
    if hasattr(type(value), "__treadle_tensor__"):
        value = convert_to_tensor(value)
    try:
        end = value if isinstance(value, Tensor) else host_array(value, wanted, None)
    except (TypeError, ValueError) as error:
        blame(error, value)
        raise
    if end is None or _dtype_of(end) not in _HIERARCHY or (wanted is not None and wanted not in _HIERARCHY):
        raise DTypeError(f"range: start, limit, delta and the dtype of the result must be real, got {value!r} and dtype {wanted}")
    if end.ndim:
        raise ShapeError(f"range: start, limit and delta must be scalars, got shape {end.shape}")
    return end


def _dtype_of(end: Any) -> DType:
    return end.dtype if isinstance(end, Tensor) else from_numpy[end.dtype]


def _static_count(ends: list[Any], dtype: DType) -> int | None:
    """The number of elements where it depends on floats that are known while tracing."""
    if not dtype.is_floating:
        return None
    values = [get_static_value(x) for x in ends]
    return None if any(v is None for v in values) else _count_floats(*(float(v) for v in values), dtype)


@op("linspace")
def linspace_op(start: Spec, stop: Spec, num: HostSpec, *, axis: int) -> Spec:
    """``num`` numbers from ``start`` to ``stop``, both included, along a new axis."""
    dtype = same_dtype(start, stop, kinds=NUMERIC)
    if dtype.is_integer:
        dtype = float32 if dtype.size <= 2 else float64
    if isinstance(num.value, int) and num.value < 0:
        raise InvalidArgumentError(f"linspace: num is {num.value}; it must be 0 or more")
    dims = broadcast(start, stop)
    if dims is None:
        return Spec(None, dtype)
    at = normalize_axis(axis, len(dims) + 1)
    return Spec((*dims[:at], Dim.symbol() if num.value is None else num.value, *dims[at:]), dtype)


@gradient(linspace_op)
def _(ctx: Any, g: Any) -> Any:
    start, stop, num = ctx.inputs
    if g.dtype is not start.dtype:
        return None, None, None
    zero, one = (convert_to_tensor(n, g.dtype) for n in (0.0, 1.0))
    numbers, axis = (axis_to_back(g, ctx.axis), -1) if g.dims is None else (g, ctx.axis)
    behind = -1 - axis if axis < 0 else len(g.dims) - 1 - axis

    def weighted(first: Any, last: Any, like: Any) -> Any:
        weights = reshape_op(linspace_op(first, last, num, axis=0), (-1,) + (1,) * behind)
        return sum_like(reduce_sum_op(multiply(numbers, weights), axis=(axis,), keepdims=False), like)

    return weighted(one, zero, start), weighted(zero, one, stop), None


@public("linspace")
def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: Any = 0) -> Any:
    """Numbers at even distances from ``start`` to ``stop``, both included.

    Args:
        start: any shape, any numeric dtype.
        stop: a shape that broadcasts with that of ``start``, the same dtype.
        num: how many, an integer not below 0.
        name: ignored.
        axis: where the new axis stands.

    Returns:
        The broadcast shape with an axis of size ``num``, of the dtype of ``start``; of float64 for 32- and 64-bit integers, float32 for shorter ones.

    Raises:
        InvalidArgumentError: ``num`` is negative, or the axis is out of range.
        ShapeError: the shapes do not broadcast.

    Sources:
        TensorFlow ``tf.linspace``.
    """
    first = tensor(start)
    return linspace_op(
        first, stop if isinstance(stop, Tensor) else tensor_argument(stop, first.dtype), integer_argument(num, "num"), axis=axis_argument(axis)
    )
