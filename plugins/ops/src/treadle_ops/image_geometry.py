"""Images flipped, turned, cut and framed."""

from __future__ import annotations

from typing import Any

from treadle.declare import public
from treadle.dtypes import float64, int32
from treadle.errors import InvalidArgumentError
from treadle_ops.arguments import integer_argument, static_integer, static_number
from treadle_ops.called_function import subject
from treadle_ops.casting import cast_op
from treadle_ops.extremes import maximum, minimum
from treadle_ops.image_arguments import cropped, framed, image_argument, ranked_image, spatial_sizes, unranked
from treadle_ops.image_batches import image_batch, without_batch
from treadle_ops.reordering import reverse_op
from treadle_ops.shaping import transpose_op

HEIGHT, WIDTH = -3, -2


@public("image.flip_left_right")
def flip_left_right(image: Any) -> Any:
    """Images mirrored along their width.

    Args:
        image: ``(batch, height, width, channels)`` or ``(height, width, channels)``, any dtype.

    Returns:
        The shape and dtype of ``image``.

    Raises:
        ShapeError: the rank is neither 3 nor 4.

    Sources:
        TensorFlow ``tf.image.flip_left_right``.
    """
    return reverse_op(image_argument(image), axis=(WIDTH,))


@public("image.flip_up_down")
def flip_up_down(image: Any) -> Any:
    """Images mirrored along their height.

    Args:
        image: ``(batch, height, width, channels)`` or ``(height, width, channels)``, any dtype.

    Returns:
        The shape and dtype of ``image``.

    Raises:
        ShapeError: the rank is neither 3 nor 4.

    Sources:
        TensorFlow ``tf.image.flip_up_down``.
    """
    return reverse_op(image_argument(image), axis=(HEIGHT,))


def _swapped(x: Any) -> Any:
    """Height and width in each other's place."""
    if x.dims is None:
        return without_batch(transpose_op(image_batch(x), perm=(0, 2, 1, 3)), x)
    return transpose_op(x, perm=(1, 0, 2) if len(x.dims) == 3 else (0, 2, 1, 3))


@public("image.transpose")
def transpose(image: Any, name: str | None = None) -> Any:
    """Images mirrored at their diagonal: height and width change places.

    Args:
        image: ``(batch, height, width, channels)`` or ``(height, width, channels)``, any dtype.
        name: ignored.

    Returns:
        The shape with height and width swapped, the dtype of ``image``.

    Raises:
        ShapeError: the rank is neither 3 nor 4.

    Sources:
        TensorFlow ``tf.image.transpose``.
    """
    return _swapped(image_argument(image))


@public("image.rot90")
def rot90(image: Any, k: Any = 1, name: str | None = None) -> Any:
    """Images turned counter-clockwise by quarters.

    Args:
        image: ``(batch, height, width, channels)`` or ``(height, width, channels)``, any dtype.
        k: how many quarters, an integer known while tracing.
        name: ignored.

    Returns:
        The shape of ``image``, with height and width swapped for an odd ``k``, and its dtype.

    Raises:
        ShapeError: the rank is neither 3 nor 4.

    Sources:
        TensorFlow ``tf.image.rot90``.
    """
    x = image_argument(image)
    turns = static_integer(k, "k")
    turns %= 4
    if turns == 1:
        return _swapped(reverse_op(x, axis=(WIDTH,)))
    if turns == 2:
        return reverse_op(x, axis=(HEIGHT, WIDTH))
    return reverse_op(_swapped(x), axis=(WIDTH,)) if turns == 3 else x


# ---------------------------------------------------------------------- cut and framed


@public("image.central_crop")
def central_crop(image: Any, central_fraction: Any) -> Any:
    """The middle of images.

    Args:
        image: ``(batch, height, width, channels)`` or ``(height, width, channels)``, any dtype.
        central_fraction: how much of height and width to keep, in (0, 1].

    Returns:
        As much of height and width, rounded up to what leaves the same on both sides; the dtype of ``image``.

    Raises:
        ShapeError: the rank is neither 3 nor 4.
        InvalidArgumentError: the fraction is out of range.

    Sources:
        TensorFlow ``tf.image.central_crop``.
    """
    fraction = static_number(central_fraction, "central_fraction")
    if not 0.0 < fraction <= 1.0:
        raise InvalidArgumentError(f"{subject()}central_fraction must be within (0, 1], got {fraction}")
    x, given = ranked_image(image)
    if fraction == 1.0:
        return unranked(x, given)
    sizes = spatial_sizes(x)
    starts = [_margin(size, fraction) for size in sizes]
    height, width = (size - 2 * start for size, start in zip(sizes, starts, strict=True))
    return unranked(cropped(x, *starts, height, width), given)


def _margin(size: Any, fraction: float) -> Any:
    if type(size) is int:
        return int((size - size * fraction) / 2)
    whole = cast_op(size, dtype=float64)
    return cast_op((whole - whole * fraction) / 2, dtype=int32)


@public("image.resize_with_crop_or_pad")
def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """Images cut, or framed with zeros, evenly on both sides to a size.

    Args:
        image: ``(batch, height, width, channels)`` or ``(height, width, channels)``, any dtype.
        target_height: the new height.
        target_width: the new width.

    Returns:
        The new height and width in place of the old, the dtype of ``image``.

    Raises:
        ShapeError: the rank is neither 3 nor 4.
        InvalidArgumentError: a target is less than 1.

    Sources:
        TensorFlow ``tf.image.resize_with_crop_or_pad``.
    """
    x, given = ranked_image(image)
    starts, kept, before, sizes = [], [], [], []
    for size, target, what in zip(spatial_sizes(x), (target_height, target_width), ("target_height", "target_width"), strict=True):
        wanted = integer_argument(target, what)
        if type(wanted) is int and wanted < 1:
            raise InvalidArgumentError(f"{subject()}{what} must be 1 or more, got {wanted}")
        least, most = (min, max) if type(size) is int and type(wanted) is int else (minimum, maximum)
        missing = wanted - size
        starts.append(most(-missing // 2, 0))
        kept.append(least(size, wanted))
        before.append(most(missing // 2, 0))
        sizes.append(wanted)
    return unranked(framed(cropped(x, *starts, *kept), before, sizes), given)
