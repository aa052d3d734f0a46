"""Means and variances over axes, and the sums they are made from."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import float16, float32
from treadle.inspection import get_static_value
from treadle.symbolic import SymbolicTensor
from treadle_ops.arguments import axes_argument, integers_argument, tensor
from treadle_ops.broadcasting import broadcast_to_op, shape_of
from treadle_ops.called_function import checked
from treadle_ops.casting import cast, cast_op
from treadle_ops.elementwise import add, multiply, reciprocal, square, squared_difference, subtract
from treadle_ops.flow import stop_gradient
from treadle_ops.inference import FLOATING, normalize_axes, normalize_axis, reduced, require_kind
from treadle_ops.normalization import standardize
from treadle_ops.reductions import divided_by_count, kept, reduce_mean, reduce_sum_op, reduced_count
from treadle_ops.shaping import reshape_op, squeeze_op
from treadle_ops.zero_safe import divide_no_nan


@op("moments")
def moments_op(x: Spec, *, axis: tuple[int, ...] | None, keepdims: bool) -> tuple[Spec, Spec]:
    """The mean over axes, and the mean of the squared distance from it."""
    dims, dtype = reduced(x, axis, keepdims), require_kind(x, FLOATING)
    return Spec(dims, dtype), Spec(dims, dtype)


@gradient(moments_op)
def _(ctx: Any, g_mean: Any, g_variance: Any) -> Any:
    (x,) = ctx.inputs
    axis, keepdims = ctx.axis, ctx.keepdims
    count = None if x.dims is None or x.dtype.size == 2 else sizes.product(x.dims[a] for a in normalize_axes(axis, len(x.dims)))
    if type(count) is int:
        factor, shift = multiply(g_variance, 2 / max(count, 1)), multiply(g_mean, 1 / max(count, 1))
    else:
        factor, shift = divided_by_count(multiply(g_variance, 2), x, axis), divided_by_count(g_mean, x, axis)
    mean, factor, shift = (kept(t, x, axis, keepdims) for t in (ctx.outputs[0], factor, shift))
    return standardize(x, [mean], [factor], [shift])


@public("nn.moments")
def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The mean and the variance over axes.

    Args:
        x: any shape; floating, or integers, whose moments are cut toward zero.
        axes: ints.
        shift: ignored.
        keepdims: keep the axes reduced, with size 1.
        name: ignored.

    Returns:
        ``(mean, variance)``, each of the shape without the axes reduced and the dtype of ``x``. float16 is computed in float32.

    Raises:
        InvalidArgumentError: an axis is out of range or named twice.

    Sources:
        TensorFlow ``tf.nn.moments``.
    """
    values = tensor(x)
    known = _known_axes(axes)
    if known is not _UNKNOWN and values.dtype.is_floating:
        return moments_op(values, axis=known, keepdims=bool(keepdims))
    mean = reduce_mean(values, axes, True)
    variance = reduce_mean(squared_difference(values, stop_gradient(mean)), axes, keepdims)
    return (mean if keepdims else reduce_mean(values, axes)), variance


_UNKNOWN = object()


def _known_axes(axes: Any) -> Any:
    """The axes as a tuple, None for all of them, or ``_UNKNOWN`` where only the run will tell."""
    if axes is None:
        return None
    found = integers_argument(axes, "axes")
    if isinstance(found, SymbolicTensor) and get_static_value(found) is None:
        return _UNKNOWN
    return axes_argument(found)


@public("nn.weighted_moments")
def weighted_moments(x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None) -> Any:
    """The mean and the variance over axes, each element counted as often as its weight says.

    Args:
        x: any shape, floating.
        axes: ints.
        frequency_weights: a shape that broadcasts with that of ``x``; cast to its dtype.
        keepdims: keep the axes reduced, with size 1.
        name: ignored.

    Returns:
        ``(mean, variance)`` of the dtype of ``x``, 0 where the weights sum to 0. float16 is computed in float32.

    Raises:
        ShapeError: the shapes do not broadcast.
        InvalidArgumentError: an axis is out of range or named twice.

    Sources:
        TensorFlow ``tf.nn.weighted_moments``.
    """
    given = tensor(x)
    values = cast_op(given, dtype=float32) if given.dtype is float16 else given
    weights = cast(frequency_weights, values.dtype)
    axis = axes_argument(integers_argument(axes, "axes")) if axes is not None else None
    weighted = multiply(weights, values)
    total = _sum(broadcast_to_op(weights, shape_of(weighted)), axis)
    mean = divide_no_nan(_sum(weighted, axis), total)
    variance = divide_no_nan(_sum(multiply(weights, squared_difference(values, mean)), axis), total)
    if not keepdims:
        mean, variance = (reshape_op(m, ()) if axis is None else squeeze_op(m, axis=axis) if axis else m for m in (mean, variance))
    return cast(mean, given.dtype), cast(variance, given.dtype)


def _sum(x: Any, axis: tuple[int, ...] | None, keepdims: bool = True) -> Any:
    return reduce_sum_op(x, axis=axis, keepdims=keepdims)


@public("nn.sufficient_statistics")
def sufficient_statistics(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The number of elements over axes, their sum and the sum of their squares, from which ``normalize_moments`` makes moments.

    Args:
        x: any shape, floating.
        axes: ints; one named twice counts once.
        shift: what is subtracted from the elements first, close to their mean; a shape that broadcasts with that of ``x``.
        keepdims: keep the axes reduced, with size 1.
        name: ignored.

    Returns:
        ``(count, sum, sum of squares, shift)`` of the dtype of ``x``; the count is a scalar, the shift None where none is given.

    Raises:
        InvalidArgumentError: an axis is out of range.

    Sources:
        TensorFlow ``tf.nn.sufficient_statistics``.
    """
    values = tensor(x)
    axis = axes_argument(integers_argument(axes, "axes")) or ()
    if values.dims is not None:
        axis = tuple(sorted({checked(normalize_axis, a, len(values.dims)) for a in axis}))
    count = _count(values, axis)
    if shift is None:
        return count, _sum(values, axis, bool(keepdims)), _sum(square(values), axis, bool(keepdims)), None
    moved = tensor(shift, values)
    return count, _sum(subtract(values, moved), axis, bool(keepdims)), _sum(squared_difference(values, moved), axis, bool(keepdims)), moved


def _count(x: Any, axis: tuple[int, ...]) -> Any:
    count = None if x.dims is None else sizes.product(x.dims[a] for a in axis)
    return tensor(count, x) if type(count) is int else reduced_count(x, axis=axis, dtype=x.dtype)


@public("nn.normalize_moments")
def normalize_moments(counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None) -> Any:
    """The mean and the variance from what ``sufficient_statistics`` gives.

    Args:
        counts: how many elements were added, floating.
        mean_ss: their (shifted) sum.
        variance_ss: the sum of their (shifted) squares.
        shift: the shift, or None.
        name: ignored.

    Returns:
        ``(mean, variance)`` of the shape of the sums.

    Raises:
        DTypeError: the dtypes differ.

    Sources:
        TensorFlow ``tf.nn.normalize_moments``.
    """
    share = reciprocal(counts)
    shifted_mean = multiply(mean_ss, share)
    variance = subtract(multiply(variance_ss, share), square(shifted_mean))
    return (shifted_mean if shift is None else add(shifted_mean, shift)), variance
