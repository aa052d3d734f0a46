"""Normalization: to the unit length, by the moments of a batch, across neighbouring channels; and the bias that comes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import static_integer, tensor
from treadle_ops.broadcasting import axis_size, sum_like
from treadle_ops.called_function import checked, subject
from treadle_ops.casting import cast
from treadle_ops.complex_numbers import complex_op, imag_op, real_op
from treadle_ops.elementwise import add, multiply, negative, square
from treadle_ops.extremes import maximum
from treadle_ops.inference import FLOATING, NUMERIC, broadcast, require_kind, same_dtype
from treadle_ops.powers import pow_op, rsqrt
from treadle_ops.reductions import reduce_sum, reduce_sum_op
from treadle_ops.shaping import ensure_shape_op, reshape_op

# ---------------------------------------------------------------------- deviations from a mean


@op("standardize")
def standardize(x: Spec, mean: Sequence[Spec], factors: Sequence[Spec], offset: Sequence[Spec]) -> Spec:
    """``(x - mean) * factor * ... + offset``, each of which may be left out; all broadcast."""
    everything = (x, *mean, *factors, *offset)
    return Spec(broadcast(*everything), same_dtype(*everything, kinds=FLOATING))


@gradient(standardize)
def _(ctx: Any, g: Any) -> Any:
    x, mean, factors, offset = ctx.inputs
    needs = ctx.needs
    first = 1 + len(mean)
    along_x, along_mean, along_factors = None, [None] * len(mean), []
    if any(needs[:first]):
        scaled = standardize(g, [], list(factors), []) if factors else g
        along_x = sum_like(scaled, x) if needs[0] else None
        along_mean = [negative(sum_like(scaled, m)) if needs[1 + i] else None for i, m in enumerate(mean)]
    for i, factor in enumerate(factors):
        others = [*factors[:i], *factors[i + 1 :]]
        along_factors.append(sum_like(standardize(x, list(mean), [g, *others], []), factor) if needs[first + i] else None)
    return along_x, along_mean, along_factors, [sum_like(g, o) for o in offset]


@public("nn.batch_normalization")
def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: str | None = None) -> Any:
    """``(x - mean) / sqrt(variance + variance_epsilon) * scale + offset``.

    Args:
        x: any shape, floating.
        mean: a shape that broadcasts with that of ``x``.
        variance: the same.
        offset: the same; None for none.
        scale: the same; None for none.
        variance_epsilon: a small number, so that nothing is divided by 0.
        name: ignored.

    Returns:
        The broadcast shape, of the dtype of ``x``.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the moments, the offset and the scale are not of one floating dtype.

    Sources:
        TensorFlow ``tf.nn.batch_normalization``; Ioffe and Szegedy, "Batch normalization", ICML 2015.
    """
    values = tensor(x)
    spread = tensor(variance, values)
    center = tensor(mean, spread)
    factors = [rsqrt(add(spread, variance_epsilon))]
    if scale is not None:
        factors.append(tensor(scale, spread))
    shifts = [] if offset is None else [tensor(offset, spread)]
    if spread.dtype is not values.dtype:
        checked(same_dtype, spread, center, *factors, *shifts)
        center, factors, shifts = cast(center, values.dtype), [cast(f, values.dtype) for f in factors], [cast(s, values.dtype) for s in shifts]
    return standardize(values, [center], factors, shifts)


@public("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    input: Any, mean: Any, variance: Any, beta: Any, gamma: Any, variance_epsilon: Any, scale_after_normalization: Any, name: str | None = None
) -> Any:
    """``batch_normalization`` with the offset ``beta`` and, if ``scale_after_normalization``, the scale ``gamma``.

    Args:
        input: ``(batch, height, width, channels)``, floating.
        mean: ``(channels,)``.
        variance: ``(channels,)``.
        beta: ``(channels,)``.
        gamma: ``(channels,)``.
        variance_epsilon: a small number, so that nothing is divided by 0.
        scale_after_normalization: whether to multiply by ``gamma``.
        name: ignored.

    Returns:
        The shape and dtype of ``input``.

    Raises:
        ShapeError: the shapes do not broadcast.

    Sources:
        TensorFlow ``tf.nn.batch_norm_with_global_normalization``.
    """
    return batch_normalization(input, mean, variance, beta, gamma if scale_after_normalization else None, variance_epsilon)


# ---------------------------------------------------------------------- unit length


@public("math.l2_normalize", "linalg.l2_normalize", "nn.l2_normalize")
def l2_normalize(x: Any, axis: Any = None, epsilon: Any = 1e-12, name: str | None = None, dim: Any = None) -> Any:
    """``x / sqrt(max(sum(|x|**2), epsilon))`` over axes.

    Args:
        x: any shape, floating or complex.
        axis: an int or a list of ints; all axes by default.
        epsilon: the least sum of squares to divide by.
        name: ignored.
        dim: another name for ``axis``.

    Returns:
        The shape and dtype of ``x``.

    Raises:
        ValueError: both ``axis`` and ``dim`` are given.
        InvalidArgumentError: an axis is out of range.

    Sources:
        TensorFlow ``tf.math.l2_normalize``.
    """
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'.")
        axis = dim
    values = tensor(x)
    if not values.dtype.is_complex:
        return multiply(values, rsqrt(maximum(reduce_sum(square(values), axis, True), epsilon)))
    parts = real_op(values), imag_op(values)
    inverse = rsqrt(maximum(reduce_sum(add(square(parts[0]), square(parts[1])), axis, True), epsilon))
    return complex_op(multiply(parts[0], inverse), multiply(parts[1], inverse))


# ---------------------------------------------------------------------- neighbouring channels


@op("channel_window_sum")
def channel_window_sum(x: Spec, *, radius: int) -> Spec:
    """For each channel the sum over it and its ``radius`` neighbours on both sides; channels are the last axis."""
    require_kind(x, FLOATING, "input")
    if x.dims is not None and len(x.dims) != 4:
        raise ShapeError(f"input has rank {len(x.dims)} (shape {x.shape}); expected rank 4: batch, height, width, channels")
    return Spec(x.dims, x.dtype)


@gradient(channel_window_sum)
def _(ctx: Any, g: Any) -> Any:
    return channel_window_sum(g, radius=ctx.radius)


@public("nn.local_response_normalization", "nn.lrn")
def local_response_normalization(input: Any, depth_radius: Any = 5, bias: Any = 1, alpha: Any = 1, beta: Any = 0.5, name: str | None = None) -> Any:
    """``input / (bias + alpha * s) ** beta``, where ``s`` sums the squares of a channel and of its neighbours.

    Args:
        input: ``(batch, height, width, channels)``, floating.
        depth_radius: how many neighbours on each side.
        bias: keeps the divisor from 0.
        alpha: a number.
        beta: a number.
        name: ignored.

    Returns:
        The shape and dtype of ``input``.

    Raises:
        ShapeError: the rank is not 4.
        InvalidArgumentError: the radius is negative.

    Sources:
        TensorFlow ``tf.nn.local_response_normalization``; Krizhevsky, Sutskever and Hinton, "ImageNet classification with deep convolutional
        neural networks", NIPS 2012.
    """
    radius = static_integer(depth_radius, "depth_radius")
    if radius < 0:
        raise InvalidArgumentError(f"local_response_normalization: depth_radius is {radius}; it must be 0 or more")
    x = tensor(input)
    if x.dims is None:
        x = ensure_shape_op(x, shape=(None,) * 4)
    total = channel_window_sum(square(x), radius=radius)
    return multiply(x, pow_op(add(multiply(total, float(alpha)), float(bias)), -float(beta)))


# ---------------------------------------------------------------------- bias


@op("bias_add")
def bias_add_op(value: Spec, bias: Spec, *, axis: int) -> Spec:
    """A vector added along the axis of the channels, the last one (-1) or the second (1)."""
    dtype = same_dtype(value, bias, kinds=NUMERIC)
    if bias.dims is not None and len(bias.dims) != 1:
        raise ShapeError(f"bias has rank {len(bias.dims)} (shape {bias.shape}); expected a vector")
    if value.dims is None:
        return Spec(None, dtype)
    if len(value.dims) < 2:
        raise ShapeError(f"value has rank {len(value.dims)} (shape {value.shape}); expected rank 2 or more")
    dims = list(value.dims)
    if bias.dims is not None:
        if sizes.known_different(bias.dims[0], dims[axis]):
            raise ShapeError(f"bias has {bias.dims[0]} elements and value of shape {value.shape} has {dims[axis]} channels; they must be as many")
        dims[axis] = sizes.unify(dims[axis], bias.dims[0], "channels")
    return Spec(tuple(dims), dtype)


@gradient(bias_add_op)
def _(ctx: Any, g: Any) -> Any:
    value, bias = ctx.inputs
    if not ctx.needs[1]:
        return g, None
    if value.dims is None:
        channels = axis_size(bias, axis=0)
        if ctx.axis == -1:
            return g, reduce_sum_op(reshape_op(g, [-1, channels]), axis=(0,), keepdims=False)
        return g, reduce_sum_op(reshape_op(g, [axis_size(g, axis=0), channels, -1]), axis=(0, 2), keepdims=False)
    rank = len(value.dims)
    return g, reduce_sum_op(g, axis=tuple(i for i in range(rank) if i != ctx.axis % rank), keepdims=False)


@public("nn.bias_add")
def bias_add(value: Any, bias: Any, data_format: Any = None, name: str | None = None) -> Any:
    """A vector added along the axis of the channels.

    Args:
        value: any shape of rank 2 or more, any numeric dtype.
        bias: ``(channels,)`` of the dtype of ``value``.
        data_format: ``"N...C"`` (also for None), where the channels are the last axis, or ``"NC..."``, where they are the second.
        name: ignored.

    Returns:
        The shape and dtype of ``value``.

    Raises:
        ShapeError: ``bias`` is not a vector of as many elements as there are channels, or the rank of ``value`` is below 2.
        ValueError: the data format is neither.

    Sources:
        TensorFlow ``tf.nn.bias_add``.
    """
    if data_format is None or (isinstance(data_format, str) and data_format.startswith("N") and data_format.endswith("C")):
        axis = -1
    elif isinstance(data_format, str) and data_format.startswith("NC"):
        axis = 1
    else:
        raise ValueError(f"{subject()}`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}")
    return bias_add_op(value, bias, axis=axis)
