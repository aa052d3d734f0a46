"""Convolution and its gradients as TensorFlow's raw ops have them."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.declare import public
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import shape_of
from treadle_ops.convolution import conv_backprop_filter_op, conv_backprop_input_op, convolve, pair
from treadle_ops.window import channels_first, channels_last, flat_padding, is_channels_first, per_axis


@public("conv")
def conv(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    explicit_paddings: Any = (),
    data_format: str = "CHANNELS_LAST",
    dilations: Any = (),
    batch_dims: int = 1,
    groups: int = 1,
    name: str | None = None,
) -> Any:
    """Convolution over two or three spatial axes, as TensorFlow's raw op ``Conv`` has it.

    Args:
        input: ``(..., *spatial, channels)``, or ``(..., channels, *spatial)``; real.
        filter: ``(*window, channels / groups, outputs)`` of the dtype of ``input``.
        strides: one per axis of an input with one batch axis.
        padding: ``"SAME"``, ``"VALID"`` or ``"EXPLICIT"``.
        explicit_paddings: two numbers per axis for ``"EXPLICIT"``.
        data_format: ``"CHANNELS_LAST"`` or ``"CHANNELS_FIRST"``.
        dilations: one per axis of an input with one batch axis; 1 by default.
        batch_dims: how many batch axes the input has.
        groups: into how many groups the channels fall.
        name: ignored.

    Returns:
        The input's batch axes, the numbers of windows and the outputs, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the channels do not fit the filters and groups, or a window is larger than the input.
        InvalidArgumentError: an attribute is not valid.

    Sources:
        TensorFlow ``tf.raw_ops.Conv``.
    """
    if data_format not in ("CHANNELS_LAST", "CHANNELS_FIRST"):
        raise InvalidArgumentError(f"conv: data_format {data_format!r} is not known; expected 'CHANNELS_LAST' or 'CHANNELS_FIRST'")
    first = data_format == "CHANNELS_FIRST"
    x, w = pair(input, filter)
    rank = len(strides) - 2 if isinstance(strides, list | tuple) else None
    if rank not in (1, 2, 3):
        raise InvalidArgumentError(f"conv: strides {strides!r} must have one number per axis: batch, 1 to 3 spatial axes and channels")
    if x.dims is not None and len(x.dims) != batch_dims + rank + 1:
        raise ShapeError(f"conv: input of shape {x.shape} does not have {batch_dims} batch axes, {rank} spatial axes and channels")
    if w.dims is not None and len(w.dims) != rank + 2:
        raise ShapeError(f"conv: filter of shape {w.shape} must have rank {rank + 2}: {rank} spatial axes, input and output channels")
    if x.dims is not None and w.dims is not None:
        channels, inner = x.dims[batch_dims if first else -1], w.dims[-2]
        if sizes.known_different(channels, sizes.mul(inner, groups)):
            raise ShapeError(f"conv: {groups} groups of {inner} channels, which the filters take, are not the {channels} channels of the input")
    attrs = {
        "strides": per_axis(strides, rank, first, "strides"),
        "padding": flat_padding(padding, explicit_paddings, rank, first),
        "dilations": per_axis(dilations or None, rank, first, "dilations"),
    }
    return convolve(x, w, rank, first, attrs)


def _raw_attributes(strides: Any, padding: str, explicit_paddings: Any, data_format: str, dilations: Any) -> tuple[bool, dict[str, Any]]:
    first = is_channels_first(data_format, 2)
    return first, {
        "strides": per_axis(strides, 2, first, "strides"),
        "padding": flat_padding(padding, explicit_paddings, 2, first),
        "dilations": per_axis(dilations, 2, first, "dilations"),
    }


@public("conv2d_backprop_input_v2")
def conv2d_backprop_input_v2(
    input: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Any = (),
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """The gradient of ``nn.conv2d`` with respect to its input.

    Args:
        input: the input, of which only the shape matters.
        filter: ``(height, width, channels / groups, outputs)``, real.
        out_backprop: the cotangent of the convolution's result, of the dtype of ``filter``.
        strides: 4 numbers in the order of ``data_format``.
        padding: ``"SAME"``, ``"VALID"`` or ``"EXPLICIT"``.
        use_cudnn_on_gpu: ignored.
        explicit_paddings: 8 numbers for ``"EXPLICIT"``.
        data_format: ``"NHWC"`` or ``"NCHW"``.
        dilations: 4 numbers in the order of ``data_format``.
        name: ignored.

    Returns:
        The shape of ``input``, the dtype of ``filter``.

    Raises:
        ShapeError: the shapes do not belong together.
        InvalidArgumentError: an attribute is not valid.

    Sources:
        TensorFlow ``tf.raw_ops.Conv2DBackpropInputV2``.
    """
    first, attrs = _raw_attributes(strides, padding, explicit_paddings, data_format, dilations)
    w, g = pair(filter, out_backprop)
    x = tensor(input, w)
    if not first:
        return conv_backprop_input_op(shape_of(x), w, g, **attrs)
    return channels_first(conv_backprop_input_op(shape_of(channels_last(x, 2)), w, channels_last(g, 2), **attrs), 2)


@public("conv2d_backprop_filter_v2")
def conv2d_backprop_filter_v2(
    input: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Any = (),
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """The gradient of ``nn.conv2d`` with respect to its filters.

    Args:
        input: ``(batch, height, width, channels)`` in the order of ``data_format``, real.
        filter: the filters, of which only the shape matters.
        out_backprop: the cotangent of the convolution's result, of the dtype of ``input``.
        strides: 4 numbers in the order of ``data_format``.
        padding: ``"SAME"``, ``"VALID"`` or ``"EXPLICIT"``.
        use_cudnn_on_gpu: ignored.
        explicit_paddings: 8 numbers for ``"EXPLICIT"``.
        data_format: ``"NHWC"`` or ``"NCHW"``.
        dilations: 4 numbers in the order of ``data_format``.
        name: ignored.

    Returns:
        The shape of ``filter``, the dtype of ``input``.

    Raises:
        ShapeError: the shapes do not belong together.
        InvalidArgumentError: an attribute is not valid.

    Sources:
        TensorFlow ``tf.raw_ops.Conv2DBackpropFilterV2``.
    """
    first, attrs = _raw_attributes(strides, padding, explicit_paddings, data_format, dilations)
    x, g = pair(input, out_backprop)
    sizes_of_filter = shape_of(tensor(filter, x))
    if first:
        x, g = channels_last(x, 2), channels_last(g, 2)
    return conv_backprop_filter_op(x, sizes_of_filter, g, **attrs)
