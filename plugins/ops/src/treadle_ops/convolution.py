"""Convolution over one, two or three spatial axes, and its gradients.

There is one op for any number of axes, with channels last, and two for its gradients. It is linear in the input and in the filters, so the gradients
of these three are the same three again. Transposed convolutions are in ``transposed_convolution``, those of single channels in ``depthwise``, and
TensorFlow's raw ops in ``raw_convolution``.
"""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op, public
from treadle.dims import Size
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.tensor import Tensor
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import shape_of
from treadle_ops.called_function import subject
from treadle_ops.inference import REAL, dims_of_value, require_rank, same_dtype
from treadle_ops.window import (
    Padding,
    attributes,
    channels_first,
    channels_last,
    is_channels_first,
    is_first,
    over_batches,
    window_counts,
)


@op("conv")
def conv_op(input: Spec, filters: Spec, *, strides: tuple[int, ...], padding: Padding, dilations: tuple[int, ...]) -> Spec:
    """The products of filters ``(*window, channels / groups, outputs)`` and the windows over ``(batch, *spatial, channels)``."""
    rank = len(strides)
    dtype = same_dtype(input, filters, kinds=REAL)
    x, w = require_rank(input, rank + 2, "input"), require_rank(filters, rank + 2, "filters")
    _require_groups(x[-1], w[-2], w[-1])
    return Spec((x[0], *window_counts(x[1:-1], w[:-2], strides, dilations, padding), w[-1]), dtype)


@op("conv_backprop_input")
def conv_backprop_input_op(
    input_sizes: HostSpec, filters: Spec, out_backprop: Spec, *, strides: tuple[int, ...], padding: Padding, dilations: tuple[int, ...]
) -> Spec:
    """The gradient of ``conv`` with respect to an input of ``input_sizes``; also the transposed convolution."""
    rank = len(strides)
    dtype = same_dtype(filters, out_backprop, kinds=REAL)
    x = require_rank(Spec(dims_of_value(input_sizes), dtype), rank + 2, "the input of input_sizes")
    w, g = require_rank(filters, rank + 2, "filters"), require_rank(out_backprop, rank + 2, "the output")
    _require_output(x, w, g, strides, padding, dilations)
    return Spec(x, dtype)


@op("conv_backprop_filter")
def conv_backprop_filter_op(
    input: Spec, filter_sizes: HostSpec, out_backprop: Spec, *, strides: tuple[int, ...], padding: Padding, dilations: tuple[int, ...]
) -> Spec:
    """The gradient of ``conv`` with respect to filters of ``filter_sizes``."""
    rank = len(strides)
    dtype = same_dtype(input, out_backprop, kinds=REAL)
    w = require_rank(Spec(dims_of_value(filter_sizes), dtype), rank + 2, "the filters of filter_sizes")
    x, g = require_rank(input, rank + 2, "input"), require_rank(out_backprop, rank + 2, "the output")
    _require_output(x, w, g, strides, padding, dilations)
    return Spec(w, dtype)


def _require_groups(channels: Size, inner: Size, outer: Size) -> None:
    if not isinstance(channels, int) or not isinstance(inner, int) or channels == inner:
        return
    if inner < 1 or channels % inner:
        raise ShapeError(f"the input has {channels} channels and the filters take {inner}; they must be equal, or the first a multiple of the second")
    groups = channels // inner
    if groups == 0 or (isinstance(outer, int) and outer % groups):
        raise ShapeError(f"{channels} channels and filters that take {inner} make {groups} groups, which do not divide the {outer} output channels")


def _require_output(x: Any, w: Any, g: Any, strides: tuple[int, ...], padding: Padding, dilations: tuple[int, ...]) -> None:
    _require_groups(x[-1], w[-2], w[-1])
    expected = (x[0], *window_counts(x[1:-1], w[:-2], strides, dilations, padding), w[-1])
    for have, want in zip(g, expected, strict=True):
        if sizes.known_different(have, want):
            raise ShapeError(
                f"an output of {_text(g)} does not belong to an input of {_text(x)} and filters of {_text(w)}, which give {_text(expected)} "
                f"(strides {list(strides)}, padding {padding!r}, dilations {list(dilations)})"
            )


def _text(dims: Any) -> str:
    return "(" + ", ".join("?" if not isinstance(d, int) else str(d) for d in dims) + ")"


@gradient(conv_op)
def _(ctx: Any, g: Any) -> Any:
    x, w = ctx.inputs
    return (
        conv_backprop_input_op(shape_of(x), w, g, **ctx.attrs) if ctx.needs[0] else None,
        conv_backprop_filter_op(x, shape_of(w), g, **ctx.attrs) if ctx.needs[1] else None,
    )


@gradient(conv_backprop_input_op)
def _(ctx: Any, u: Any) -> Any:
    _, w, g = ctx.inputs
    return (
        None,
        conv_backprop_filter_op(u, shape_of(w), g, **ctx.attrs) if ctx.needs[0] else None,
        conv_op(u, w, **ctx.attrs) if ctx.needs[1] else None,
    )


@gradient(conv_backprop_filter_op)
def _(ctx: Any, u: Any) -> Any:
    x, _, g = ctx.inputs
    return (
        conv_backprop_input_op(shape_of(x), u, g, **ctx.attrs) if ctx.needs[0] else None,
        None,
        conv_op(x, u, **ctx.attrs) if ctx.needs[1] else None,
    )


# ---------------------------------------------------------------------- public functions


def pair(x: Any, w: Any) -> tuple[Any, Any]:
    """Two arguments as tensors, the Python numbers of one by the dtype of the other."""
    if isinstance(x, Tensor) and isinstance(w, Tensor):
        return x, w
    first = tensor(x, w if isinstance(w, Tensor) else None)
    return first, tensor(w, first)


def convolve(x: Any, w: Any, rank: int, first: bool, attrs: dict[str, Any]) -> Any:
    """The convolution of a tensor in TensorFlow's layout; ``first``: channels come before the spatial axes."""
    x, w = pair(x, w)
    if not first and len(x.dims or ()) <= rank + 2:
        return conv_op(x, w, **attrs)

    def run(item: Any) -> Any:
        return channels_first(conv_op(channels_last(item, rank), w, **attrs), rank) if first else conv_op(item, w, **attrs)

    return over_batches(x, rank, run)


@public("nn.conv1d")
def conv1d(
    input: Any, filters: Any, stride: Any, padding: Any, data_format: str | None = "NWC", dilations: Any = None, name: str | None = None
) -> Any:
    """Convolution over one spatial axis.

    Args:
        input: ``(..., width, channels)``, or ``(..., channels, width)`` when ``data_format`` is ``"NCW"``; real.
        filters: ``(window, channels / groups, outputs)`` of the dtype of ``input``.
        stride: an int, or a list of 1 or 3 of them.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input.
        data_format: ``"NWC"`` or ``"NCW"``.
        dilations: the step between elements of a window; an int, or a list of 1 or 3.
        name: ignored.

    Returns:
        ``(..., windows, outputs)``, or with these two swapped, of the dtype of ``input``.

    Raises:
        ShapeError: the channels do not fit the filters, or a window is larger than the input.
        InvalidArgumentError: the padding, strides, dilations or data format are not valid.

    Sources:
        TensorFlow ``tf.nn.conv1d``.
    """
    first = is_channels_first(data_format, 1)
    return convolve(input, filters, 1, first, attributes(1, first, stride, padding, dilations, "stride"))


@public("nn.conv2d")
def conv2d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: str | None = "NHWC", dilations: Any = None, name: str | None = None
) -> Any:
    """Convolution over two spatial axes; grouped when the filters take fewer channels than the input has.

    Args:
        input: ``(..., height, width, channels)``, or ``(..., channels, height, width)`` when ``data_format`` is ``"NCHW"``; real.
        filters: ``(height, width, channels / groups, outputs)`` of the dtype of ``input``.
        strides: an int, or a list of 1, 2 or 4 of them.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input.
        data_format: ``"NHWC"`` or ``"NCHW"``.
        dilations: the step between elements of a window; an int, or a list of 1, 2 or 4.
        name: ignored.

    Returns:
        The input's batch axes, the numbers of windows and the outputs, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the channels do not fit the filters, or a window is larger than the input.
        InvalidArgumentError: the padding, strides, dilations or data format are not valid.

    Sources:
        TensorFlow ``tf.nn.conv2d``.
    """
    first = is_channels_first(data_format, 2)
    return convolve(input, filters, 2, first, attributes(2, first, strides, padding, dilations))


@public("nn.conv3d")
def conv3d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: str | None = "NDHWC", dilations: Any = None, name: str | None = None
) -> Any:
    """Convolution over three spatial axes.

    Args:
        input: ``(..., depth, height, width, channels)``, or with the channels before the spatial axes when ``data_format`` is ``"NCDHW"``; real.
        filters: ``(depth, height, width, channels / groups, outputs)`` of the dtype of ``input``.
        strides: an int, or a list of 1, 3 or 5 of them.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input.
        data_format: ``"NDHWC"`` or ``"NCDHW"``.
        dilations: the step between elements of a window; an int, or a list of 1, 3 or 5.
        name: ignored.

    Returns:
        The input's batch axes, the numbers of windows and the outputs, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the channels do not fit the filters, or a window is larger than the input.
        InvalidArgumentError: the padding, strides, dilations or data format are not valid.

    Sources:
        TensorFlow ``tf.nn.conv3d``.
    """
    first = is_channels_first(data_format, 3)
    return convolve(input, filters, 3, first, attributes(3, first, strides, padding, dilations))


@public("nn.convolution")
def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolution over as many spatial axes as the filters have.

    Args:
        input: ``(..., *spatial, channels)``, or ``(..., channels, *spatial)`` when ``data_format`` starts with ``"NC"``; real.
        filters: ``(*window, channels / groups, outputs)`` of the dtype of ``input``, with one to three spatial axes.
        strides: an int, or one per spatial axis; 1 by default.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input.
        data_format: channels last by default.
        dilations: the step between elements of a window; an int, or one per spatial axis.
        name: ignored.

    Returns:
        The input's batch axes, the numbers of windows and the outputs, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the channels do not fit the filters, or a window is larger than the input.
        InvalidArgumentError: the number of spatial axes is not 1, 2 or 3, or the padding, strides or dilations are not valid.

    Sources:
        TensorFlow ``tf.nn.convolution``.
    """
    x, w = pair(input, filters)
    known = w.dims if w.dims is not None else x.dims
    rank = _spatial_rank(data_format, strides, dilations) if known is None else len(known) - 2
    if rank is None:
        raise InvalidArgumentError(
            "convolution: the ranks of input and filters are not known while tracing; give data_format, or a list of strides or dilations"
        )
    if not 1 <= rank <= 3:
        raise InvalidArgumentError(f"{subject()}filters of shape {w.shape} have no 1, 2 or 3 spatial axes beside their input and output channels")
    first = is_first(data_format)
    return convolve(x, w, rank, first, attributes(rank, first, strides, padding, dilations))


def _spatial_rank(data_format: str | None, *per_axis: Any) -> int | None:
    """How many spatial axes there are by a data format, or by a list of a number for each; None where none says it."""
    if data_format is not None:
        return len(data_format) - 2
    return next((len(numbers) for numbers in per_axis if isinstance(numbers, list | tuple) and len(numbers) > 1), None)
