"""Sorting, the largest elements, and searching in what is sorted. Equal elements keep the order of their places; NaN counts as the largest."""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, IndexSpec, gradient, op, public
from treadle.dims import Dim
from treadle.dtypes import DType, int32
from treadle.dtypes import bool as bool_dtype
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle_ops.arguments import axis_argument, dtype_argument, integer_argument, tensor
from treadle_ops.broadcasting import shape_of
from treadle_ops.called_function import subject
from treadle_ops.gathering import gather_grad, gather_op
from treadle_ops.inference import FLOATING, INTEGER, REAL, normalize_axis, require_kind, require_rank, same_dtype
from treadle_ops.run_time_order import axis_from_back, axis_to_back
from treadle_ops.shaping import transpose_op

_DIRECTIONS = ("ASCENDING", "DESCENDING")

# ---------------------------------------------------------------------- sort


def _along(x: Spec, axis: int, dtype: DType) -> Spec:
    if x.dims is not None:
        normalize_axis(axis, len(x.dims))
    return Spec(x.dims, dtype)


@op("sort")
def sort_op(values: Spec, *, axis: int, descending: bool) -> Spec:
    """The elements in order along an axis."""
    return _along(values, axis, require_kind(values, REAL, "values"))


@op("argsort")
def argsort_op(values: Spec, *, axis: int, descending: bool) -> Spec:
    """The places of the elements in order along an axis."""
    require_kind(values, REAL, "values")
    return _along(values, axis, int32)


@gradient(sort_op)
def _(ctx: Any, g: Any) -> Any:
    (values,) = ctx.inputs
    return put_along(g, argsort_op(values, axis=ctx.axis, descending=ctx.descending), values, ctx.axis)


def put_along(g: Any, places: Any, like: Any, axis: int) -> Any:
    """Zeros of the shape of ``like`` with ``g`` added at places along an axis."""
    shape = shape_of(like)
    if axis == -1:
        return gather_grad(g, places, shape, axis=-1, batch_dims=-1)
    if g.dims is None:
        last = gather_grad(axis_to_back(g, axis), axis_to_back(places, axis), shape_of(axis_to_back(like, axis)), axis=-1, batch_dims=-1)
        return axis_from_back(last, axis)
    rank = len(g.dims)
    at = axis % rank
    order = (*(i for i in range(rank) if i != at), at)
    turned = tuple(shape[i] for i in order) if isinstance(shape, tuple) else gather_op(shape, order, axis=0, batch_dims=0)
    last = gather_grad(transpose_op(g, perm=order), transpose_op(places, perm=order), turned, axis=rank - 1, batch_dims=rank - 1)
    return transpose_op(last, perm=tuple(sorted(range(rank), key=order.__getitem__)))


def _is_descending(direction: Any) -> bool:
    if direction not in _DIRECTIONS:
        raise ValueError(f"{subject()}direction is {direction!r}; it must be one of {', '.join(_DIRECTIONS)}")
    return bool(direction == "DESCENDING")


@public("sort")
def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """The elements in order along an axis.

    Args:
        values: any shape of rank 1 or more, integers or floating.
        axis: an int; the last by default.
        direction: ``"ASCENDING"`` or ``"DESCENDING"``.
        name: ignored.

    Returns:
        The shape and dtype of ``values``.

    Raises:
        ValueError: there is no such direction.
        InvalidArgumentError: the axis is out of range.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.sort``.
    """
    return sort_op(values, axis=axis_argument(axis), descending=_is_descending(direction))


@public("argsort")
def argsort(values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None) -> Any:
    """The places of the elements in order along an axis.

    Args:
        values: any shape of rank 1 or more, integers or floating.
        axis: an int; the last by default.
        direction: ``"ASCENDING"`` or ``"DESCENDING"``.
        stable: ignored; equal elements always keep their order.
        name: ignored.

    Returns:
        The shape of ``values``, int32.

    Raises:
        ValueError: there is no such direction.
        InvalidArgumentError: the axis is out of range.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.argsort``.
    """
    return argsort_op(values, axis=axis_argument(axis), descending=_is_descending(direction))


# ---------------------------------------------------------------------- the largest


class TopKV2(NamedTuple):
    """The largest elements along the last axis, the largest first, and their places."""

    values: Any
    indices: Any


@op("top_k")
def top_k_op(input: Spec, k: HostSpec, *, index_type: DType) -> TopKV2:
    """The ``k`` largest along the last axis, the largest first; of equal ones the first."""
    dtype = require_kind(input, REAL, "input")
    if input.dims is None:
        return TopKV2(Spec(None, dtype), Spec(None, index_type))
    if not input.dims:
        raise ShapeError("input is a scalar; it needs a last axis to choose along")
    count = Dim.symbol() if k.value is None else k.value
    length = input.dims[-1]
    if isinstance(count, int) and (count < 0 or (isinstance(length, int) and count > length)):
        raise InvalidArgumentError(f"input must have at least k columns, and k is {count}; the last axis of shape {input.shape} has {length}")
    dims = (*input.dims[:-1], count)
    return TopKV2(Spec(dims, dtype), Spec(dims, index_type))


@gradient(top_k_op)
def _(ctx: Any, g: Any, _places: Any) -> Any:
    (input, _) = ctx.inputs
    return put_along(g, ctx.outputs[1], input, -1), None


@public("math.top_k", "nn.top_k")
def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = int32, name: str | None = None) -> TopKV2:
    """The ``k`` largest elements along the last axis, and their places; of equal ones the first.

    Args:
        input: ``(..., N)``, integers or floating.
        k: an integer from 0 to N.
        sorted: ignored; the largest always comes first.
        index_type: an integer dtype.
        name: ignored.

    Returns:
        ``values``, ``(..., k)`` of the dtype of ``input``, and ``indices``, ``(..., k)`` of ``index_type``.

    Raises:
        ShapeError: ``input`` is a scalar.
        InvalidArgumentError: ``k`` is negative or larger than N.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.top_k``.
    """
    places = dtype_argument(index_type, int32)
    if places.kind not in INTEGER:
        raise DTypeError(f"top_k: index_type is {places.name}; it must be an integer dtype")
    return top_k_op(input, k if type(k) is int else integer_argument(k, "k"), index_type=places)


@op("in_top_k")
def in_top_k_op(targets: IndexSpec, predictions: Spec, k: HostSpec) -> Spec:
    """Per row whether fewer than ``k`` predictions are larger than that of the target."""
    require_kind(targets, INTEGER, "targets")
    require_kind(predictions, FLOATING, "predictions")
    (count,) = require_rank(targets, 1, "targets")
    rows, _ = require_rank(predictions, 2, "predictions")
    return Spec((sizes.unify(count, rows, "the sizes of targets and predictions"),), bool_dtype)


@public("math.in_top_k", "nn.in_top_k")
def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Any:
    """Whether the prediction for the right class is among the ``k`` largest of its row.

    Args:
        targets: ``(N,)``, integers.
        predictions: ``(N, classes)``, floating.
        k: an integer.
        name: ignored.

    Returns:
        ``(N,)``, bool: predictions equal to the k-th largest are in; False where the target is no class, or where a prediction is not finite.

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: a dtype is another one.

    Sources:
        TensorFlow ``tf.math.in_top_k``.
    """
    return in_top_k_op(tensor(targets), tensor(predictions), k if type(k) is int else integer_argument(k, "k"))


# ---------------------------------------------------------------------- what is sorted


@op("searchsorted")
def searchsorted_op(sorted_sequence: Spec, values: Spec, *, side: str, out_type: DType) -> Spec:
    """Where values belong in sorted sequences, row by row."""
    same_dtype(sorted_sequence, values, kinds=REAL)
    if values.dims is None:
        return Spec(None, out_type)
    if not values.dims:
        raise ShapeError("values is a scalar; it needs a last axis, as the sequences do. Use td.expand_dims.")
    if sorted_sequence.dims is None:
        return Spec(values.dims, out_type)
    if len(sorted_sequence.dims) != len(values.dims) or any(
        sizes.known_different(a, b) for a, b in zip(sorted_sequence.dims[:-1], values.dims[:-1], strict=False)
    ):
        raise ShapeError(f"values of shape {values.shape} and sequences of shape {sorted_sequence.shape} must be equal before the last axis")
    return Spec(values.dims, out_type)


@public("searchsorted")
def searchsorted(sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = int32, name: str | None = None) -> Any:
    """Where values belong in sorted sequences, so that these stay sorted.

    Args:
        sorted_sequence: ``(..., N)``, sorted along the last axis, integers or floating.
        values: ``(..., M)``, the same dtype.
        side: ``"left"``, before what is equal, or ``"right"``, after it.
        out_type: int32 or int64.
        name: ignored.

    Returns:
        ``(..., M)`` of ``out_type``, from 0 to N.

    Raises:
        ValueError: there is no such side.
        ShapeError: the shapes differ before the last axis.
        DTypeError: the dtypes differ.

    Sources:
        TensorFlow ``tf.searchsorted``.
    """
    if side not in ("left", "right"):
        raise ValueError(f"{subject()}side is {side!r}; it must be 'left' or 'right'")
    sequence = tensor(sorted_sequence)
    return searchsorted_op(sequence, tensor(values, sequence), side=side, out_type=dtype_argument(out_type, int32))


@op("is_non_decreasing", public=("math.is_non_decreasing",))
def is_non_decreasing(x: Spec) -> Spec:
    """Whether no element is smaller than the one before it, row by row; False with NaN, True for fewer than two elements.

    Args:
        x: any shape, integers or floating.
        name: ignored.

    Returns:
        A bool scalar.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.is_non_decreasing``.
    """
    require_kind(x, REAL)
    return Spec((), bool_dtype)


@op("is_strictly_increasing", public=("math.is_strictly_increasing",))
def is_strictly_increasing(x: Spec) -> Spec:
    """Whether each element is larger than the one before it, row by row; False with NaN, True for fewer than two elements.

    Args:
        x: any shape, integers or floating.
        name: ignored.

    Returns:
        A bool scalar.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.is_strictly_increasing``.
    """
    require_kind(x, REAL)
    return Spec((), bool_dtype)
