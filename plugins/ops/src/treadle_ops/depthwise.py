"""Convolution of single channels, alone or with a product over the channels after it; the op is ``conv`` with a group per channel."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.declare import public
from treadle.dtypes import int32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.tensor import Tensor
from treadle_ops.arguments import shape_argument, tensor
from treadle_ops.assertions import assert_equal
from treadle_ops.called_function import subject
from treadle_ops.casting import cast
from treadle_ops.convolution import conv_backprop_filter_op, conv_backprop_input_op, convolve, pair
from treadle_ops.equal_sizes import with_equal_sizes
from treadle_ops.fourier import size_along
from treadle_ops.joining import unstack_op
from treadle_ops.shaping import ensure_shape_op, reshape_op
from treadle_ops.window import as_shape, attributes, channels_first, channels_last, full_shape, is_channels_first, sizes_of


def _grouped(filters: Any) -> Any:
    """Filters ``(height, width, channels, multiplier)`` as those of a convolution with a group per channel, ``(height, width, 1, outputs)``."""
    if filters.dims is not None and len(filters.dims) != 4:
        raise ShapeError(
            f"{subject()}the depthwise filters have shape {filters.shape}; expected rank 4: height, width, channels and channel multiplier"
        )
    height, width, channels, multiplier = sizes_of(filters, 4)
    outputs = channels * multiplier if type(channels) is int and type(multiplier) is int else -1
    return reshape_op(filters, as_shape([height, width, 1, outputs]))


def _for_channels(filters: Any, x: Any, first: bool) -> Any:
    """The kernel would take other channels for groups of several, so they are compared before the filters lose theirs."""
    if (x.dims is None or len(x.dims) >= 4) and (filters.dims is None or len(filters.dims) == 4):
        return with_equal_sizes(filters, 2, x, -3 if first else -1, "the channels that the filters are for and those of the input")
    return filters


@public("nn.depthwise_conv2d")
def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, data_format: str | None = None, dilations: Any = None, name: str | None = None
) -> Any:
    """Convolution of each channel with filters of its own.

    Args:
        input: ``(..., height, width, channels)``, or ``(..., channels, height, width)`` when ``data_format`` is ``"NCHW"``; real.
        filter: ``(height, width, channels, multiplier)`` of the dtype of ``input``.
        strides: a list of 4 numbers in the order of ``data_format``; an int or one per spatial axis too.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input.
        data_format: ``"NHWC"`` (the default) or ``"NCHW"``.
        dilations: the step between elements of a window, two numbers.
        name: ignored.

    Returns:
        The input's batch axes, the numbers of windows and ``channels * multiplier`` outputs, those of a channel side by side, in the order of
        ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the channels differ, or a window is larger than the input.
        InvalidArgumentError: the padding, strides, dilations or data format are not valid.

    Sources:
        TensorFlow ``tf.nn.depthwise_conv2d``.
    """
    first = is_channels_first(data_format, 2)
    x, w = pair(input, filter)
    return convolve(x, _grouped(_for_channels(w, x, first)), 2, first, attributes(2, first, strides, padding, dilations))


@public("nn.depthwise_conv2d_backprop_input")
def depthwise_conv2d_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """The gradient of ``nn.depthwise_conv2d`` with respect to its input.

    Args:
        input_sizes: the shape of the input, in the order of ``data_format``.
        filter: ``(height, width, channels, multiplier)``, real.
        out_backprop: the cotangent of the convolution's result, of the dtype of ``filter``.
        strides: 4 numbers in the order of ``data_format``.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input.
        data_format: ``"NHWC"`` or ``"NCHW"``.
        dilations: 4 numbers in the order of ``data_format``.
        name: ignored.

    Returns:
        A tensor of ``input_sizes`` and the dtype of ``filter``.

    Raises:
        ShapeError: the shapes do not belong together.
        InvalidArgumentError: an attribute is not valid.

    Sources:
        TensorFlow ``tf.nn.depthwise_conv2d_backprop_input``.
    """
    first = is_channels_first(data_format, 2)
    w, g = pair(filter, out_backprop)
    if first:
        g = channels_last(g, 2)
    channels = w.dims[2] if w.dims is not None and len(w.dims) == 4 else None
    shape = full_shape(input_sizes, 2, first, g, w)
    if isinstance(shape, tuple) and type(channels) is int and shape[-1] != channels:
        raise ShapeError(f"depthwise_conv2d_backprop_input: input_sizes have {shape[-1]} channels and the filters are for {channels}")
    result = conv_backprop_input_op(shape, _grouped(w), g, **attributes(2, first, strides, padding, dilations))
    return channels_first(result, 2) if first else result


@public("nn.depthwise_conv2d_backprop_filter")
def depthwise_conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """The gradient of ``nn.depthwise_conv2d`` with respect to its filters.

    Args:
        input: ``(batch, height, width, channels)`` in the order of ``data_format``, real.
        filter_sizes: the shape of the filters, ``(height, width, channels, multiplier)``.
        out_backprop: the cotangent of the convolution's result, of the dtype of ``input``.
        strides: 4 numbers in the order of ``data_format``.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input.
        data_format: ``"NHWC"`` or ``"NCHW"``.
        dilations: 4 numbers in the order of ``data_format``.
        name: ignored.

    Returns:
        A tensor of ``filter_sizes`` and the dtype of ``input``.

    Raises:
        ShapeError: the shapes do not belong together.
        InvalidArgumentError: an attribute is not valid.

    Sources:
        TensorFlow ``tf.nn.depthwise_conv2d_backprop_filter``.
    """
    first = is_channels_first(data_format, 2)
    x, g = pair(input, out_backprop)
    shape = shape_argument(filter_sizes)
    wanted = unstack_op(shape, num=4, axis=0) if isinstance(shape, Tensor) else shape
    if len(wanted) != 4:
        raise InvalidArgumentError(
            f"depthwise_conv2d_backprop_filter: filter_sizes {list(wanted)} must be 4 sizes: height, width, channels, multiplier"
        )
    if x.dims is not None and len(x.dims) != 4:
        raise ShapeError(f"depthwise_conv2d_backprop_filter: input has shape {x.shape}; expected rank 4")
    if first:
        x, g = channels_last(x, 2), channels_last(g, 2)
    height, width, channels, multiplier = wanted
    if x.dims is not None and type(channels) is int and sizes.known_different(x.dims[-1], channels):
        raise ShapeError(f"depthwise_conv2d_backprop_filter: the input has {x.dims[-1]} channels and filter_sizes are for {channels}")
    if type(channels) is not int or x.dims is None or type(x.dims[-1]) is not int:
        assert_equal(size_along(x, -1), cast(channels, int32), message="the channels of the input and those of filter_sizes must be equal")
    merged = as_shape([height, width, 1, channels * multiplier])
    return reshape_op(conv_backprop_filter_op(x, merged, g, **attributes(2, first, strides, padding, dilations)), shape)


@public("nn.separable_conv2d")
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolution of each channel with filters of its own, and a product over the channels that come out.

    Args:
        input: ``(..., height, width, channels)``, or ``(..., channels, height, width)`` when ``data_format`` is ``"NCHW"``; real.
        depthwise_filter: ``(height, width, channels, multiplier)`` of the dtype of ``input``.
        pointwise_filter: ``(1, 1, channels * multiplier, outputs)`` of the dtype of ``input``.
        strides: a list of 4 numbers in the order of ``data_format``; an int or one per spatial axis too.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input.
        data_format: ``"NHWC"`` (the default) or ``"NCHW"``.
        dilations: the step between elements of a window, two numbers.
        name: ignored.

    Returns:
        The input's batch axes, the numbers of windows and the outputs, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the channels do not fit, or a window is larger than the input.
        InvalidArgumentError: the padding, strides, dilations or data format are not valid.

    Sources:
        TensorFlow ``tf.nn.separable_conv2d``.
    """
    first = is_channels_first(data_format, 2)
    x, depthwise = pair(input, depthwise_filter)
    pointwise = tensor(pointwise_filter, x)
    if pointwise.dims is not None and (len(pointwise.dims) != 4 or any(sizes.known_different(d, 1) for d in pointwise.dims[:2])):
        raise ShapeError(f"separable_conv2d: pointwise_filter has shape {pointwise.shape}; expected (1, 1, channels, outputs)")
    if pointwise.dims is not None and depthwise.dims is not None and len(depthwise.dims) == 4:
        made, taken = sizes.mul(depthwise.dims[2], depthwise.dims[3]), pointwise.dims[2]
        if sizes.known_different(made, taken):
            raise ShapeError(f"separable_conv2d: the depthwise filters give {made} channels and pointwise_filter takes {taken}; they must be equal")
    between = depthwise_conv2d(x, depthwise, strides, padding, data_format, dilations)
    if pointwise.dims is None or any(type(d) is not int for d in pointwise.dims[:2]):
        pointwise = ensure_shape_op(pointwise, shape=(1, 1, None, None))
    between = with_equal_sizes(between, -3 if first else -1, pointwise, 2, "the channels that depthwise_filter gives and pointwise_filter takes")
    return convolve(between, pointwise, 2, first, attributes(2, first, 1, "VALID", None))
