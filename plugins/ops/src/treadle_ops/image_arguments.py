"""What the functions of images share: ranks, channels, sizes of axes, and conversions between dtypes that keep the range of colors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle import dims as sizes
from treadle.dtypes import DType, float16, float32
from treadle.errors import DTypeError, ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.called_function import subject
from treadle_ops.casting import cast_op
from treadle_ops.elementwise import multiply
from treadle_ops.fourier import size_along
from treadle_ops.image_batches import image_batch, without_batch
from treadle_ops.joining import stack_op, unstack_op
from treadle_ops.padding import pad_op
from treadle_ops.saturation import saturate_cast
from treadle_ops.shaping import ensure_shape_op, expand_dims_op, squeeze_op


def image_argument(image: Any, what: str = "image", ranks: tuple[int, ...] = (3, 4)) -> Any:
    """Images as a tensor.

    Raises:
        ShapeError: the rank is none of ``ranks``.
    """
    x = tensor(image)
    if x.dims is not None and len(x.dims) not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise ShapeError(
            f"{subject()}{what} has shape {x.shape}, of rank {len(x.dims)}; expected rank {wanted}: "
            "(height, width, channels), or with a batch in front"
        )
    return x


def ranked_image(image: Any, what: str = "image") -> tuple[Any, Any]:
    """Images as a tensor of rank 4, and as they were given.

    Raises:
        ShapeError: the rank is neither 3 nor 4.
    """
    x = image_argument(image, what)
    if x.dims is None:
        return image_batch(x), x
    return (expand_dims_op(x, axis=0) if len(x.dims) == 3 else x), x


def unranked(x: Any, given: Any) -> Any:
    """The result for images of rank 4 as it is wanted for those that were given."""
    if given.dims is None:
        return without_batch(x, given)
    return squeeze_op(x, axis=(0,)) if len(given.dims) == 3 else x


def spatial_sizes(x: Any) -> tuple[Any, Any]:
    """Height and width, each an int where it is known and else a scalar tensor."""
    return size_along(x, -3), size_along(x, -2)


def framed(x: Any, before: Sequence[Any], target: Sequence[Any]) -> Any:
    """Images of rank 4 with zeros before and after them, so that height and width are those of the target; all ints or scalar tensors."""
    ends = [(start, whole - start - size) for start, whole, size in zip(before, target, spatial_sizes(x), strict=True)]
    if all(type(n) is int for pair in ends for n in pair):
        return pad_op(x, ((0, 0), *ends, (0, 0)))
    wanted = (x.dims[0], *target, x.dims[-1])
    return ensure_shape_op(pad_op(x, [[0, 0], *map(list, ends), [0, 0]]), shape=tuple(n if type(n) is int else None for n in wanted))


def cropped(x: Any, top: Any, left: Any, height: Any, width: Any) -> Any:
    """A box of images of rank 4, by ints or scalar tensors."""
    return x[:, top : top + height, left : left + width]


def require_channels(x: Any, count: int, what: str = "images") -> Any:
    """The tensor itself, whose last axis must have so many elements; where that is not known, it is checked when the trace runs.

    Raises:
        ShapeError: it is known not to have.
    """
    if x.dims is None:
        return stack_op(unstack_op(x, num=count, axis=-1), axis=-1)
    if not x.dims or sizes.known_different(x.dims[-1], count):
        raise ShapeError(f"{subject()}{what} of shape {x.shape} must have {count} channel{'s' if count > 1 else ''} along the last axis")
    return x if type(x.dims[-1]) is int else ensure_shape_op(x, shape=(*(None,) * (len(x.dims) - 1), count))


def color_floats(x: Any) -> Any:
    """Colors as float16 or float32: integers are brought to [0, 1]."""
    return x if x.dtype in (float16, float32) else converted(x, float32)


def converted(x: Any, dtype: DType, saturate: bool = False) -> Any:
    """Colors in another dtype: the range [0, 1] of floats is that from 0 to the largest integer.

    Raises:
        DTypeError: one of the dtypes is neither floating nor integer.
    """
    if x.dtype is dtype:
        return x
    for each in (x.dtype, dtype):
        if not each.is_floating and not each.is_integer:
            raise DTypeError(f"{subject()}an image has dtype {each.name}; expected a floating or integer dtype")
    if dtype.is_floating:
        wide = cast_op(x, dtype=dtype)
        return wide if x.dtype.is_floating else multiply(wide, 1.0 / x.dtype.max)
    scaled = multiply(x, dtype.max + 0.5)
    return saturate_cast(scaled, dtype) if saturate else cast_op(scaled, dtype=dtype)
