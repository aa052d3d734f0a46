"""Pieces of images: all windows as patches, boxes resized to one size, and glimpses around points."""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import FreeSpec, HostSpec, IndexSpec, gradient, op, public
from treadle.dtypes import float32, int32, int64
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import shape_argument, tensor
from treadle_ops.axis_extremes import reduce_max, reduce_min
from treadle_ops.broadcasting import shape_of
from treadle_ops.called_function import checked, subject
from treadle_ops.casting import cast_op
from treadle_ops.clipping import clip_by_value_op
from treadle_ops.comparison import equal, greater_equal, less_equal
from treadle_ops.creation import zeros_op
from treadle_ops.elementwise import add, divide_op, multiply, square, subtract
from treadle_ops.equal_sizes import with_equal_sizes
from treadle_ops.extremes import maximum, minimum
from treadle_ops.fourier import size_along
from treadle_ops.gathering import gather_op
from treadle_ops.image_arguments import image_argument, spatial_sizes
from treadle_ops.inference import FLOATING, INTEGER, NUMERIC, dims_of_value, require_kind, require_rank
from treadle_ops.joining import unstack_op
from treadle_ops.logic import logical_and
from treadle_ops.masking import where_op
from treadle_ops.powers import sqrt
from treadle_ops.ranges import range_op
from treadle_ops.reductions import reduce_mean_op
from treadle_ops.rounding import ceil, floor
from treadle_ops.shaping import ensure_shape_op, expand_dims_op, reshape_op
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
        raise InvalidArgumentError(f"{subject()}{what} must be {rank + 2} integers, one per axis of the input, got {values!r}")
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
    return Spec(require_rank(box_indices, 1, "box_indices"), require_kind(box_indices, INTEGER, "box_indices"))


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
    x, corners = (each if each.dtype is float32 else cast_op(each, dtype=float32) for each in (image_argument(image, "image", (4,)), tensor(boxes)))
    owners = tensor(box_indices)
    rows, columns = _crop_size(crop_size)
    height, width = spatial_sizes(x)
    top, left, bottom, right = unstack_op(_require_boxes(corners, owners), num=4, axis=1)
    down = _looked_at(top, bottom, height, rows, method, across=1)
    along = _looked_at(left, right, width, columns, method, across=0)
    first = multiply(reshape_op(cast_op(box_batches(owners, x), dtype=int64), (-1, 1, 1)), _wide(height))
    pixels = reshape_op(x, as_shape([-1, size_along(x, 3)]))

    def between(row: Any) -> Any:
        line = multiply(add(first, row), _wide(width))
        if along.share is None:
            return gather_op(pixels, add(line, along.low), axis=0, batch_dims=0)
        return _mixed(*(gather_op(pixels, add(line, column), axis=0, batch_dims=0) for column in (along.low, along.high)), along.share)

    crops = between(down.low) if down.share is None else _mixed(between(down.low), between(down.high), down.share)
    inside = expand_dims_op(logical_and(down.inside, along.inside), axis=-1)
    return where_op(inside, crops, cast_op(tensor(extrapolation_value, x), dtype=float32))


class _LookedAt(NamedTuple):
    """The elements of an axis beside each place that is looked at: ``share`` of the way from ``low`` to ``high``; None for the nearest alone."""

    low: Any
    high: Any
    share: Any
    inside: Any


def _looked_at(start: Any, stop: Any, size: Any, count: Any, method: str, across: int) -> _LookedAt:
    """Places at even distances from ``start`` to ``stop``, of shape ``(boxes, count, 1)``, or ``(boxes, 1, count)`` if ``across`` is 0."""
    last = cast_op(size - 1, dtype=float32)
    begin, extent = multiply(start, last), multiply(subtract(stop, start), last)
    steps = cast_op(range_op(0, count, 1, dtype=int32), dtype=float32)
    if type(count) is int and count > 1:
        places = add(_column(begin), multiply(steps, _column(divide_op(extent, float(count - 1)))))
    else:
        middle = add(begin, multiply(0.5, extent))
        between = cast_op(maximum(count - 1, 1), dtype=float32)
        many = add(_column(begin), multiply(steps, _column(divide_op(extent, between))))
        places = where_op(equal(count, 1), _column(middle), many)
    places = expand_dims_op(places, axis=1 + across)
    inside = logical_and(greater_equal(places, 0), less_equal(places, last))
    within = clip_by_value_op(places, 0, last)
    if method == "nearest":
        return _LookedAt(cast_op(floor(add(within, 0.5)), dtype=int64), None, None, inside)
    low = floor(within)
    return _LookedAt(cast_op(low, dtype=int64), cast_op(ceil(within), dtype=int64), expand_dims_op(subtract(places, low), axis=-1), inside)


def _column(x: Any) -> Any:
    return expand_dims_op(x, axis=1)


def _mixed(low: Any, high: Any, share: Any) -> Any:
    return add(low, multiply(subtract(high, low), share))


def _wide(size: Any) -> Any:
    return size if type(size) is int else cast_op(size, dtype=int64)


def _require_boxes(boxes: Any, owners: Any) -> Any:
    if boxes.dims is not None and (len(boxes.dims) != 2 or sizes.known_different(boxes.dims[1], 4)):
        raise ShapeError(f"{subject()}boxes have shape {boxes.shape}; expected (n, 4)")
    if boxes.dims is not None and owners.dims is not None and (len(owners.dims) != 1 or sizes.known_different(owners.dims[0], boxes.dims[0])):
        raise ShapeError(f"{subject()}box_indices of shape {owners.shape} do not fit boxes of shape {boxes.shape}; expected one integer per box")
    if boxes.dims is None:
        boxes = ensure_shape_op(boxes, shape=(None, 4))
    return with_equal_sizes(boxes, 0, owners, 0, "the numbers of boxes and of box_indices")


def _crop_size(size: Any) -> Any:
    wanted = shape_argument(size)
    if isinstance(wanted, tuple | list):
        if len(wanted) == 2:
            if any(type(n) is int and n < 1 for n in wanted):
                raise InvalidArgumentError(f"{subject()}crop_size must be positive, got {list(wanted)}")
            return wanted
    elif wanted.dims == (2,):
        return unstack_op(wanted, num=2, axis=0)
    raise ShapeError(f"{subject()}crop_size must be two integers, height and width, got {size!r}")


# ---------------------------------------------------------------------- glimpses


@op("extract_glimpse")
def extract_glimpse_op(input: Spec, fill: Spec, offsets: FreeSpec, *, centered: bool, normalized: bool) -> Spec:
    """Windows of the size of ``fill`` ``(batch, height, width, channels)`` over images; ``fill`` is what lies outside."""
    x, f, at = require_rank(input, 4, "input"), require_rank(fill, 4, "fill"), require_rank(offsets, 2, "offsets")
    if sizes.known_different(at[0], x[0]) or sizes.known_different(at[1], 2):
        raise ShapeError(f"offsets of shape {offsets.shape} do not fit an input of shape {input.shape}; expected ({x[0]}, 2)")
    if sizes.known_different(f[0], x[0]) or sizes.known_different(f[3], x[3]):
        raise ShapeError(f"what fills windows has shape {fill.shape}, which does not fit an input of shape {input.shape}")
    require_kind(offsets, FLOATING, "offsets")
    return Spec((x[0], f[1], f[2], x[3]), input.dtype)


@public("image.extract_glimpse")
def extract_glimpse(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True, noise: str = "uniform", name: str | None = None
) -> Any:
    """A window of each image around, or from, a point; it has no gradient.

    Args:
        input: ``(batch, height, width, channels)``, floating.
        size: two integers, the height and width of the windows.
        offsets: ``(batch, 2)`` floats: the points, row and column.
        centered: the points are relative to the middle of the image; if normalized too, they are the middle of the window, else its corner.
        normalized: the points are in sizes of the image: centered from -1 to 1, else from 0 to 1; otherwise they are in elements.
        noise: what lies outside: ``"uniform"`` between the least and the largest element of an image, ``"gaussian"`` with mean and deviation
            of a channel, or ``"zero"``.
        name: ignored.

    Returns:
        ``(batch, *size, channels)`` of the dtype of ``input``.

    Raises:
        ShapeError: the shapes do not fit.
        InvalidArgumentError: there is no such noise.

    Sources:
        TensorFlow ``tf.image.extract_glimpse``.
    """
    if noise not in ("uniform", "gaussian", "zero"):
        raise InvalidArgumentError(f"{subject()}noise must be 'uniform', 'gaussian' or 'zero', got {noise!r}")
    x = image_argument(input, "input", (4,))
    checked(require_kind, x, FLOATING, "input")
    height, width = _crop_size(size)
    fill = _noise(x, as_shape([size_along(x, 0), height, width, size_along(x, 3)]), noise)
    return extract_glimpse_op(x, fill, offsets, centered=bool(centered), normalized=bool(normalized))


def _noise(x: Any, shape: Any, noise: str) -> Any:
    if noise == "zero":
        return zeros_op(shape, dtype=x.dtype)
    if noise == "uniform":
        low, high = reduce_min(x, (1, 2, 3), keepdims=True), reduce_max(x, (1, 2, 3), keepdims=True)
        return add(low, multiply(uniform(shape, dtype=x.dtype), subtract(high, low)))
    mean = reduce_mean_op(x, axis=(1, 2), keepdims=True)
    deviation = sqrt(reduce_mean_op(square(subtract(x, mean)), axis=(1, 2), keepdims=True))
    drawn = add(mean, multiply(normal(shape, dtype=x.dtype), deviation))
    return maximum(minimum(drawn, reduce_max(x, (1, 2), keepdims=True)), reduce_min(x, (1, 2), keepdims=True))
