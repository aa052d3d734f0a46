"""The public functions of pooling; the ops are in ``pooling``."""

from __future__ import annotations

from typing import Any

from treadle.declare import public
from treadle.dtypes import as_dtype, int64
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.called_function import subject
from treadle_ops.pooling import MaxPoolWithArgmax, avg_pool_op, max_pool_op, max_pool_with_argmax_op
from treadle_ops.shaping import ensure_shape_op, expand_dims_op, reshape_op
from treadle_ops.window import (
    as_shape,
    channels_first,
    channels_last,
    every_axis,
    is_channels_first,
    is_first,
    over_batches,
    padding_argument,
    per_axis,
    sizes_of,
)


def _pool(kind: Any, input: Any, rank: int, ksize: Any, strides: Any, padding: Any, first: bool, dilations: Any = None) -> Any:
    x = tensor(input)
    if kind is max_pool_op and _is_over_channels(ksize, rank, first):
        return _over_channels(x, rank, ksize, strides, padding, first)
    window = per_axis(ksize, rank, first, "ksize")
    attrs = {
        "window": window,
        "strides": per_axis(strides, rank, first, "strides"),
        "padding": _padding(padding, rank, first, window, kind is max_pool_op),
        "dilations": per_axis(dilations, rank, first, "dilations"),
    }
    return channels_first(kind(channels_last(x, rank), **attrs), rank) if first else kind(x, **attrs)


def _padding(padding: Any, rank: int, first: bool, window: tuple[int, ...], explicit: bool) -> Any:
    given = padding_argument(padding, rank, first, explicit)
    if not isinstance(given, str):
        for (before, after), size in zip(given, window, strict=True):
            if max(before, after) >= size:
                raise InvalidArgumentError(f"explicit padding {padding} is not smaller than the window {list(window)}; a window could lie outside")
    return given


def _is_over_channels(ksize: Any, rank: int, first: bool) -> bool:
    return isinstance(ksize, list | tuple) and len(ksize) == rank + 2 and every_axis(ksize, rank, first, "ksize")[-1] != 1


def _over_channels(x: Any, rank: int, ksize: Any, strides: Any, padding: Any, first: bool) -> Any:
    """Maxima over blocks of channels: they become a spatial axis of an input with one channel."""
    window, steps = every_axis(ksize, rank, first, "ksize"), every_axis(strides, rank, first, "strides")
    if max(window[:-1]) != 1 or max(steps[:-1]) != 1 or window[-1] != steps[-1]:
        raise InvalidArgumentError(f"max_pool with ksize {ksize} and strides {strides}: channels can be pooled only alone, in blocks side by side")
    padding_argument(padding, rank, first, explicit=False)
    if first:
        x = channels_last(x, rank)
    if x.dims is None:
        x = ensure_shape_op(x, shape=(None,) * (rank + 2))
    if len(x.dims) != rank + 2:
        raise ShapeError(f"max_pool over channels: the input has shape {x.shape}; expected rank {rank + 2}")
    if type(x.dims[-1]) is int and x.dims[-1] % window[-1]:
        raise ShapeError(f"max_pool over channels: {x.dims[-1]} channels are not a multiple of the window {window[-1]}")
    attrs = {"window": window[-1:], "strides": window[-1:], "padding": "VALID", "dilations": (1,)}
    pooled = over_batches(expand_dims_op(x, axis=-1), 1, lambda item: max_pool_op(item, **attrs))
    result = reshape_op(pooled, as_shape(sizes_of(pooled, rank + 3)[:-1]))
    return channels_first(result, rank) if first else result


def _spatial_rank(x: Any, data_format: str | None) -> int:
    rank = len(x.dims) - 2 if x.dims is not None else len(data_format) - 2 if data_format is not None else None
    if rank is None:
        raise InvalidArgumentError("the rank of the input is not known while tracing; give it a shape with td.ensure_shape, or give data_format")
    if not 1 <= rank <= 3:
        raise ShapeError(f"{subject()}the input has shape {x.shape}; expected rank 3, 4 or 5: batch, 1 to 3 spatial axes and channels")
    return rank


@public("nn.max_pool")
def max_pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = None, name: str | None = None) -> Any:
    """The largest element of every window over as many spatial axes as the input has. NaN is no candidate.

    Args:
        input: ``(batch, *spatial, channels)`` with one to three spatial axes, or with the channels second when ``data_format`` starts with
            ``"NC"``; real.
        ksize: the sizes of a window, an int, one per spatial axis or one per axis.
        strides: given as ``ksize`` is.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input.
        data_format: channels last by default.
        name: ignored.

    Returns:
        The batch, the numbers of windows and the channels, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the rank is another one, or a window is larger than the input.
        InvalidArgumentError: an argument is not valid.
        DTypeError: the input is not real.

    Sources:
        TensorFlow ``tf.nn.max_pool``.
    """
    x = tensor(input)
    return _pool(max_pool_op, x, _spatial_rank(x, data_format), ksize, strides, padding, is_first(data_format))


@public("nn.max_pool1d")
def max_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NWC", name: str | None = None) -> Any:
    """The largest element of every window over one spatial axis. NaN is no candidate.

    Args:
        input: ``(batch, width, channels)``, or with the channels second when ``data_format`` is ``"NCW"``; real.
        ksize: the sizes of a window, an int or a list of 1 or 3.
        strides: an int or a list of 1 or 3.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input.
        data_format: ``"NWC"`` or ``"NCW"``.
        name: ignored.

    Returns:
        The batch, the numbers of windows and the channels, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the rank is another one, or a window is larger than the input.
        InvalidArgumentError: an argument is not valid.
        DTypeError: the input is not real.

    Sources:
        TensorFlow ``tf.nn.max_pool1d``.
    """
    return _pool(max_pool_op, input, 1, ksize, strides, padding, is_channels_first(data_format, 1))


@public("nn.max_pool2d")
def max_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NHWC", name: str | None = None) -> Any:
    """The largest element of every window over two spatial axes. NaN is no candidate.

    Args:
        input: ``(batch, height, width, channels)``, or with the channels second when ``data_format`` is ``"NCHW"``; real.
        ksize: the sizes of a window, an int or a list of 1, 2 or 4.
        strides: an int or a list of 1, 2 or 4.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input.
        data_format: ``"NHWC"`` or ``"NCHW"``.
        name: ignored.

    Returns:
        The batch, the numbers of windows and the channels, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the rank is another one, or a window is larger than the input.
        InvalidArgumentError: an argument is not valid.
        DTypeError: the input is not real.

    Sources:
        TensorFlow ``tf.nn.max_pool2d``.
    """
    return _pool(max_pool_op, input, 2, ksize, strides, padding, is_channels_first(data_format, 2))


@public("nn.max_pool3d")
def max_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NDHWC", name: str | None = None) -> Any:
    """The largest element of every window over three spatial axes. NaN is no candidate.

    Args:
        input: ``(batch, depth, height, width, channels)``, or with the channels second when ``data_format`` is ``"NCDHW"``; real.
        ksize: the sizes of a window, an int or a list of 1, 3 or 5.
        strides: an int or a list of 1, 3 or 5.
        padding: ``"SAME"``, ``"VALID"``, or a pair ``[before, after]`` per axis of the input.
        data_format: ``"NDHWC"`` or ``"NCDHW"``.
        name: ignored.

    Returns:
        The batch, the numbers of windows and the channels, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the rank is another one, or a window is larger than the input.
        InvalidArgumentError: an argument is not valid.
        DTypeError: the input is not real.

    Sources:
        TensorFlow ``tf.nn.max_pool3d``.
    """
    return _pool(max_pool_op, input, 3, ksize, strides, padding, is_channels_first(data_format, 3))


@public("nn.avg_pool")
def avg_pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = None, name: str | None = None) -> Any:
    """The mean of every window over as many spatial axes as the input has. Padding does not count.

    Args:
        input: ``(batch, *spatial, channels)`` with one to three spatial axes, or with the channels second when ``data_format`` starts with
            ``"NC"``; floating.
        ksize: the sizes of a window, an int, one per spatial axis or one per axis.
        strides: given as ``ksize`` is.
        padding: ``"SAME"`` or ``"VALID"``.
        data_format: channels last by default.
        name: ignored.

    Returns:
        The batch, the numbers of windows and the channels, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the rank is another one, or a window is larger than the input.
        InvalidArgumentError: an argument is not valid.
        DTypeError: the input is not floating.

    Sources:
        TensorFlow ``tf.nn.avg_pool``.
    """
    x = tensor(input)
    return _pool(avg_pool_op, x, _spatial_rank(x, data_format), ksize, strides, padding, is_first(data_format))


@public("nn.avg_pool1d")
def avg_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NWC", name: str | None = None) -> Any:
    """The mean of every window over one spatial axis. Padding does not count.

    Args:
        input: ``(batch, width, channels)``, or with the channels second when ``data_format`` is ``"NCW"``; floating.
        ksize: the sizes of a window, an int or a list of 1 or 3.
        strides: an int or a list of 1 or 3.
        padding: ``"SAME"`` or ``"VALID"``.
        data_format: ``"NWC"`` or ``"NCW"``.
        name: ignored.

    Returns:
        The batch, the numbers of windows and the channels, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the rank is another one, or a window is larger than the input.
        InvalidArgumentError: an argument is not valid.
        DTypeError: the input is not floating.

    Sources:
        TensorFlow ``tf.nn.avg_pool1d``.
    """
    return _pool(avg_pool_op, input, 1, ksize, strides, padding, is_channels_first(data_format, 1))


@public("nn.avg_pool2d")
def avg_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NHWC", name: str | None = None) -> Any:
    """The mean of every window over two spatial axes. Padding does not count.

    Args:
        input: ``(batch, height, width, channels)``, or with the channels second when ``data_format`` is ``"NCHW"``; floating.
        ksize: the sizes of a window, an int or a list of 1, 2 or 4.
        strides: an int or a list of 1, 2 or 4.
        padding: ``"SAME"`` or ``"VALID"``.
        data_format: ``"NHWC"`` or ``"NCHW"``.
        name: ignored.

    Returns:
        The batch, the numbers of windows and the channels, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the rank is another one, or a window is larger than the input.
        InvalidArgumentError: an argument is not valid.
        DTypeError: the input is not floating.

    Sources:
        TensorFlow ``tf.nn.avg_pool2d``.
    """
    return _pool(avg_pool_op, input, 2, ksize, strides, padding, is_channels_first(data_format, 2))


@public("nn.avg_pool3d")
def avg_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NDHWC", name: str | None = None) -> Any:
    """The mean of every window over three spatial axes. Padding does not count.

    Args:
        input: ``(batch, depth, height, width, channels)``, or with the channels second when ``data_format`` is ``"NCDHW"``; floating.
        ksize: the sizes of a window, an int or a list of 1, 3 or 5.
        strides: an int or a list of 1, 3 or 5.
        padding: ``"SAME"`` or ``"VALID"``.
        data_format: ``"NDHWC"`` or ``"NCDHW"``.
        name: ignored.

    Returns:
        The batch, the numbers of windows and the channels, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the rank is another one, or a window is larger than the input.
        InvalidArgumentError: an argument is not valid.
        DTypeError: the input is not floating.

    Sources:
        TensorFlow ``tf.nn.avg_pool3d``.
    """
    return _pool(avg_pool_op, input, 3, ksize, strides, padding, is_channels_first(data_format, 3))


@public("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    output_dtype: Any = int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> MaxPoolWithArgmax:
    """The largest element of every window over two spatial axes, and where it lies. NaN is no candidate.

    Args:
        input: ``(batch, height, width, channels)``, real.
        ksize: the sizes of a window, an int or a list of 1, 2 or 4.
        strides: an int or a list of 1, 2 or 4.
        padding: ``"SAME"`` or ``"VALID"``.
        data_format: ``"NHWC"``.
        output_dtype: of the indices, int32 or int64.
        include_batch_in_index: index the whole input, flattened, instead of each item of the batch.
        name: ignored.

    Returns:
        ``output``, ``(batch, windows, windows, channels)`` of the dtype of ``input``, and ``argmax``, of the same shape and ``output_dtype``. Of
        several maxima the first counts.

    Raises:
        ShapeError: the rank is not 4, or a window is larger than the input.
        InvalidArgumentError: an argument is not valid.

    Sources:
        TensorFlow ``tf.nn.max_pool_with_argmax``.
    """
    if data_format != "NHWC":
        raise InvalidArgumentError(f"max_pool_with_argmax: data_format {data_format!r} is not known; expected 'NHWC'")
    wanted = as_dtype(output_dtype)
    if wanted.name not in ("int32", "int64"):
        raise InvalidArgumentError(f"max_pool_with_argmax: output_dtype {wanted.name} is not known; expected int32 or int64")
    return max_pool_with_argmax_op(
        tensor(input),
        window=per_axis(ksize, 2, False, "ksize"),
        strides=per_axis(strides, 2, False, "strides"),
        padding=padding_argument(padding, 2, False, explicit=False),
        output_dtype=wanted,
        include_batch_in_index=bool(include_batch_in_index),
    )


@public("nn.pool")
def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The largest element or the mean of every window.

    Args:
        input: ``(batch, *spatial, channels)`` with one to three spatial axes, or with the channels second when ``data_format`` starts with
            ``"NC"``; real for maxima, floating for means.
        window_shape: the sizes of a window, one per spatial axis.
        pooling_type: ``"MAX"`` or ``"AVG"``.
        strides: one per spatial axis, none larger than the window's size; 1 by default.
        padding: ``"SAME"`` or ``"VALID"``.
        data_format: channels last by default.
        dilations: the step between elements of a window, one per spatial axis; larger than 1 only with ``"VALID"`` and strides of 1.
        name: ignored.

    Returns:
        The batch, the numbers of windows and the channels, in the order of ``data_format``, of the dtype of ``input``.

    Raises:
        ShapeError: the rank is another one, or a window is larger than the input.
        InvalidArgumentError: an argument is not valid.

    Sources:
        TensorFlow ``tf.nn.pool``.
    """
    x, first = tensor(input), is_first(data_format)
    kind = {"MAX": max_pool_op, "AVG": avg_pool_op}.get(pooling_type)
    if kind is None:
        raise InvalidArgumentError(f"pooling_type {pooling_type!r} is not known; expected 'MAX' or 'AVG'")
    rank = len(window_shape) if isinstance(window_shape, list | tuple) else 0
    if not 1 <= rank <= 3:
        raise InvalidArgumentError(f"{subject()}window_shape {window_shape!r} must be 1, 2 or 3 sizes")
    window = per_axis(window_shape, rank, first, "window_shape")
    steps, rates = per_axis(strides, rank, first, "strides"), per_axis(dilations, rank, first, "dilations")
    if max(steps) > 1 and max(rates) > 1:
        raise InvalidArgumentError(f"strides {list(steps)} and dilations {list(rates)} cannot both be larger than 1")
    if padding == "SAME" and max(rates) > 1:
        raise InvalidArgumentError(f"pooling with 'SAME' padding and dilations {list(rates)} is not offered; use padding='VALID' on a padded input")
    if any(s > k for s, k in zip(steps, window, strict=True)):
        raise InvalidArgumentError(f"{subject()}strides {list(steps)} are larger than window_shape {list(window)}; windows must not leave gaps")
    return _pool(kind, x, rank, window, steps, padding, first, rates)
