"""Differences between neighbouring elements of images, and images of mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

from treadle.declare import public
from treadle.dtypes import float32
from treadle.errors import ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.called_function import subject
from treadle_ops.casting import cast_op
from treadle_ops.elementwise import add, divide_op, multiply, square, subtract
from treadle_ops.extremes import maximum
from treadle_ops.fourier import size_along
from treadle_ops.image_arguments import image_argument
from treadle_ops.joining import stack_op
from treadle_ops.padding import mirror_pad, pad_op
from treadle_ops.powers import sqrt
from treadle_ops.reductions import reduce_mean_op, reduce_sum_op
from treadle_ops.selection import ELLIPSIS
from treadle_ops.signs import absolute
from treadle_ops.slicing import strided_slice_op

_ALL = (None, None, 1)
_PIXELS = (-3, -2, -1)


def _rows(x: Any, start: int | None, stop: int | None) -> Any:
    return strided_slice_op(x, index=(ELLIPSIS, (start, stop, 1), _ALL, _ALL))


def _columns(x: Any, start: int | None, stop: int | None) -> Any:
    return strided_slice_op(x, index=(ELLIPSIS, (start, stop, 1), _ALL))


@public("image.image_gradients")
def image_gradients(image: Any) -> Any:
    """The differences between each element and the next, along height and along width; 0 at the end.

    Args:
        image: ``(batch, height, width, channels)``, numeric.

    Returns:
        The differences along height, and those along width, each of the shape and dtype of ``image``.

    Raises:
        ShapeError: the rank is not 4.

    Sources:
        TensorFlow ``tf.image.image_gradients``.
    """
    x = image_argument(image, "image", (4,))
    down = pad_op(subtract(_rows(x, 1, None), _rows(x, None, -1)), ((0, 0), (0, 1), (0, 0), (0, 0)))
    right = pad_op(subtract(_columns(x, 1, None), _columns(x, None, -1)), ((0, 0), (0, 0), (0, 1), (0, 0)))
    return down, right


@public("image.sobel_edges")
def sobel_edges(image: Any) -> Any:
    """Sobel's differences along height and width, smoothed across.

    Args:
        image: ``(batch, height, width, channels)``, floating; height and width of 2 or more.

    Returns:
        ``(batch, height, width, channels, 2)`` of the dtype of ``image``: along height, and along width.

    Raises:
        ShapeError: the rank is not 4.

    Sources:
        TensorFlow ``tf.image.sobel_edges``.
    """
    x = image_argument(image, "image", (4,))
    framed = mirror_pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="REFLECT")
    down = subtract(_rows(framed, 2, None), _rows(framed, None, -2))
    right = subtract(_columns(framed, 2, None), _columns(framed, None, -2))
    return stack_op([_smoothed(down, _columns), _smoothed(right, _rows)], axis=-1)


def _smoothed(x: Any, part: Any) -> Any:
    """Each element twice and its two neighbours, summed."""
    return add(add(part(x, None, -2), part(x, 2, None)), multiply(2, part(x, 1, -1)))


@public("image.total_variation")
def total_variation(images: Any, name: str | None = None) -> Any:
    """The sum of the absolute differences between neighbours in an image.

    Args:
        images: ``(batch, height, width, channels)`` or ``(height, width, channels)``, numeric.
        name: ignored.

    Returns:
        ``(batch,)``, or a scalar for a single image, of the dtype of ``images``.

    Raises:
        ShapeError: the rank is neither 3 nor 4.

    Sources:
        TensorFlow ``tf.image.total_variation``.
    """
    x = image_argument(images, "images")
    down = absolute(subtract(_rows(x, 1, None), _rows(x, None, -1)))
    right = absolute(subtract(_columns(x, 1, None), _columns(x, None, -1)))
    return add(reduce_sum_op(down, axis=_PIXELS, keepdims=False), reduce_sum_op(right, axis=_PIXELS, keepdims=False))


@public("image.per_image_standardization")
def per_image_standardization(image: Any) -> Any:
    """Images moved to mean 0 and scaled to variance 1.

    What they are divided by is never below ``1 / sqrt(number of elements)``, so that a constant image gives zeros.

    Args:
        image: ``(..., height, width, channels)``, any dtype.

    Returns:
        The shape of ``image``, float32.

    Raises:
        ShapeError: the rank is less than 3.

    Sources:
        TensorFlow ``tf.image.per_image_standardization``.
    """
    x = tensor(image)
    if x.dims is not None and len(x.dims) < 3:
        raise ShapeError(f"{subject()}image has shape {x.shape}, of rank {len(x.dims)}; expected (..., height, width, channels)")
    wide = x if x.dtype is float32 else cast_op(x, dtype=float32)
    count = 1
    for axis in _PIXELS:
        count = count * size_along(x, axis)
    centered = subtract(wide, reduce_mean_op(wide, axis=_PIXELS, keepdims=True))
    variance = reduce_mean_op(square(centered), axis=_PIXELS, keepdims=True)
    least = 1.0 / count if type(count) is int and count else divide_op(1.0, cast_op(count, dtype=float32))
    return divide_op(centered, sqrt(maximum(variance, least)))
