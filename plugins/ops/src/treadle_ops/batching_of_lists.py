"""Batching rules of lists of tensors, which TensorArray and loops keep: every tensor in a batched list has the batch axis in front."""

from __future__ import annotations

from typing import Any

from treadle.declare import batching
from treadle_ops.batch_operands import Operand, known_host, moved, prefixed
from treadle_ops.joining import concat_op
from treadle_ops.slicing import strided_slice_op


@batching("tensor_list_from_tensor")
def _(op: Any, value: Operand) -> Any:
    return op(moved(value.batched(), 1, 0))


@batching("tensor_list_set_item")
def _(op: Any, input: Operand, index: Operand, value: Operand, *, grow: bool) -> Any:
    return op(input.batched(), index.shared(), value.batched(), grow=grow)


@batching("tensor_list_get_item")
def _(op: Any, input: Operand, index: Operand, shape: Operand, **attrs: Any) -> Any:
    return op(input.batched(), index.shared(), _shape(shape, input.count), **attrs)


@batching("tensor_list_clear")
def _(op: Any, input: Operand, indices: Operand) -> Any:
    return op(input.batched(), indices.shared())


@batching("tensor_list_stack")
def _(op: Any, input: Operand, shape: Operand, **attrs: Any) -> Any:
    return moved(op(input.batched(), _stacked_shape(shape, input.count), **attrs), 1, 0)


@batching("tensor_list_gather")
def _(op: Any, input: Operand, indices: Operand, shape: Operand, **attrs: Any) -> Any:
    return moved(op(input.batched(), indices.shared(), _stacked_shape(shape, input.count), **attrs), 1, 0)


@batching("tensor_list_scatter")
def _(op: Any, input: Operand, indices: Operand, value: Operand, **attrs: Any) -> Any:
    return op(input.batched(), indices.shared(), moved(value.batched(), 1, 0), **attrs)


@batching("tensor_list_length", shared=True)
def _(op: Any, input: Operand) -> Any:
    return op(input.tensor)


@batching("tensor_list_add", "tensor_list_fill")
def _(op: Any, x: Operand, y: Operand) -> Any:
    return op(x.batched(), y.batched())


def _shape(shape: Operand, count: Any) -> Any:
    """The shape of an item for all elements, for that of one; -1 alone is no shape at all."""
    wanted = known_host(shape.shared())
    return wanted if _is_unknown(wanted) else prefixed(wanted, count)


def _stacked_shape(shape: Operand, count: Any) -> Any:
    """The same for items along a new first axis."""
    wanted = known_host(shape.shared())
    if isinstance(wanted, tuple):
        return (wanted[0], count, *wanted[1:])
    if _is_unknown(wanted):
        return wanted
    first, rest = (strided_slice_op(wanted, index=(s,)) for s in ((0, 1, 1), (1, None, 1)))
    return concat_op([first, prefixed(rest, count)], axis=0)


def _is_unknown(wanted: Any) -> bool:
    return isinstance(wanted, int) or getattr(wanted, "dims", None) == ()
