"""Blocks of space moved into the batch or into the channels, and back."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op, public
from treadle.dims import Dim, Size, add, floordiv, known_different, mod, mul, product
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import integers_argument, static_integer
from treadle_ops.inference import require_rank

Geometry = tuple[tuple[Size, ...], tuple[tuple[Size, Size], ...]]


def _geometry(x: Spec, block_shape: Spec, ends: Spec, what: str) -> Geometry | None:
    """The sizes of a block, and how many elements are added or cut at the ends of each spatial axis; None when nothing is known.

    Raises:
        ShapeError: they do not fit each other or ``x``.
        InvalidArgumentError: a number is too small.
    """
    if block_shape.dims is not None and len(block_shape.dims) != 1:
        raise ShapeError(f"block_shape has shape {block_shape.shape}; expected a vector of one size per spatial axis")
    count = block_shape.dims[0] if block_shape.dims is not None else None
    if not isinstance(count, int):
        return None
    if count and ends.dims is not None and (len(ends.dims) != 2 or known_different(ends.dims[1], 2) or known_different(ends.dims[0], count)):
        raise ShapeError(f"{what} has shape {ends.shape}; expected ({count}, 2): a pair per size of block_shape")
    if x.dims is not None and len(x.dims) < count + 1:
        raise ShapeError(f"shape {x.shape} has {len(x.dims)} axes; a block_shape of {count} sizes needs {count + 1} or more")
    block = tuple(Dim.symbol() for _ in range(count)) if block_shape.value is None else block_shape.value
    pairs = tuple((Dim.symbol(), Dim.symbol()) for _ in range(count)) if ends.value is None else ends.value
    if any(isinstance(b, int) and b < 1 for b in block):
        raise InvalidArgumentError(f"block_shape {list(block)} has a size below 1")
    if any(isinstance(n, int) and n < 0 for pair in pairs for n in pair):
        raise InvalidArgumentError(f"{what} {[list(pair) for pair in pairs]} has a negative number; expected 0 or more")
    return block, pairs


def _divided(size: Size, by: Size, x: Spec, what: str) -> Size:
    if isinstance(by, int) and isinstance(rest := mod(size, by), int) and rest:
        raise ShapeError(f"{what} {size} of shape {x.shape} is not a multiple of {by}")
    return floordiv(size, by)


@op("space_to_batch_nd", aliases=True)
def space_to_batch_nd_op(x: Spec, block_shape: HostSpec, paddings: HostSpec) -> Spec:
    """Blocks of the padded spatial axes moved into the batch."""
    geometry = _geometry(x, block_shape, paddings, "paddings")
    if x.dims is None or geometry is None:
        return Spec(None if x.dims is None else tuple(Dim.symbol() for _ in x.dims), x.dtype)
    block, pairs = geometry
    space = [
        _divided(add(d, add(before, after)), b, x, f"the padded size of axis {i}")
        for i, (d, b, (before, after)) in enumerate(zip(x.dims[1:], block, pairs, strict=False), 1)
    ]
    return Spec((mul(x.dims[0], product(block)), *space, *x.dims[1 + len(block) :]), x.dtype)


@gradient(space_to_batch_nd_op)
def _(ctx: Any, g: Any) -> Any:
    _, block_shape, paddings = ctx.inputs
    return batch_to_space_op(g, block_shape, paddings), None, None


@op("batch_to_space", aliases=True)
def batch_to_space_op(x: Spec, block_shape: HostSpec, crops: HostSpec) -> Spec:
    """Blocks of the batch moved back into the spatial axes, whose ends are then cut."""
    geometry = _geometry(x, block_shape, crops, "crops")
    if x.dims is None or geometry is None:
        return Spec(None if x.dims is None else tuple(Dim.symbol() for _ in x.dims), x.dtype)
    block, pairs = geometry
    space = [add(mul(d, b), mul(-1, add(before, after))) for d, b, (before, after) in zip(x.dims[1:], block, pairs, strict=False)]
    if any(isinstance(n, int) and n < 0 for n in space):
        raise ShapeError(f"crops {[list(pair) for pair in pairs]} cut off more than there is of shape {x.shape}")
    return Spec((_divided(x.dims[0], product(block), x, "the batch size"), *space, *x.dims[1 + len(block) :]), x.dtype)


@gradient(batch_to_space_op)
def _(ctx: Any, g: Any) -> Any:
    _, block_shape, crops = ctx.inputs
    return space_to_batch_nd_op(g, block_shape, crops), None, None


@public("space_to_batch_nd")
def space_to_batch_nd(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Any:
    """Move blocks of spatial axes into the batch: with a block of (2, 2), every other row and column becomes a batch entry of its own.

    Args:
        input: ``(batch, *space, ...)``, any dtype, with M spatial axes.
        block_shape: ``(M,)`` integers, 1 or more.
        paddings: ``(M, 2)`` integers: zeros before and after each spatial axis.
        name: ignored.

    Returns:
        ``(batch * product of block_shape, *space, ...)``, each padded spatial size divided by that of the block.

    Raises:
        ShapeError: a padded size is not a multiple of the block's.
        InvalidArgumentError: a number is too small.

    Sources:
        TensorFlow ``tf.space_to_batch_nd``.
    """
    return space_to_batch_nd_op(input, integers_argument(block_shape, "block_shape"), integers_argument(paddings, "paddings"))


@public("space_to_batch", "nn.space_to_batch")
def space_to_batch(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Any:
    """The same as ``td.space_to_batch_nd``.

    Args:
        input: ``(batch, *space, ...)``, any dtype, with M spatial axes.
        block_shape: ``(M,)`` integers, 1 or more.
        paddings: ``(M, 2)`` integers: zeros before and after each spatial axis.
        name: ignored.

    Returns:
        ``(batch * product of block_shape, *space, ...)``, each padded spatial size divided by that of the block.

    Raises:
        ShapeError: a padded size is not a multiple of the block's.
        InvalidArgumentError: a number is too small.

    Sources:
        TensorFlow ``tf.space_to_batch``.
    """
    return space_to_batch_nd(input, block_shape, paddings)


@public("batch_to_space")
def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Any:
    """Move blocks of the batch back into spatial axes: the inverse of ``td.space_to_batch``.

    Args:
        input: ``(batch, *space, ...)``, any dtype, with M spatial axes.
        block_shape: ``(M,)`` integers, 1 or more; one int stands for two of them.
        crops: ``(M, 2)`` integers: how many elements are cut before and after each spatial axis.
        name: ignored.

    Returns:
        ``(batch / product of block_shape, *space, ...)``, each spatial size multiplied by that of the block, less the crops.

    Raises:
        ShapeError: the batch is not a multiple of the block, or more is cut than there is.
        InvalidArgumentError: a number is too small.

    Sources:
        TensorFlow ``tf.batch_to_space``.
    """
    block = integers_argument(block_shape, "block_shape")
    return batch_to_space_op(input, (block, block) if isinstance(block, int) else block, integers_argument(crops, "crops"))


def _places(data_format: str) -> tuple[int, int, int]:
    """Where the axes of height, width and channels are."""
    if data_format == "NHWC":
        return 1, 2, 3
    if data_format == "NCHW":
        return 2, 3, 1
    raise InvalidArgumentError(f"data_format {data_format!r} is not known; expected NHWC or NCHW")


def _require_block(block_size: int) -> None:
    if block_size < 2:
        raise InvalidArgumentError(f"block_size is {block_size}; expected 2 or more")


@op("depth_to_space", aliases=True)
def depth_to_space_op(x: Spec, *, block_size: int, data_format: str) -> Spec:
    """Blocks of channels moved into space."""
    _require_block(block_size)
    height, width, channels = _places(data_format)
    dims = list(require_rank(x, 4, "input"))
    dims[channels] = _divided(dims[channels], block_size * block_size, x, "the number of channels")
    dims[height], dims[width] = mul(dims[height], block_size), mul(dims[width], block_size)
    return Spec(tuple(dims), x.dtype)


@gradient(depth_to_space_op)
def _(ctx: Any, g: Any) -> Any:
    return space_to_depth_op(g, block_size=ctx.block_size, data_format=ctx.data_format)


@op("space_to_depth", aliases=True)
def space_to_depth_op(x: Spec, *, block_size: int, data_format: str) -> Spec:
    """Blocks of space moved into channels."""
    _require_block(block_size)
    height, width, channels = _places(data_format)
    dims = list(require_rank(x, 4, "input"))
    dims[height], dims[width] = (_divided(dims[a], block_size, x, f"size of axis {a},") for a in (height, width))
    dims[channels] = mul(dims[channels], block_size * block_size)
    return Spec(tuple(dims), x.dtype)


@gradient(space_to_depth_op)
def _(ctx: Any, g: Any) -> Any:
    return depth_to_space_op(g, block_size=ctx.block_size, data_format=ctx.data_format)


@public("nn.depth_to_space")
def depth_to_space(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Any:
    """Move blocks of channels into space, so that an image gets larger and less deep.

    Args:
        input: ``(batch, height, width, channels)``, any dtype; ``(batch, channels, height, width)`` for ``NCHW``.
        block_size: 2 or more.
        data_format: ``NHWC`` or ``NCHW``.
        name: ignored.

    Returns:
        ``(batch, height * block_size, width * block_size, channels / block_size**2)`` in that order of axes.

    Raises:
        ShapeError: the rank is not 4, or the number of channels is not a multiple of ``block_size**2``.
        InvalidArgumentError: ``block_size`` is below 2.

    Sources:
        TensorFlow ``tf.nn.depth_to_space``.
    """
    return depth_to_space_op(input, block_size=static_integer(block_size, "block_size"), data_format=data_format)


@public("nn.space_to_depth")
def space_to_depth(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Any:
    """Move blocks of space into channels, so that an image gets smaller and deeper: the inverse of ``td.nn.depth_to_space``.

    Args:
        input: ``(batch, height, width, channels)``, any dtype; ``(batch, channels, height, width)`` for ``NCHW``.
        block_size: 2 or more.
        data_format: ``NHWC`` or ``NCHW``.
        name: ignored.

    Returns:
        ``(batch, height / block_size, width / block_size, channels * block_size**2)`` in that order of axes.

    Raises:
        ShapeError: the rank is not 4, or height or width is not a multiple of ``block_size``.
        InvalidArgumentError: ``block_size`` is below 2.

    Sources:
        TensorFlow ``tf.nn.space_to_depth``.
    """
    return space_to_depth_op(input, block_size=static_integer(block_size, "block_size"), data_format=data_format)
