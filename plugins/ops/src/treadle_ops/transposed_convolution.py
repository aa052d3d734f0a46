"""Transposed convolution: the gradient of a convolution with respect to its input, used as an op of its own."""

from __future__ import annotations

from typing import Any

from treadle.declare import public
from treadle.errors import InvalidArgumentError
from treadle.tensor import Tensor
from treadle_ops.arguments import shape_argument
from treadle_ops.called_function import subject
from treadle_ops.convolution import conv_backprop_input_op, pair
from treadle_ops.window import attributes, channels_first, channels_last, full_shape, is_channels_first, is_first


def convolve_transposed(input: Any, filters: Any, shape: Any, rank: int, first: bool, attrs: dict[str, Any]) -> Any:
    """The transposed convolution of a tensor in TensorFlow's layout; ``first``: channels come before the spatial axes."""
    x, w = pair(input, filters)
    if first:
        x = channels_last(x, rank)
    result = conv_backprop_input_op(full_shape(shape, rank, first, x, w), w, x, **attrs)
    return channels_first(result, rank) if first else result


@public("nn.conv1d_transpose")
def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose (gradient) of ``nn.conv1d``.

    Args:
        input: ``(batch, width, outputs)``, or ``(batch, outputs, width)`` when ``data_format`` is ``"NCW"``; real.
        filters: ``(window, channels, outputs)`` of the dtype of ``input``.
        output_shape: the shape of the result, in the order of ``data_format``.
        strides: an int, or a list of 1 or 3 of them.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the result.
        data_format: ``"NWC"`` or ``"NCW"``.
        dilations: the step between elements of a window; an int, or a list of 1 or 3.
        name: ignored.

    Returns:
        A tensor of ``output_shape`` and the dtype of ``input``.

    Raises:
        ShapeError: a convolution of ``output_shape`` would not give the shape of ``input``.
        InvalidArgumentError: the padding, strides, dilations or data format are not valid.

    Sources:
        TensorFlow ``tf.nn.conv1d_transpose``.
    """
    first = is_channels_first(data_format, 1)
    return convolve_transposed(input, filters, output_shape, 1, first, attributes(1, first, strides, padding, dilations))


@public("nn.conv2d_transpose")
def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose (gradient) of ``nn.conv2d``.

    Args:
        input: ``(batch, height, width, outputs)``, or ``(batch, outputs, height, width)`` when ``data_format`` is ``"NCHW"``; real.
        filters: ``(height, width, channels, outputs)`` of the dtype of ``input``.
        output_shape: the shape of the result, in the order of ``data_format``; its height and width are enough.
        strides: an int, or a list of 1, 2 or 4 of them.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the result.
        data_format: ``"NHWC"`` or ``"NCHW"``.
        dilations: the step between elements of a window; an int, or a list of 1, 2 or 4.
        name: ignored.

    Returns:
        A tensor of ``output_shape`` and the dtype of ``input``.

    Raises:
        ShapeError: a convolution of ``output_shape`` would not give the shape of ``input``.
        InvalidArgumentError: the padding, strides, dilations or data format are not valid.

    Sources:
        TensorFlow ``tf.nn.conv2d_transpose``.
    """
    first = is_channels_first(data_format, 2)
    return convolve_transposed(input, filters, output_shape, 2, first, attributes(2, first, strides, padding, dilations))


@public("nn.conv3d_transpose")
def conv3d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose (gradient) of ``nn.conv3d``.

    Args:
        input: ``(batch, depth, height, width, outputs)``, or with the outputs second when ``data_format`` is ``"NCDHW"``; real.
        filters: ``(depth, height, width, channels, outputs)`` of the dtype of ``input``.
        output_shape: the shape of the result, in the order of ``data_format``.
        strides: an int, or a list of 1, 3 or 5 of them.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the result.
        data_format: ``"NDHWC"`` or ``"NCDHW"``.
        dilations: the step between elements of a window; an int, or a list of 1, 3 or 5.
        name: ignored.

    Returns:
        A tensor of ``output_shape`` and the dtype of ``input``.

    Raises:
        ShapeError: a convolution of ``output_shape`` would not give the shape of ``input``.
        InvalidArgumentError: the padding, strides, dilations or data format are not valid.

    Sources:
        TensorFlow ``tf.nn.conv3d_transpose``.
    """
    first = is_channels_first(data_format, 3)
    return convolve_transposed(input, filters, output_shape, 3, first, attributes(3, first, strides, padding, dilations))


@public("nn.conv_transpose")
def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose (gradient) of ``nn.convolution``.

    Args:
        input: ``(batch, *spatial, outputs)``, or ``(batch, outputs, *spatial)`` when ``data_format`` starts with ``"NC"``; real.
        filters: ``(*window, channels, outputs)`` of the dtype of ``input``, with one to three spatial axes.
        output_shape: the shape of the result, in the order of ``data_format``.
        strides: an int, or one per spatial axis.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the result.
        data_format: channels last by default.
        dilations: the step between elements of a window; an int, or one per spatial axis.
        name: ignored.

    Returns:
        A tensor of ``output_shape`` and the dtype of ``input``.

    Raises:
        ShapeError: a convolution of ``output_shape`` would not give the shape of ``input``.
        InvalidArgumentError: the number of spatial axes is not 1, 2 or 3, or the padding, strides or dilations are not valid.

    Sources:
        TensorFlow ``tf.nn.conv_transpose``.
    """
    wanted = shape_argument(output_shape)
    count = (wanted.dims or (None,))[0] if isinstance(wanted, Tensor) else len(wanted)
    if count not in (3, 4, 5):
        raise InvalidArgumentError(f"{subject()}output_shape must have 3, 4 or 5 sizes: batch, 1 to 3 spatial sizes and channels; it has {count}")
    rank, first = count - 2, is_first(data_format)
    return convolve_transposed(input, filters, wanted, rank, first, attributes(rank, first, strides, padding, dilations))
