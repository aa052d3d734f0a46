"""Windows with holes: convolutions that skip elements, and any windowed op over every ``rate``-th element.

``td.nn.with_space_to_batch`` moves the elements that such windows skip into the batch, so that the op sees none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treadle.declare import public
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import static_value, tensor
from treadle_ops.called_function import subject
from treadle_ops.convolution import convolve
from treadle_ops.fourier import size_along
from treadle_ops.space_batch import batch_to_space_op, space_to_batch_nd_op
from treadle_ops.transposed_convolution import convolve_transposed
from treadle_ops.window import attributes, is_first, padding_argument


@public("nn.atrous_conv2d")
def atrous_conv2d(value: Any, filters: Any, rate: int, padding: Any, name: str | None = None) -> Any:
    """Convolution over two spatial axes with ``rate - 1`` elements skipped between those that a window sees.

    Args:
        value: ``(batch, height, width, channels)``, real.
        filters: ``(height, width, channels, outputs)`` of the dtype of ``value``.
        rate: an int greater than 0.
        padding: ``"SAME"`` or ``"VALID"``.
        name: ignored.

    Returns:
        ``(batch, windows, windows, outputs)`` of the dtype of ``value``.

    Raises:
        ShapeError: the channels do not fit the filters, or a window is larger than the input.
        InvalidArgumentError: the rate or the padding is not valid.

    Sources:
        TensorFlow ``tf.nn.atrous_conv2d``.
    """
    return convolve(value, filters, 2, False, attributes(2, False, 1, padding, rate))


@public("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(value: Any, filters: Any, output_shape: Any, rate: int, padding: Any, name: str | None = None) -> Any:
    """The transpose (gradient) of ``nn.atrous_conv2d``.

    Args:
        value: ``(batch, height, width, outputs)``, real.
        filters: ``(height, width, channels, outputs)`` of the dtype of ``value``.
        output_shape: the shape of the result.
        rate: an int greater than 0.
        padding: ``"SAME"`` or ``"VALID"``.
        name: ignored.

    Returns:
        A tensor of ``output_shape`` and the dtype of ``value``.

    Raises:
        ShapeError: a convolution of ``output_shape`` would not give the shape of ``value``.
        InvalidArgumentError: the rate or the padding is not valid.

    Sources:
        TensorFlow ``tf.nn.atrous_conv2d_transpose``.
    """
    return convolve_transposed(value, filters, output_shape, 2, False, attributes(2, False, 1, padding, rate))


@public("nn.with_space_to_batch")
def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: Any,
    op: Callable[[Any, int, str], Any],
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Any:
    """Apply an op with windows to every ``dilation_rate``-th element of the spatial axes.

    Args:
        input: a tensor with the spatial axes.
        dilation_rate: one int per spatial axis.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input; it pads with zeros.
        op: a function of a tensor, the number of spatial axes and a padding. With a rate that is 1 everywhere it is called with ``input`` itself.
        filter_shape: the sizes of the windows, which ``"SAME"`` needs.
        spatial_dims: which axes are the spatial ones, in order; by default those from 1 on, or from 2 on where channels come first.
        data_format: ``"NC..."`` for channels first.

    Returns:
        What ``op`` gives, put together again.

    Raises:
        InvalidArgumentError: a rate is less than 1, the padding is not known, or the window's sizes are missing.
        ShapeError: the input has too few axes.

    Sources:
        TensorFlow ``tf.nn.with_space_to_batch``.
    """
    x = tensor(input)
    rate = static_value(dilation_rate, "dilation_rate")
    if not isinstance(rate, tuple) or not rate or any(not isinstance(r, int) or r < 1 for r in rate):
        raise InvalidArgumentError(f"{subject()}dilation_rate {dilation_rate} must be integers greater than 0, one per spatial axis")
    rank, first = len(rate), is_first(data_format)
    axes = list(range(1 + first, rank + 1 + first)) if spatial_dims is None else [int(a) for a in spatial_dims]
    if axes != sorted(set(axes)) or axes[0] < 1 or len(axes) != rank:
        raise InvalidArgumentError(f"spatial_dims {axes} must be {rank} axes greater than 0, in order, one per dilation rate")
    if x.dims is not None and len(x.dims) <= axes[-1]:
        raise ShapeError(f"with_space_to_batch: the input of shape {x.shape} has no axis {axes[-1]}")
    padded = padding_argument(padding, rank, first)
    if all(r == 1 for r in rate):
        return op(x, rank, padding)
    base = _base_paddings(padded, rate, filter_shape)
    block = [1] * axes[-1]
    paddings: list[Any] = [(0, 0)] * axes[-1]
    crops: list[Any] = [(0, 0)] * axes[-1]
    for axis, r, (before, after) in zip(axes, rate, base, strict=True):
        extra = -(size_along(x, axis) + (before + after)) % r  # so that the rate divides the size
        block[axis - 1], paddings[axis - 1], crops[axis - 1] = r, (before, after + extra), (0, extra)
    moved = space_to_batch_nd_op(x, tuple(block), tuple(paddings))
    return batch_to_space_op(op(moved, rank, "VALID"), tuple(block), tuple(crops))


def _base_paddings(padding: Any, rate: tuple[int, ...], filter_shape: Any) -> Any:
    if padding == "VALID":
        return ((0, 0),) * len(rate)
    if padding != "SAME":
        return padding
    if filter_shape is None:
        raise InvalidArgumentError("with_space_to_batch: filter_shape must be given when padding is 'SAME'")
    window = static_value(filter_shape, "filter_shape")[: len(rate)]
    totals = [(k - 1) * r for k, r in zip(window, rate, strict=True)]
    return tuple((t // 2, t - t // 2) for t in totals)
