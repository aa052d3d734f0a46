"""Pooling: the maximum or the mean of every window over one, two or three spatial axes, and the gradients.

The gradient of a maximum goes to the first element of the window that has it. NaN is no candidate for it, and a window with no number greater, one
of NaN or of -inf, gives the lowest finite number. A mean is of the elements inside; padding does not count. The public functions are in
``pooling_functions``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op
from treadle.dtypes import DType
from treadle.errors import ShapeError
from treadle_ops.broadcasting import shape_of
from treadle_ops.creation import zeros_like
from treadle_ops.inference import FLOATING, REAL, dims_of_value, require_kind, require_rank, same_dtype
from treadle_ops.window import Padding, window_counts


class MaxPoolWithArgmax(NamedTuple):
    """The maxima of windows, and where in the input they lie."""

    output: Any
    argmax: Any


def _output(input: Spec, window: tuple[int, ...], strides: tuple[int, ...], padding: Padding, dilations: tuple[int, ...]) -> Spec:
    x = require_rank(input, len(window) + 2, "input")
    return Spec((x[0], *window_counts(x[1:-1], window, strides, dilations, padding), x[-1]), input.dtype)


def require_same_shape(have: Spec, want: Spec, what: str) -> None:
    """Refuse a spec whose shape is known to be another one.

    Raises:
        ShapeError: it is.
    """
    if have.dims is None or want.dims is None:
        return
    if len(have.dims) != len(want.dims) or any(sizes.known_different(a, b) for a, b in zip(have.dims, want.dims, strict=True)):
        raise ShapeError(f"{what} has shape {have.shape}; expected {want.shape}")


@op("max_pool")
def max_pool_op(input: Spec, *, window: tuple[int, ...], strides: tuple[int, ...], padding: Padding, dilations: tuple[int, ...]) -> Spec:
    """The maximum of every window over ``(batch, *spatial, channels)``."""
    require_kind(input, REAL, "input")
    return _output(input, window, strides, padding, dilations)


@op("max_pool_grad")
def max_pool_grad(
    input: Spec, output: Spec, g: Spec, *, window: tuple[int, ...], strides: tuple[int, ...], padding: Padding, dilations: tuple[int, ...]
) -> Spec:
    """The gradient of ``max_pool``: each cotangent goes to the first element of its window that is the maximum."""
    same_dtype(input, output, g, kinds=REAL)
    require_same_shape(g, _output(input, window, strides, padding, dilations), "the cotangent of the output")
    return Spec(input.dims, g.dtype)


@op("max_pool_pick")
def max_pool_pick(
    input: Spec, output: Spec, x: Spec, *, window: tuple[int, ...], strides: tuple[int, ...], padding: Padding, dilations: tuple[int, ...]
) -> Spec:
    """For every window the element of ``x`` where the first maximum of ``input`` lies."""
    same_dtype(input, output, x, kinds=REAL)
    require_same_shape(x, input, "what is picked from")
    return _output(input, window, strides, padding, dilations)


@op("max_pool_with_argmax")
def max_pool_with_argmax_op(
    input: Spec, *, window: tuple[int, ...], strides: tuple[int, ...], padding: Padding, output_dtype: DType, include_batch_in_index: bool
) -> MaxPoolWithArgmax:
    """The maximum of every window, and its index in the flattened input, or in the flattened item of the batch."""
    require_kind(input, REAL, "input")
    maxima = _output(input, window, strides, padding, (1,) * len(window))
    return MaxPoolWithArgmax(maxima, Spec(maxima.dims, output_dtype))


@op("avg_pool")
def avg_pool_op(input: Spec, *, window: tuple[int, ...], strides: tuple[int, ...], padding: Padding, dilations: tuple[int, ...]) -> Spec:
    """The mean of every window over ``(batch, *spatial, channels)``; padding does not count."""
    require_kind(input, FLOATING, "input")
    return _output(input, window, strides, padding, dilations)


@op("avg_pool_grad")
def avg_pool_grad(
    input_sizes: HostSpec, g: Spec, *, window: tuple[int, ...], strides: tuple[int, ...], padding: Padding, dilations: tuple[int, ...]
) -> Spec:
    """The gradient of ``avg_pool``: each cotangent is shared by the elements of its window."""
    x = Spec(require_rank(Spec(dims_of_value(input_sizes), g.dtype), len(window) + 2, "the input"), require_kind(g, FLOATING, "the cotangent"))
    require_same_shape(g, _output(x, window, strides, padding, dilations), "the cotangent of the output")
    return x


@gradient(max_pool_op)
def _(ctx: Any, g: Any) -> Any:
    return max_pool_grad(ctx.inputs[0], ctx.output, g, **ctx.attrs)


@gradient(max_pool_grad)
def _(ctx: Any, u: Any) -> Any:
    x, y, _ = ctx.inputs
    return *_zeros_where_needed(ctx, x, y), max_pool_pick(x, y, u, **ctx.attrs)


@gradient(max_pool_pick)
def _(ctx: Any, u: Any) -> Any:
    x, y, _ = ctx.inputs
    return *_zeros_where_needed(ctx, x, y), max_pool_grad(x, y, u, **ctx.attrs)


def _zeros_where_needed(ctx: Any, *inputs: Any) -> list[Any]:
    """The gradients of the inputs that only say where the maxima lie: zeros, as in TensorFlow."""
    return [zeros_like(x) if needed else None for x, needed in zip(inputs, ctx.needs, strict=False)]


@gradient(max_pool_with_argmax_op)
def _(ctx: Any, g: Any, _: Any) -> Any:
    ones = (1,) * len(ctx.window)
    return max_pool_grad(ctx.inputs[0], ctx.outputs[0], g, window=ctx.window, strides=ctx.strides, padding=ctx.padding, dilations=ones)


@gradient(avg_pool_op)
def _(ctx: Any, g: Any) -> Any:
    return avg_pool_grad(shape_of(ctx.inputs[0]), g, **ctx.attrs)


@gradient(avg_pool_grad)
def _(ctx: Any, u: Any) -> Any:
    return None, avg_pool_op(u, **ctx.attrs)
