"""Grey-scale morphology: maxima over windows of elements plus a filter, minima of elements minus one, and their gradients."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.called_function import subject
from treadle_ops.convolution import pair
from treadle_ops.elementwise import negative
from treadle_ops.inference import REAL, require_rank, same_dtype
from treadle_ops.pooling import require_same_shape
from treadle_ops.reordering import reverse_op
from treadle_ops.window import padding_argument, per_axis, window_counts


def _output(input: Spec, filters: Spec, strides: tuple[int, ...], padding: str, dilations: tuple[int, ...]) -> Spec:
    dtype = same_dtype(input, filters, kinds=REAL)
    x, w = require_rank(input, 4, "input"), require_rank(filters, 3, "filters")
    if sizes.known_different(x[3], w[2]):
        raise ShapeError(f"the input has {x[3]} channels and the filters have {w[2]}; they must be equal")
    return Spec((x[0], *window_counts(x[1:3], w[:2], strides, dilations, padding), sizes.unify(x[3], w[2], "channels")), dtype)


def _like(like: Spec, x: Spec) -> Spec:
    """The spec of ``like``, whose shape ``x`` must have."""
    dtype = same_dtype(like, x, kinds=REAL)
    require_same_shape(x, like, "the cotangent")
    return Spec(like.dims, dtype)


@op("dilation2d")
def dilation2d_op(input: Spec, filters: Spec, *, strides: tuple[int, ...], padding: str, dilations: tuple[int, ...]) -> Spec:
    """The largest of the sums of ``filters`` and each window over ``(batch, height, width, channels)``."""
    return _output(input, filters, strides, padding, dilations)


@op("dilation2d_backprop_input")
def dilation2d_backprop_input(input: Spec, filters: Spec, g: Spec, *, strides: tuple[int, ...], padding: str, dilations: tuple[int, ...]) -> Spec:
    """The gradient of ``dilation2d`` with respect to its input: each cotangent goes to the element of the first largest sum."""
    _like(_output(input, filters, strides, padding, dilations), g)
    return Spec(input.dims, g.dtype)


@op("dilation2d_backprop_filter")
def dilation2d_backprop_filter(input: Spec, filters: Spec, g: Spec, *, strides: tuple[int, ...], padding: str, dilations: tuple[int, ...]) -> Spec:
    """The gradient of ``dilation2d`` with respect to its filters: each cotangent goes to the tap of the first largest sum."""
    _like(_output(input, filters, strides, padding, dilations), g)
    return Spec(filters.dims, g.dtype)


@op("dilation2d_pick_input")
def dilation2d_pick_input(input: Spec, filters: Spec, x: Spec, *, strides: tuple[int, ...], padding: str, dilations: tuple[int, ...]) -> Spec:
    """For every window the element of ``x`` where the first largest sum of ``input`` and ``filters`` lies."""
    _like(input, x)
    return _output(input, filters, strides, padding, dilations)


@op("dilation2d_pick_filter")
def dilation2d_pick_filter(input: Spec, filters: Spec, w: Spec, *, strides: tuple[int, ...], padding: str, dilations: tuple[int, ...]) -> Spec:
    """For every window the element of ``w`` at the tap of the first largest sum of ``input`` and ``filters``."""
    _like(filters, w)
    return _output(input, filters, strides, padding, dilations)


@gradient(dilation2d_op)
def _(ctx: Any, g: Any) -> Any:
    x, w = ctx.inputs
    return (
        dilation2d_backprop_input(x, w, g, **ctx.attrs) if ctx.needs[0] else None,
        dilation2d_backprop_filter(x, w, g, **ctx.attrs) if ctx.needs[1] else None,
    )


@gradient(dilation2d_backprop_input)
def _(ctx: Any, u: Any) -> Any:
    x, w, _ = ctx.inputs
    return None, None, dilation2d_pick_input(x, w, u, **ctx.attrs)


@gradient(dilation2d_pick_input)
def _(ctx: Any, u: Any) -> Any:
    x, w, _ = ctx.inputs
    return None, None, dilation2d_backprop_input(x, w, u, **ctx.attrs)


@gradient(dilation2d_backprop_filter)
def _(ctx: Any, u: Any) -> Any:
    x, w, _ = ctx.inputs
    return None, None, dilation2d_pick_filter(x, w, u, **ctx.attrs)


@gradient(dilation2d_pick_filter)
def _(ctx: Any, u: Any) -> Any:
    x, w, _ = ctx.inputs
    return None, None, dilation2d_backprop_filter(x, w, u, **ctx.attrs)


def _attributes(strides: Any, padding: Any, data_format: str, dilations: Any) -> dict[str, Any]:
    if data_format != "NHWC":
        raise InvalidArgumentError(f"{subject()}data_format {data_format!r} is not known to morphology; expected 'NHWC'")
    return {
        "strides": per_axis(strides, 2, False, "strides"),
        "padding": padding_argument(padding, 2, False, explicit=False),
        "dilations": per_axis(dilations, 2, False, "dilations"),
    }


@public("nn.dilation2d")
def dilation2d(input: Any, filters: Any, strides: Any, padding: Any, data_format: str, dilations: Any, name: str | None = None) -> Any:
    """Grey-scale dilation: the largest of the sums of the filters and each window.

    Args:
        input: ``(batch, height, width, channels)``, real.
        filters: ``(height, width, channels)`` of the dtype of ``input``.
        strides: 4 numbers, of which the first and the last are 1; an int or one per spatial axis too.
        padding: ``"SAME"`` or ``"VALID"``; what lies outside is no candidate.
        data_format: ``"NHWC"``.
        dilations: the step between elements of a window, given as ``strides`` are.
        name: ignored.

    Returns:
        ``(batch, windows, windows, channels)`` of the dtype of ``input``.

    Raises:
        ShapeError: the channels differ, or a window is larger than the input.
        InvalidArgumentError: an attribute is not valid.

    Sources:
        TensorFlow ``tf.nn.dilation2d``.
    """
    x, w = pair(input, filters)
    return dilation2d_op(x, w, **_attributes(strides, padding, data_format, dilations))


@public("nn.erosion2d")
def erosion2d(value: Any, filters: Any, strides: Any, padding: Any, data_format: str, dilations: Any, name: str | None = None) -> Any:
    """Grey-scale erosion: the smallest of the differences of each window and the filters.

    Args:
        value: ``(batch, height, width, channels)``, floating or signed integers.
        filters: ``(height, width, channels)`` of the dtype of ``value``.
        strides: 4 numbers, of which the first and the last are 1; an int or one per spatial axis too.
        padding: ``"SAME"`` or ``"VALID"``; what lies outside is no candidate.
        data_format: ``"NHWC"``.
        dilations: the step between elements of a window, given as ``strides`` are.
        name: ignored.

    Returns:
        ``(batch, windows, windows, channels)`` of the dtype of ``value``.

    Raises:
        ShapeError: the channels differ, or a window is larger than the input.
        InvalidArgumentError: an attribute is not valid.

    Sources:
        TensorFlow ``tf.nn.erosion2d``.
    """
    x, w = pair(value, filters)
    attrs = _attributes(strides, padding, data_format, dilations)
    return negative(dilation2d_op(negative(x), reverse_op(w, axis=(0, 1)), **attrs))
