"""Colors of images: conversions between color spaces, and brightness, contrast, gamma, hue and saturation.

Integer colors are brought to [0, 1] before, and back to the range of their dtype after.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.conversion import convert_to_tensor
from treadle.declare import public
from treadle.dtypes import float32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.inspection import get_static_value
from treadle_ops.arguments import tensor
from treadle_ops.assertions import assert_non_negative
from treadle_ops.broadcasting import shape_of
from treadle_ops.called_function import checked, subject
from treadle_ops.casting import cast
from treadle_ops.clipping import clip_by_value_op
from treadle_ops.comparison import equal, greater, less
from treadle_ops.elementwise import add, multiply, subtract
from treadle_ops.extremes import maximum, minimum
from treadle_ops.image_arguments import color_floats, converted, image_argument, require_channels
from treadle_ops.inference import FLOATING, require_kind
from treadle_ops.joining import concat_op, stack_op, unstack_op
from treadle_ops.masking import where_op
from treadle_ops.powers import pow_op
from treadle_ops.products import matmul_op
from treadle_ops.reductions import reduce_mean_op, reduce_sum_op
from treadle_ops.rounding import floor
from treadle_ops.shaping import reshape_op
from treadle_ops.signs import absolute
from treadle_ops.zero_safe import divide_no_nan

GRAY = (0.2989, 0.5870, 0.1140)
YIQ_OF_RGB = ((0.299, 0.59590059, 0.2115), (0.587, -0.27455667, -0.52273617), (0.114, -0.32134392, 0.31119955))
RGB_OF_YIQ = ((1.0, 1.0, 1.0), (0.95598634, -0.27201283, -1.10674021), (0.6208248, -0.64720424, 1.70423049))
YUV_OF_RGB = ((0.299, -0.14714119, 0.61497538), (0.587, -0.28886916, -0.51496512), (0.114, 0.43601035, -0.10001026))
RGB_OF_YUV = ((1.0, 1.0, 1.0), (0.0, -0.394642334, 2.03206185), (1.13988303, -0.58062185, 0.0))


# ---------------------------------------------------------------------- gray


@public("image.rgb_to_grayscale")
def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """The brightness of colors, as the eye weighs red, green and blue.

    Args:
        images: ``(..., 3)``, floating or integer.
        name: ignored.

    Returns:
        ``(..., 1)`` of the dtype of ``images``.

    Raises:
        ShapeError: there are not 3 channels.

    Sources:
        TensorFlow ``tf.image.rgb_to_grayscale``.
    """
    x = require_channels(tensor(images), 3)
    weighted = multiply(converted(x, float32), convert_to_tensor(GRAY, float32))
    return converted(reduce_sum_op(weighted, axis=(-1,), keepdims=True), x.dtype)


@public("image.grayscale_to_rgb")
def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    """Gray as a color: the same red, green and blue.

    Args:
        images: ``(..., 1)``, any dtype.
        name: ignored.

    Returns:
        ``(..., 3)`` of the dtype of ``images``.

    Raises:
        ShapeError: there is not one channel.

    Sources:
        TensorFlow ``tf.image.grayscale_to_rgb``.
    """
    x = require_channels(tensor(images), 1)
    return concat_op([x, x, x], axis=-1)


# ---------------------------------------------------------------------- linear color spaces


def _linear(name: str, matrix: Any, there: str, here: str) -> Any:
    def function(images: Any) -> Any:
        x = require_channels(tensor(images), 3)
        checked(require_kind, x, FLOATING, "images")
        weights = convert_to_tensor(matrix, x.dtype)
        return reshape_op(matmul_op(reshape_op(x, (-1, 3)), weights), shape_of(x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Colors in {here} as colors in {there}.

    Args:
        images: ``(..., 3)``, floating.

    Returns:
        The shape and dtype of ``images``.

    Raises:
        ShapeError: there are not 3 channels.
        DTypeError: the dtype is not floating.

    Sources:
        TensorFlow ``tf.image.{name}``.
    """
    return public(f"image.{name}")(function)


rgb_to_yiq = _linear("rgb_to_yiq", YIQ_OF_RGB, "YIQ", "RGB")
yiq_to_rgb = _linear("yiq_to_rgb", RGB_OF_YIQ, "RGB", "YIQ")
rgb_to_yuv = _linear("rgb_to_yuv", YUV_OF_RGB, "YUV", "RGB")
yuv_to_rgb = _linear("yuv_to_rgb", RGB_OF_YUV, "RGB", "YUV")


# ---------------------------------------------------------------------- hue, saturation and value


def _hexagon(x: Any) -> tuple[Any, Any, Any]:
    """The hue of colors in [0, 6), 0 for gray; their largest component; and how much larger it is than the smallest."""
    red, green, blue = unstack_op(x, num=3, axis=-1)
    value = maximum(maximum(red, green), blue)
    extent = subtract(value, minimum(minimum(red, green), blue))
    from_green = add(divide_no_nan(subtract(blue, red), extent), 2)
    from_blue = add(divide_no_nan(subtract(red, green), extent), 4)
    hue = where_op(equal(value, red), divide_no_nan(subtract(green, blue), extent), where_op(equal(value, green), from_green, from_blue))
    return where_op(less(hue, 0), add(hue, 6), hue), value, extent


def _pure(hue: Any) -> list[Any]:
    """Red, green and blue of the pure color of a hue in [0, 6]."""
    waves = (subtract(absolute(subtract(hue, 3)), 1), subtract(2, absolute(subtract(hue, 2))), subtract(2, absolute(subtract(hue, 4))))
    return [clip_by_value_op(wave, 0, 1) for wave in waves]


def _color(hue: Any, saturation: Any, value: Any) -> Any:
    white = subtract(1, saturation)
    return stack_op([multiply(add(white, multiply(saturation, part)), value) for part in _pure(hue)], axis=-1)


def _saturation(value: Any, extent: Any) -> Any:
    return where_op(greater(value, 0), divide_no_nan(extent, value), 0)


@public("image.rgb_to_hsv")
def rgb_to_hsv(images: Any, name: str | None = None) -> Any:
    """Colors in RGB as hue, saturation and value, each in [0, 1].

    Args:
        images: ``(..., 3)``, floating, in [0, 1].
        name: ignored.

    Returns:
        The shape and dtype of ``images``.

    Raises:
        ShapeError: there are not 3 channels.
        DTypeError: the dtype is not floating.

    Sources:
        TensorFlow ``tf.image.rgb_to_hsv``.
    """
    x = require_channels(tensor(images), 3)
    checked(require_kind, x, FLOATING, "images")
    hue, value, extent = _hexagon(x)
    return stack_op([multiply(hue, 1 / 6), _saturation(value, extent), value], axis=-1)


@public("image.hsv_to_rgb")
def hsv_to_rgb(images: Any, name: str | None = None) -> Any:
    """Hue, saturation and value, each in [0, 1], as colors in RGB.

    Args:
        images: ``(..., 3)``, floating.
        name: ignored.

    Returns:
        The shape and dtype of ``images``.

    Raises:
        ShapeError: there are not 3 channels.
        DTypeError: the dtype is not floating.

    Sources:
        TensorFlow ``tf.image.hsv_to_rgb``.
    """
    x = require_channels(tensor(images), 3)
    checked(require_kind, x, FLOATING, "images")
    hue, saturation, value = unstack_op(x, num=3, axis=-1)
    return _color(multiply(hue, 6), saturation, value)


# ---------------------------------------------------------------------- adjustments


@public("image.adjust_brightness")
def adjust_brightness(image: Any, delta: Any) -> Any:
    """Colors with a number added to each.

    Args:
        image: any shape, floating or integer.
        delta: a scalar, in [-1, 1] for most uses: what to add to colors in [0, 1].

    Returns:
        The shape and dtype of ``image``; integers are cut at the ends of their range.

    Sources:
        TensorFlow ``tf.image.adjust_brightness``.
    """
    x = tensor(image)
    colors = color_floats(x)
    return converted(add(colors, cast(delta, colors.dtype)), x.dtype, saturate=True)


@public("image.adjust_contrast")
def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Colors moved away from the mean of their channel in each image, or toward it.

    Args:
        images: ``(..., height, width, channels)``, floating or integer.
        contrast_factor: a scalar: by how much the distance to the mean is multiplied.

    Returns:
        The shape and dtype of ``images``; integers are cut at the ends of their range.

    Raises:
        ShapeError: the rank is less than 3.

    Sources:
        TensorFlow ``tf.image.adjust_contrast``.
    """
    x = image_argument(images, "images", (3, 4, 5, 6, 7, 8))
    colors = color_floats(x)
    mean = reduce_mean_op(colors, axis=(-3, -2), keepdims=True)
    return converted(add(multiply(subtract(colors, mean), cast(contrast_factor, colors.dtype)), mean), x.dtype, saturate=True)


@public("image.adjust_gamma")
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """Colors to a power, times a number.

    Args:
        image: any shape, floating or integer.
        gamma: a scalar of 0 or more: the power of colors in [0, 1].
        gain: a scalar.

    Returns:
        The shape and dtype of ``image``; integers are cut at the ends of their range.

    Raises:
        InvalidArgumentError: ``gamma`` is negative.

    Sources:
        TensorFlow ``tf.image.adjust_gamma``.
    """
    x = tensor(image)
    colors = color_floats(x)
    power = cast(gamma, colors.dtype)
    known = get_static_value(power)
    if known is None:
        assert_non_negative(power, "gamma must be 0 or more")
    elif np.any(known < 0):
        raise InvalidArgumentError(f"{subject()}gamma must be 0 or more, got {gamma}")
    return converted(multiply(cast(gain, colors.dtype), pow_op(colors, power)), x.dtype, saturate=True)


@public("image.adjust_hue")
def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """Colors with their hue turned; the smallest and the largest component stay.

    Args:
        image: ``(..., 3)``, floating or integer.
        delta: a scalar in [-1, 1]; 1 is once around.
        name: ignored.

    Returns:
        The shape and dtype of ``image``.

    Raises:
        ShapeError: there are not 3 channels, or the rank is less than 3.
        InvalidArgumentError: ``delta`` is out of range; found where its value is known.

    Sources:
        TensorFlow ``tf.image.adjust_hue``.
    """
    turn = tensor(delta)
    if turn.dims not in ((), None):
        raise ShapeError(f"{subject()}delta must be one number, got shape {turn.shape}")
    known = get_static_value(turn)
    if known is not None and not -1 <= known <= 1:
        raise InvalidArgumentError(f"{subject()}delta must be in the interval [-1, 1], got {delta}")
    x = require_channels(image_argument(image, "image", (3, 4, 5, 6, 7, 8)), 3, "image")
    colors = color_floats(x)
    hue, value, extent = _hexagon(colors)
    turned = add(hue, multiply(cast(turn, colors.dtype), 6))
    turned = subtract(turned, multiply(6, floor(multiply(turned, 1 / 6))))
    least = subtract(value, extent)
    return converted(stack_op([add(least, multiply(extent, part)) for part in _pure(turned)], axis=-1), x.dtype)


@public("image.adjust_saturation")
def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Any:
    """Colors with their saturation multiplied.

    Args:
        image: ``(..., 3)``, floating or integer.
        saturation_factor: a scalar; 0 makes gray.
        name: ignored.

    Returns:
        The shape and dtype of ``image``.

    Raises:
        ShapeError: there are not 3 channels, or the rank is less than 3.

    Sources:
        TensorFlow ``tf.image.adjust_saturation``.
    """
    x = require_channels(image_argument(image, "image", (3, 4, 5, 6, 7, 8)), 3, "image")
    colors = color_floats(x)
    hue, value, extent = _hexagon(colors)
    saturation = clip_by_value_op(multiply(_saturation(value, extent), cast(saturation_factor, colors.dtype)), 0, 1)
    return converted(_color(hue, saturation, value), x.dtype)
