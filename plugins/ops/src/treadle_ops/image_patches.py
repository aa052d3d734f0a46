"""Pieces of images: all windows as patches, boxes resized to one size, and glimpses around points."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import FreeSpec, HostSpec, IndexSpec, gradient, op, public
from treadle.dims import Dim
from treadle.dtypes import float32, int32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import shape_argument, tensor
from treadle_ops.broadcasting import shape_of
from treadle_ops.casting import cast_op
from treadle_ops.clipping import clip_by_value_op
from treadle_ops.comparison import greater_equal, less_equal
from treadle_ops.coordinates import gather_nd_op
from treadle_ops.creation import zeros_op
from treadle_ops.elementwise import add, multiply, subtract
from treadle_ops.fourier import size_along
from treadle_ops.image_arguments import image_argument
from treadle_ops.inference import FLOATING, NUMERIC, dims_of_value, require_kind, require_rank
from treadle_ops.joining import stack_op, unstack_op
from treadle_ops.logic import logical_and
from treadle_ops.masking import where_op
from treadle_ops.ranges import range_op
from treadle_ops.reductions import reduce_max, reduce_mean_op, reduce_min
from treadle_ops.rounding import ceil, floor
from treadle_ops.shaping import expand_dims_op, reshape_op
from treadle_ops.stateful_random import normal, uniform
from treadle_ops.window import as_shape, padding_argument, per_axis, window_counts


# ---------------------------------------------------------------------- all windows


@op("extract_patches")
def extract_patches_op(images: Spec, *, window: tuple[int, ...], strides: tuple[int, ...], rates: tuple[int, ...], padding: str) -> Spec:
    """The elements of every window over ``(batch, *spatial, channels)`` in a row, with zeros for what lies outside."""
    x = require_rank(images, len(window) + 2, "images")
    counts = window_counts(x[1:-1], window, strides, rates, padding)
    return Spec((x[0], *counts, sizes.mul(sizes.product(window), x[-1])), images.dtype)


@op("extract_patches_grad")
def extract_patches_grad(
    g: Spec, shape: HostSpec, *, window: tuple[int, ...], strides: tuple[int, ...], rates: tuple[int, ...], padding: str
) -> Spec:
    """Patches added up to images of a shape."""
    return Spec(dims_of_value(shape), require_kind(g, NUMERIC))


@gradient(extract_patches_op)
def _(ctx: Any, g: Any) -> Any:
    return extract_patches_grad(g, shape_of(ctx.inputs[0]), **ctx.attrs)


@gradient(extract_patches_grad)
def _(ctx: Any, u: Any) -> Any:
    return extract_patches_op(u, **ctx.attrs), None


def _window_argument(values: Any, rank: int, what: str) -> tuple[int, ...]:
    given = shape_argument(values)
    if not isinstance(given, tuple) or len(given) != rank + 2:
        raise InvalidArgumentError(f"{what} must be {rank + 2} integers, one per axis of the input, got {values!r}")
    return per_axis(given, rank, False, what)


@public("image.extract_patches")
def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None) -> Any:
    """All windows over images, each in a row.

    Args:
        images: ``(batch, height, width, channels)``, any dtype.
        sizes: ``[1, height, width, 1]`` of a window.
        strides: ``[1, rows, columns, 1]`` between windows.
        rates: ``[1, rows, columns, 1]`` between elements of a window.
        padding: ``"VALID"``, or ``"SAME"`` with zeros for what lies outside.
        name: ignored.

    Returns:
        ``(batch, rows, columns, height * width * channels)`` of the dtype of ``images``.

    Raises:
        ShapeError: the rank is not 4, or a window is larger than the images.
        InvalidArgumentError: an argument is not valid.

    Sources:
        TensorFlow ``tf.image.extract_patches``.
    """
    return extract_patches_op(
        image_argument(images, "images", (4,)),
        window=_window_argument(sizes, 2, "sizes"),
        strides=_window_argument(strides, 2, "strides"),
        rates=_window_argument(rates, 2, "rates"),
        padding=padding_argument(padding, 2, False, explicit=False),
    )


@public("extract_volume_patches")
def extract_volume_patches(input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None) -> Any:
    """All windows over volumes, each in a row.

    Args:
        input: ``(batch, depth, height, width, channels)``, real.
        ksizes: ``[1, depth, height, width, 1]`` of a window.
        strides: ``[1, planes, rows, columns, 1]`` between windows.
        padding: ``"VALID"``, or ``"SAME"`` with zeros for what lies outside.
        name: ignored.

    Returns:
        ``(batch, planes, rows, columns, depth * height * width * channels)`` of the dtype of ``input``.

    Raises:
        ShapeError: the rank is not 5, or a window is larger than the volumes.
        InvalidArgumentError: an argument is not valid.

    Sources:
        TensorFlow ``tf.extract_volume_patches``.
    """
    return extract_patches_op(
        tensor(input),
        window=_window_argument(ksizes, 3, "ksizes"),
        strides=_window_argument(strides, 3, "strides"),
        rates=(1, 1, 1),
        padding=padding_argument(padding, 3, False, explicit=False),
    )


# ---------------------------------------------------------------------- boxes


@op("box_batches", aliases=True, can_fail=True)
def box_batches(box_indices: IndexSpec, images: FreeSpec) -> Spec:
    """The index of the image that each box is of, which must be one of ``images``."""
    require_rank(box_indices, 1, "box_indices")
    return Spec(box_indices.dims, require_kind(box_indices, "iu", "box_indices"))


@public("image.crop_and_resize")
def crop_and_resize(
    image: Any, boxes: Any, box_indices: Any, crop_size: Any, method: str = "bilinear", extrapolation_value: Any = 0.0, name: str | None = None
) -> Any:
    """Boxes of images, each resized to the same size.

    Args:
        image: ``(batch, height, width, channels)``, real.
        boxes: ``(n, 4)`` floats: ``y1, x1, y2, x2``, where 0 and 1 are the first and the last row or column; turned around, the crop is flipped.
        box_indices: ``(n,)`` integers: the image that each box is of.
        crop_size: two integers, height and width.
        method: ``"bilinear"`` or ``"nearest"``.
        extrapolation_value: what lies outside of an image.
        name: ignored.

    Returns:
        ``(n, *crop_size, channels)``, float32.

    Raises:
        ShapeError: the shapes do not fit.
        OutOfRangeError: there is no such image.
        InvalidArgumentError: a size is less than 1, or there is no such method.

    Sources:
        TensorFlow ``tf.image.crop_and_resize``.
    """
    if method not in ("bilinear", "nearest"):
        raise InvalidArgumentError(f"crop_and_resize: method must be 'bilinear' or 'nearest', got {method!r}")
    x, corners, owners = image_argument(image, "image", (4,)), tensor(boxes), tensor(box_indices)
    _require_boxes(corners, owners)
    x = x if x.dtype is float32 else cast_op(x, dtype=float32)
    corners = corners if corners.dtype is float32 else cast_op(corners, dtype=float32)
    size = shape_argument(crop_size)
    rows, columns = size if isinstance(size, tuple | list) and len(size) == 2 else _pair(size)
    top, left, bottom, right = (expand_dims_op(edge, axis=1) for edge in unstack_op(corners, num=4, axis=1))
    y = _positions(top, bottom, size_along(x, 1), rows)
    x_ = _positions(left, right, size_along(x, 2), columns)
    owners = reshape_op(box_batches(cast_op(owners, dtype=int32), x), (-1, 1, 1))
    down, across = _neighbours(y, size_along(x, 1), method, 2), _neighbours(x_, size_along(x, 2), method, 1)
    inside = expand_dims_op(logical_and(expand_dims_op(down.inside, axis=2), expand_dims_op(across.inside, axis=1)), axis=3)

    def picked(row: Any, column: Any) -> Any:
        zero = multiply(0, add(row, column))
        return gather_nd_op(x, stack_op([add(owners, zero), add(row, zero), add(column, zero)], axis=-1), batch_dims=0, ignore=False)

    above = _between(picked(down.low, across.low), picked(down.low, across.high), across.share)
    below = _between(picked(down.high, across.low), picked(down.high, across.high), across.share)
    return where_op(inside, _between(above, below, down.share), cast_op(tensor(extrapolation_value, x), dtype=float32))


def _pair(size: Any) -> Any:
    if getattr(size, "dims", None) != (2,):
        raise ShapeError(f"crop_size must be two integers, height and width, got {size!r}")
    return unstack_op(size, num=2, axis=0)
