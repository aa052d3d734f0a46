"""Images changed at random: brightness, contrast, hue, saturation, flips and crops, by the state of the library or by a seed alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.conversion import convert_to_tensor
from treadle.declare import public
from treadle.dtypes import float32, int32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.tensor import Tensor
from treadle_ops.arguments import shape_argument, static_number, tensor
from treadle_ops.broadcasting import shape_op
from treadle_ops.called_function import subject
from treadle_ops.comparison import equal, greater, less
from treadle_ops.division import floormod
from treadle_ops.elementwise import add, subtract
from treadle_ops.fourier import size_along
from treadle_ops.image_arguments import image_argument, ranked_image
from treadle_ops.image_batches import without_batch
from treadle_ops.image_colors import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from treadle_ops.image_geometry import HEIGHT, WIDTH
from treadle_ops.masking import where_op
from treadle_ops.reordering import reverse_op
from treadle_ops.shaping import reshape_op
from treadle_ops.sizes import rank_op
from treadle_ops.slicing import slice_op
from treadle_ops.stateful_random import uniform
from treadle_ops.stateless_random import stateless_uniform

Drawn = Callable[..., Any]
"""Uniform random numbers of a shape, from ``minval`` to ``maxval``, of a dtype."""


def _stateful(seed: Any) -> Drawn:
    def drawn(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32) -> Any:
        return uniform(shape, minval, maxval, dtype, seed)

    return drawn


def _stateless(seed: Any) -> Drawn:
    def drawn(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32) -> Any:
        return stateless_uniform(shape, seed, minval, maxval, dtype)

    return drawn


def _within(max_delta: Any, most: float | None = None) -> Any:
    max_delta = static_number(max_delta, "max_delta")
    if not max_delta >= 0:
        raise InvalidArgumentError(f"{subject()}max_delta must be non-negative, got {max_delta}")
    if most is not None and max_delta > most:
        raise InvalidArgumentError(f"max_delta must be {most} or less, got {max_delta}")
    return -max_delta, max_delta


def _factors(lower: Any, upper: Any) -> Any:
    lower, upper = static_number(lower, "lower"), static_number(upper, "upper")
    if upper <= lower:
        raise InvalidArgumentError(f"{subject()}upper must be greater than lower, got {upper} and {lower}")
    if lower < 0:
        raise InvalidArgumentError(f"{subject()}lower must be non-negative, got {lower}")
    return lower, upper


_DOC = """{summary}

    Args:
        image: {image}.
{arguments}        seed: {seed}.

    Returns:
        The shape and dtype of ``image``.

    Raises:
        InvalidArgumentError: {raises}.
        ShapeError: the shape of ``image`` does not fit.

    Sources:
        TensorFlow ``tf.image.{name}``.
    """
_STATEFUL_SEED, _STATELESS_SEED = "for a stream of its own", "``(2,)`` integers; the same seed gives the same result"


def _documented(summary: str, image: str, arguments: str, raises: str) -> Any:
    def put(function: Any) -> Any:
        name = function.__name__
        seed = _STATELESS_SEED if name.startswith("stateless") else _STATEFUL_SEED
        function.__doc__ = _DOC.format(summary=summary, image=image, arguments=arguments, seed=seed, raises=raises, name=name)
        return public(f"image.{name}")(function)

    return put


_DELTA = "        max_delta: the number added is drawn from ``[-max_delta, max_delta)``.\n"
_FACTOR = "        lower: the least factor, 0 or more.\n        upper: the bound above.\n"
_brightness = _documented("Images with a random number added to all colors.", "any shape, floating or integer", _DELTA, "``max_delta`` is negative")
_contrast = _documented(
    "Images with a random contrast.", "``(..., height, width, channels)``, floating or integer", _FACTOR, "the bounds are negative or not in order"
)
_hue = _documented(
    "Images with their hue turned at random.",
    "``(..., height, width, 3)``, floating or integer",
    _DELTA.replace("added", "of turns"),
    "``max_delta`` is not in [0, 0.5]",
)
_saturation = _documented(
    "Images with a random saturation.", "``(..., height, width, 3)``, floating or integer", _FACTOR, "the bounds are negative or not in order"
)
_IMAGES = "``(batch, height, width, channels)`` or ``(height, width, channels)``, any dtype"
_left_right = _documented("Images mirrored along their width, each with probability 1/2.", _IMAGES, "", "the seed is not valid")
_up_down = _documented("Images mirrored along their height, each with probability 1/2.", _IMAGES, "", "the seed is not valid")


# ---------------------------------------------------------------------- colors


@_brightness
def random_brightness(image: Any, max_delta: Any, seed: int | None = None) -> Any:
    return adjust_brightness(image, _stateful(seed)((), *_within(max_delta)))


@_brightness
def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Any:
    return adjust_brightness(image, _stateless(seed)((), *_within(max_delta)))


@_contrast
def random_contrast(image: Any, lower: Any, upper: Any, seed: int | None = None) -> Any:
    return adjust_contrast(image, _stateful(seed)((), *_factors(lower, upper)))


@_contrast
def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Any:
    return adjust_contrast(image, _stateless(seed)((), *_factors(lower, upper)))


@_hue
def random_hue(image: Any, max_delta: Any, seed: int | None = None) -> Any:
    return adjust_hue(image, _stateful(seed)((), *_within(max_delta, 0.5)))


@_hue
def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Any:
    return adjust_hue(image, _stateless(seed)((), *_within(max_delta, 0.5)))


@_saturation
def random_saturation(image: Any, lower: Any, upper: Any, seed: int | None = None) -> Any:
    return adjust_saturation(image, _stateful(seed)((), *_factors(lower, upper)))


@_saturation
def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    return adjust_saturation(image, _stateless(seed)((), *_factors(lower, upper)))


# ---------------------------------------------------------------------- flips


def _flipped(image: Any, axis: int, drawn: Drawn) -> Any:
    """Of a batch, images whose number is above 1/2 are flipped; a single one, if it is below: which is TensorFlow's rule."""
    x = image_argument(image)
    if x.dims is not None and len(x.dims) == 3:
        return where_op(less(drawn(()), 0.5), reverse_op(x, axis=(axis,)), x)
    batch, _ = ranked_image(x)
    numbers = drawn([size_along(batch, 0)])
    flips = greater(numbers, 0.5)
    if x.dims is None:
        flips = where_op(equal(rank_op(x), 3), less(numbers, 0.5), flips)
    flipped = where_op(reshape_op(flips, (-1, 1, 1, 1)), reverse_op(batch, axis=(axis,)), batch)
    return without_batch(flipped, x) if x.dims is None else flipped


@_left_right
def random_flip_left_right(image: Any, seed: int | None = None) -> Any:
    return _flipped(image, WIDTH, _stateful(seed))


@_left_right
def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    return _flipped(image, WIDTH, _stateless(seed))


@_up_down
def random_flip_up_down(image: Any, seed: int | None = None) -> Any:
    return _flipped(image, HEIGHT, _stateful(seed))


@_up_down
def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    return _flipped(image, HEIGHT, _stateless(seed))


# ---------------------------------------------------------------------- crops


def _cropped(value: Any, size: Any, drawn: Drawn) -> Any:
    x = tensor(value)
    wanted = shape_argument(size)
    if x.dims is not None and isinstance(wanted, tuple):
        if len(wanted) != len(x.dims):
            raise ShapeError(
                f"{subject()}size {list(wanted)} has {len(wanted)} numbers for the {len(x.dims)} axes of shape {x.shape}; give one for each axis"
            )
        if any(type(n) is int and type(d) is int and n > d for n, d in zip(wanted, x.dims, strict=True)):
            raise InvalidArgumentError(f"{subject()}size {list(wanted)} is larger than the value of shape {x.shape}; need value.shape >= size")
    sizes = convert_to_tensor(wanted) if not isinstance(wanted, Tensor) else wanted
    dtype = sizes.dtype if sizes.dtype.is_integer else int32
    room = add(subtract(shape_op(x, out_type=dtype), sizes), 1)
    rank = size_along(sizes, 0)
    return slice_op(x, floormod(drawn([rank], 0, dtype.max, dtype), room), wanted)


@public("image.random_crop")
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Any:
    """A box of a tensor at a random place.

    Args:
        value: any shape of rank 1 or more, any dtype.
        size: integers, one per axis.
        seed: for a stream of its own.
        name: ignored.

    Returns:
        A tensor of shape ``size`` and the dtype of ``value``.

    Raises:
        InvalidArgumentError: ``size`` is larger than ``value``.
        ShapeError: there is not one size per axis.

    Sources:
        TensorFlow ``tf.image.random_crop``.
    """
    return _cropped(value, size, _stateful(seed))


@public("image.stateless_random_crop")
def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Any:
    """A box of a tensor at a random place that follows from a seed.

    Args:
        value: any shape of rank 1 or more, any dtype.
        size: integers, one per axis.
        seed: ``(2,)`` integers; the same seed gives the same place.
        name: ignored.

    Returns:
        A tensor of shape ``size`` and the dtype of ``value``.

    Raises:
        InvalidArgumentError: ``size`` is larger than ``value``.
        ShapeError: there is not one size per axis.

    Sources:
        TensorFlow ``tf.image.stateless_random_crop``.
    """
    return _cropped(value, size, _stateless(seed))
