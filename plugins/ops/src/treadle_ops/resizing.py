"""Images in another size: bilinear, nearest, bicubic, area, Lanczos, Gaussian and Mitchell, with or without antialiasing."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op, public
from treadle.dims import Dim, Size, known_different
from treadle.dtypes import float32, int32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.tensor import Tensor
from treadle_ops.arguments import shape_argument
from treadle_ops.called_function import subject
from treadle_ops.casting import cast_op
from treadle_ops.elementwise import divide_op, multiply, subtract
from treadle_ops.extremes import maximum, minimum
from treadle_ops.image_arguments import framed, ranked_image, spatial_sizes, unranked
from treadle_ops.inference import REAL, require_kind, require_rank
from treadle_ops.joining import unstack_op
from treadle_ops.rounding import floor, rint
from treadle_ops.window import as_shape


@public("image.ResizeMethod")
class ResizeMethod:
    """The names of the methods of ``td.image.resize``."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


METHODS = tuple(value for name, value in vars(ResizeMethod).items() if name.isupper())


def _resized(images: Spec, size: Spec) -> Spec:
    batch, height, width, channels = require_rank(images, 4, "images")
    if size.dims is not None and (len(size.dims) != 1 or known_different(size.dims[0], 2)):
        raise ShapeError(f"size has shape {size.shape}; expected two integers, height and width")
    wanted: tuple[Size, ...] = (Dim.symbol(), Dim.symbol()) if size.value is None else size.value
    if any(isinstance(n, int) and n < 1 for n in (*wanted, height, width)):
        raise InvalidArgumentError(f"images of shape {images.shape} cannot be resized to {list(wanted)}; both sizes must be 1 or more")
    return Spec((batch, *wanted, channels), require_kind(images, REAL, "images"))


@op("resize")
def resize_op(images: Spec, size: HostSpec, *, method: str, antialias: bool) -> Spec:
    """Images ``(batch, height, width, channels)`` in another size; floating, except for ``nearest``."""
    return _resized(images, size)


@op("resize_grad")
def resize_grad(g: Spec, size: HostSpec, *, method: str, antialias: bool) -> Spec:
    """The gradient of ``resize`` with respect to images of a size."""
    return _resized(g, size)


@gradient(resize_op)
def _(ctx: Any, g: Any) -> Any:
    return resize_grad(g, as_shape(spatial_sizes(ctx.inputs[0])), **ctx.attrs), None


@gradient(resize_grad)
def _(ctx: Any, u: Any) -> Any:
    return resize_op(u, as_shape(spatial_sizes(ctx.inputs[0])), **ctx.attrs), None


def _size_argument(size: Any) -> list[Any]:
    wanted = shape_argument(size)
    if isinstance(wanted, Tensor):
        if wanted.dims != (2,):
            raise ShapeError(f"size must be a vector of two integers, height and width, not a tensor of shape {wanted.shape}")
        return list(unstack_op(wanted, num=2, axis=0))
    if len(wanted) != 2:
        raise ShapeError(f"{subject()}size must be two integers, height and width, got {size!r}")
    return list(wanted)


def _are_known(*sizes: Any) -> bool:
    return all(type(n) is int for n in sizes)


def _floats(*sizes: Any) -> list[Any]:
    """Sizes as float32: NumPy's scalars where all are known, tensors otherwise."""
    if _are_known(*sizes):
        return [np.float32(n) for n in sizes]
    return [cast_op(n, dtype=float32) for n in sizes]


def _pixels(x: Any) -> tuple[Any, Any]:
    """Height and width, whose ratio is wanted."""
    sizes = spatial_sizes(x)
    if any(type(n) is int and n < 1 for n in sizes):
        raise InvalidArgumentError(f"{subject()}images of shape {x.shape} have no ratio of height and width; both must be 1 or more")
    return sizes


def _fitted(size: list[Any], height: Any, width: Any) -> list[Any]:
    """The largest size within ``size`` that keeps the ratio of height and width."""
    if _are_known(*size, height, width):
        scale = min(size[0] / height, size[1] / width)
        return [round(scale * height), round(scale * width)]
    rows, columns, high, wide = _floats(*size, height, width)
    scale = minimum(divide_op(rows, high), divide_op(columns, wide))
    return [cast_op(rint(multiply(scale, n)), dtype=int32) for n in (high, wide)]


@public("image.resize")
def resize(
    images: Any, size: Any, method: str = "bilinear", preserve_aspect_ratio: bool = False, antialias: bool = False, name: str | None = None
) -> Any:
    """Images in another size.

    Args:
        images: ``(batch, height, width, channels)`` or ``(height, width, channels)``, real.
        size: two integers, the new height and width.
        method: ``bilinear``, ``nearest``, ``bicubic``, ``area``, ``lanczos3``, ``lanczos5``, ``gaussian`` or ``mitchellcubic``.
        preserve_aspect_ratio: make the images as large as they can be within ``size`` without changing the ratio of height and width.
        antialias: let each element of smaller images see all that it stands for; for ``nearest`` and ``area`` it changes nothing.
        name: ignored.

    Returns:
        The new height and width in place of the old; float32, or for ``nearest`` the dtype of ``images``.

    Raises:
        ShapeError: the rank is neither 3 nor 4, or ``size`` is not two integers.
        InvalidArgumentError: there is no such method, or a size is less than 1.

    Sources:
        TensorFlow ``tf.image.resize``.
    """
    if method not in METHODS:
        raise InvalidArgumentError(f"resize: method {method!r} is not known; methods: {', '.join(METHODS)}")
    x, given = ranked_image(images, "images")
    wanted = _size_argument(size)
    if preserve_aspect_ratio:
        wanted = _fitted(wanted, *_pixels(x))
    if method != "nearest" and x.dtype is not float32:
        x = cast_op(x, dtype=float32)
    smooth = bool(antialias) and method not in ("nearest", "area")
    return unranked(resize_op(x, as_shape(wanted), method=method, antialias=smooth), given)


@public("image.resize_with_pad")
def resize_with_pad(image: Any, target_height: Any, target_width: Any, method: str = "bilinear", antialias: bool = False) -> Any:
    """Images in another size without changing the ratio of height and width; zeros fill what is left, evenly on both sides.

    Args:
        image: ``(batch, height, width, channels)`` or ``(height, width, channels)``, real.
        target_height: the new height.
        target_width: the new width.
        method: as of ``td.image.resize``.
        antialias: as of ``td.image.resize``.

    Returns:
        The new height and width in place of the old; float32, or for ``nearest`` the dtype of ``image``.

    Raises:
        ShapeError: the rank is neither 3 nor 4.
        InvalidArgumentError: a target is less than 1, or there is no such method.

    Sources:
        TensorFlow ``tf.image.resize_with_pad``.
    """
    x, given = ranked_image(image)
    rows, columns = _target(target_height, "target_height"), _target(target_width, "target_width")
    size, before = _letterbox(*_pixels(x), rows, columns)
    small = resize(x, size, method, antialias=antialias)
    return unranked(framed(small, before, (rows, columns)), given)


def _target(value: Any, what: str) -> Any:
    (wanted,) = shape_argument([value])
    if type(wanted) is int and wanted < 1:
        raise InvalidArgumentError(f"{subject()}{what} must be 1 or more, got {wanted}")
    return wanted


def _letterbox(height: Any, width: Any, rows: Any, columns: Any) -> tuple[list[Any], list[Any]]:
    """The size within a target, and the zeros before it, computed in float32 as TensorFlow does."""
    high, wide, tall, broad = _floats(height, width, rows, columns)
    if _are_known(height, width, rows, columns):
        ratio = max(wide / broad, high / tall)
        whole = [(target, n / ratio) for target, n in ((tall, high), (broad, wide))]
        return [int(np.floor(n)) for _, n in whole], [max(0, int(np.floor((target - n) / np.float32(2)))) for target, n in whole]
    ratio = maximum(divide_op(wide, broad), divide_op(high, tall))
    size, before = [], []
    for target, n in ((tall, high), (broad, wide)):
        fitted = divide_op(n, ratio)
        size.append(cast_op(floor(fitted), dtype=int32))
        before.append(maximum(0, cast_op(floor(divide_op(subtract(target, fitted), 2.0)), dtype=int32)))
    return size, before
