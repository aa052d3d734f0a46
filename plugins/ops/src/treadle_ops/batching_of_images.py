"""Batching rules of ops on batches of images and the like: the elements join the batch that the op has already.

Filters that differ between elements make an element a group of channels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.declare import batching
from treadle_ops.batch_operands import NotBatchedError, Operand, known_host, merged, moved, parted, sizes_of


def folding(*sized: str, kept: tuple[str, ...] = ()) -> Callable[..., Any]:
    """A rule that makes the batch axis and the first axis of an element one.

    Args:
        *sized: host inputs whose first number is the size of that axis.
        kept: inputs without that axis, which all elements must share.
    """

    def rule(op: Any, *operands: Any, **attrs: Any) -> Any:
        inputs, size, count = [], None, 1
        for declared, operand in zip(op.op.inputs, operands, strict=True):
            if declared.name in sized:
                first, *others = _numbers(operand)
                inputs.append([first * operand.count, *others])
            elif declared.kind == "host" or declared.name in kept:
                inputs.append(operand.shared())
            else:
                whole = operand.batched()
                count, size = operand.count, sizes_of(whole)[1]
                inputs.append(merged(whole))
        result = op(*inputs, **attrs)
        if isinstance(result, tuple):
            return type(result)(*(parted(t, count, size) for t in result)) if hasattr(result, "_fields") else [parted(t, count, size) for t in result]
        return parted(result, count, size)

    return rule


def _numbers(operand: Operand) -> Any:
    """The numbers of a host input that is a vector."""
    value = known_host(operand.shared())
    return value if isinstance(value, tuple) else list(value)


batching("max_pool", "max_pool_grad", "max_pool_pick", "avg_pool", "resize", "resize_grad", "extract_patches", "extract_glimpse")(folding())
batching("channel_window_sum", "depth_to_space", "space_to_depth", "in_top_k", "combined_non_max_suppression")(folding())
batching("avg_pool_grad")(folding("input_sizes"))
batching("extract_patches_grad")(folding("shape"))
batching("dilation2d", "dilation2d_backprop_input", "dilation2d_pick_input", "dilation2d_pick_filter")(folding(kept=("filters", "w")))


@batching("max_pool_with_argmax")
def _(op: Any, input: Operand, *, include_batch_in_index: bool, **attrs: Any) -> Any:
    return NotImplemented if include_batch_in_index else folding()(op, input, include_batch_in_index=False, **attrs)


# ---------------------------------------------------------------------- convolution


def _as_channels(operand: Operand) -> Any:
    """``(count, ..., channels)`` as ``(..., count * channels)``; there must be an element, as there is no convolution without channels."""
    if isinstance(operand.count, int) and not operand.count:
        raise NotBatchedError
    whole = operand.batched()
    behind = operand.rank - 1
    return merged(moved(whole, 0, behind), behind)


def _from_channels(tensor: Any, count: Any, channels: Any) -> Any:
    """What ``_as_channels`` undoes."""
    last = len(sizes_of(tensor)) - 1
    return moved(parted(tensor, count, channels, last), last, 0)


@batching("conv")
def _(op: Any, input: Operand, filters: Operand, **attrs: Any) -> Any:
    if not filters.is_batched:
        return folding(kept=("filters",))(op, input, filters, **attrs)
    return _from_channels(op(_as_channels(input), _as_channels(filters), **attrs), input.count, sizes_of(filters.tensor)[-1])


@batching("conv_backprop_input")
def _(op: Any, input_sizes: Operand, filters: Operand, out_backprop: Operand, **attrs: Any) -> Any:
    if not filters.is_batched:
        return folding("input_sizes", kept=("filters",))(op, input_sizes, filters, out_backprop, **attrs)
    *others, channels = _numbers(input_sizes)
    result = op([*others, channels * filters.count], _as_channels(filters), _as_channels(out_backprop), **attrs)
    return _from_channels(result, filters.count, channels)


@batching("conv_backprop_filter")
def _(op: Any, input: Operand, filter_sizes: Operand, out_backprop: Operand, **attrs: Any) -> Any:
    *others, outputs = _numbers(filter_sizes)
    result = op(_as_channels(input), [*others, outputs * input.count], _as_channels(out_backprop), **attrs)
    return _from_channels(result, input.count, outputs)


# ---------------------------------------------------------------------- space and batch


@batching("space_to_batch_nd")
def _(op: Any, x: Operand, block_shape: Operand, paddings: Operand) -> Any:
    whole = x.batched()
    count, size = sizes_of(whole)[:2]
    blocks = _product(_numbers(block_shape))
    result = parted(op(merged(whole), block_shape.shared(), paddings.shared()), blocks, count * size)
    return merged(moved(parted(result, count, size, 1), 1, 0), 1)


@batching("batch_to_space")
def _(op: Any, x: Operand, block_shape: Operand, crops: Operand) -> Any:
    whole = x.batched()
    count, total = sizes_of(whole)[:2]
    blocks = _product(_numbers(block_shape))
    size = total // blocks
    by_block = merged(moved(parted(whole, blocks, size, 1), 1, 0))
    return parted(op(merged(by_block), block_shape.shared(), crops.shared()), count, size)


def _product(numbers: Any) -> Any:
    result = 1
    for number in numbers:
        result = result * number
    return result
