"""Places of the largest and the smallest along an axis: argmax and argmin. They have no gradient."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import op, public
from treadle.dtypes import DType, int64
from treadle.errors import InvalidArgumentError
from treadle_ops.arguments import axis_argument, dtype_argument
from treadle_ops.called_function import subject
from treadle_ops.inference import INTEGER, normalize_axis, require_kind

_COMPARABLE = "fiub"


@op("argmax")
def argmax_op(input: Spec, *, axis: int, output_type: DType) -> Spec:
    """The place of the largest along an axis, the first of equal ones; NaN is passed over."""
    return _places(input, axis, output_type)


@op("argmin")
def argmin_op(input: Spec, *, axis: int, output_type: DType) -> Spec:
    """The place of the smallest along an axis, the first of equal ones; NaN is passed over."""
    return _places(input, axis, output_type)


def _places(x: Spec, axis: int, dtype: DType) -> Spec:
    require_kind(x, _COMPARABLE, "input")
    if x.dims is None:
        return Spec(None, dtype)
    at = normalize_axis(axis, len(x.dims))
    if x.dims[at] == 0:
        raise InvalidArgumentError(f"axis {axis} of shape {x.shape} is empty: there is nothing to choose from")
    return Spec((*x.dims[:at], *x.dims[at + 1 :]), dtype)


@public("argmax", "math.argmax")
def argmax(input: Any, axis: Any = None, output_type: Any = int64, name: str | None = None) -> Any:
    """The place of the largest along an axis; of equal ones the first.

    Args:
        input: any shape of rank 1 or more; integers, floating (NaN is passed over; 0 where all is NaN) or bool.
        axis: an int; 0 by default.
        output_type: an integer dtype.
        name: ignored.

    Returns:
        The shape without the axis, of ``output_type``.

    Raises:
        InvalidArgumentError: the axis is out of range, or empty.
        DTypeError: ``input`` is complex.

    Sources:
        TensorFlow ``tf.argmax``.
    """
    return argmax_op(input, axis=0 if axis is None else axis_argument(axis), output_type=_place_dtype(output_type))


@public("argmin", "math.argmin")
def argmin(input: Any, axis: Any = None, output_type: Any = int64, name: str | None = None) -> Any:
    """The place of the smallest along an axis; of equal ones the first.

    Args:
        input: any shape of rank 1 or more; integers, floating (NaN is passed over; 0 where all is NaN) or bool.
        axis: an int; 0 by default.
        output_type: an integer dtype.
        name: ignored.

    Returns:
        The shape without the axis, of ``output_type``.

    Raises:
        InvalidArgumentError: the axis is out of range, or empty.
        DTypeError: ``input`` is complex.

    Sources:
        TensorFlow ``tf.argmin``.
    """
    return argmin_op(input, axis=0 if axis is None else axis_argument(axis), output_type=_place_dtype(output_type))


def _place_dtype(output_type: Any) -> DType:
    dtype = dtype_argument(output_type, int64)
    if dtype.kind not in INTEGER:
        raise InvalidArgumentError(f"{subject()}output_type is {dtype.name}; places are integers, so it must be an integer dtype such as td.int64")
    return dtype
