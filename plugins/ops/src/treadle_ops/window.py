"""What ops with windows over spatial axes share: layouts, strides, dilations and paddings as arguments, and the sizes that come out.

The ops themselves take channels last and one stride per spatial axis; here TensorFlow's many ways to say it become that.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from treadle.conversion import host_value
from treadle.dims import Size
from treadle.dtypes import int32
from treadle.errors import InvalidArgumentError, ShapeError, UnimplementedError
from treadle.shapes import TensorShape
from treadle.tensor import Tensor
from treadle_ops.arguments import shape_argument, static_value
from treadle_ops.broadcasting import shape_op
from treadle_ops.called_function import subject
from treadle_ops.joining import unstack_op
from treadle_ops.shaping import reshape_op, transpose_op

Padding = str | tuple[tuple[int, int], ...]

_LAST = ("NWC", "NHWC", "NDHWC")
_FIRST = ("NCW", "NCHW", "NCDHW")


# ---------------------------------------------------------------------- layouts


def is_channels_first(data_format: Any, rank: int) -> bool:
    """Whether a data format puts channels before ``rank`` spatial axes; None puts them last.

    Raises:
        InvalidArgumentError: it is not the name of a format with so many spatial axes.
    """
    if data_format is None or data_format == _LAST[rank - 1] or (rank == 1 and data_format == "NHWC"):
        return False
    if data_format == _FIRST[rank - 1] or (rank == 1 and data_format == "NCHW"):
        return True
    raise InvalidArgumentError(f"{subject()}data_format {data_format!r} is not known; expected {_LAST[rank - 1]!r} or {_FIRST[rank - 1]!r}")


def is_first(data_format: str | None) -> bool:
    """Whether a data format, of whatever rank, names the channels before the spatial axes."""
    return data_format is not None and data_format.startswith("NC")


def channels_last(x: Any, rank: int) -> Any:
    """A tensor with channels first as one with channels last."""
    return transpose_op(x, perm=(0, *range(2, rank + 2), 1))


def channels_first(x: Any, rank: int) -> Any:
    """A tensor with channels last as one with channels first."""
    return transpose_op(x, perm=(0, rank + 1, *range(1, rank + 1)))


def over_batches(x: Any, rank: int, function: Any) -> Any:
    """``function`` of a tensor with one batch axis, for a tensor with more of them: they are merged before and split again after."""
    dims = x.dims
    if dims is None or len(dims) <= rank + 2:
        return function(x)
    lead = len(dims) - rank - 1
    sizes = sizes_of(x, len(dims))
    result = function(reshape_op(x, as_shape([-1, *sizes[lead:]])))
    return reshape_op(result, as_shape([*sizes[:lead], *sizes_of(result, rank + 2)[1:]]))


def sizes_of(x: Any, rank: int) -> list[Any]:
    """The sizes of the axes of a tensor of that rank, each an int where it is known and else a scalar tensor."""
    dims = x.dims
    if dims is not None and all(type(d) is int for d in dims):
        return list(dims)
    scalars = unstack_op(shape_op(x, out_type=int32), num=rank, axis=0)
    return scalars if dims is None else [d if type(d) is int else s for d, s in zip(dims, scalars, strict=True)]


def as_shape(sizes: Sequence[Any]) -> Any:
    """Sizes as a host input wants them: a tuple of ints, or a list with tensors in it."""
    return tuple(sizes) if all(type(s) is int for s in sizes) else list(sizes)


def full_shape(shape: Any, rank: int, first: bool, x: Any, filters: Any) -> Any:
    """The ``output_shape`` of a transposed convolution of ``x``, channels last; batch and channels may be left out of it.

    Raises:
        InvalidArgumentError: it has another number of sizes.
    """
    wanted = shape_argument(shape)
    if isinstance(wanted, Tensor):
        if wanted.dims is not None and len(wanted.dims) != 1:
            raise InvalidArgumentError(f"{subject()}output_shape has shape {wanted.shape}; it must be a vector of {rank + 2} sizes")
        count = wanted.dims[0] if wanted.dims is not None and type(wanted.dims[0]) is int else rank + 2
        if not first and count == rank + 2:
            return wanted
        wanted = unstack_op(wanted, num=count, axis=0)
    if len(wanted) == rank:
        return as_shape([sizes_of(x, rank + 2)[0], *wanted, sizes_of(filters, rank + 2)[-2]])
    if len(wanted) != rank + 2:
        raise InvalidArgumentError(f"{subject()}output_shape has {len(wanted)} sizes; expected {rank + 2}, in the order of the data format")
    return as_shape([wanted[0], *wanted[2:], wanted[1]] if first else wanted)


# ---------------------------------------------------------------------- one number per axis


def attributes(rank: int, first: bool, strides: Any, padding: Any, dilations: Any, what: str = "strides") -> dict[str, Any]:
    """The attributes of a convolution from TensorFlow's arguments; ``first``: channels come before the spatial axes.

    Raises:
        InvalidArgumentError: one is not valid.
        UnimplementedError: the batch or the channels are to be strode over too.
    """
    return {
        "strides": per_axis(strides, rank, first, what),
        "padding": padding_argument(padding, rank, first),
        "dilations": per_axis(dilations, rank, first, "dilations"),
    }


def per_axis(values: Any, rank: int, first: bool, what: str) -> tuple[int, ...]:
    """Strides, dilations or sizes of a window, one per spatial axis, from an int or a list of 1, ``rank`` or ``rank + 2`` of them.

    Raises:
        InvalidArgumentError: their number is another one, or one is less than 1.
        UnimplementedError: the batch or the channels are to be strode over too.
    """
    if type(values) is int and values > 0:
        return (values,) * rank
    every = every_axis(values, rank, first, what)
    if every[0] != 1 or every[-1] != 1:
        raise UnimplementedError(
            f"{subject()}{what} {values} has other numbers than 1 for the batch or the channels; only spatial axes can have them"
        )
    return every[1:-1]


def every_axis(values: Any, rank: int, first: bool, what: str) -> tuple[int, ...]:
    """The same with the numbers for the batch in front and for the channels at the end."""
    given = (1,) if values is None else values.as_list() if isinstance(values, TensorShape) else static_value(values, what)
    given = tuple(given) if isinstance(given, list | tuple) else (given,)
    try:
        numbers = tuple(operator.index(v) for v in given)
    except TypeError as error:
        raise InvalidArgumentError(f"{subject()}{what} {values} must be integers") from error
    if any(n < 1 for n in numbers):
        raise InvalidArgumentError(f"{subject()}{what} {list(numbers)} must all be greater than 0")
    if len(numbers) == 1:
        numbers *= rank
    if len(numbers) == rank:
        return (1, *numbers, 1)
    if len(numbers) != rank + 2:
        raise InvalidArgumentError(f"{subject()}{what} should be of length 1, {rank} or {rank + 2}, but has {len(numbers)} numbers: {list(numbers)}")
    return (numbers[0], *numbers[2:], numbers[1]) if first else numbers


def padding_argument(padding: Any, rank: int, first: bool, explicit: bool = True) -> Padding:
    """``"SAME"``, ``"VALID"``, or pairs for the spatial axes out of pairs for all axes.

    Raises:
        InvalidArgumentError: it is something else, or pads the batch or the channels.
    """
    if type(padding) is str and padding in ("SAME", "VALID"):
        return padding
    if isinstance(padding, list | tuple) and explicit:
        pairs = host_value(padding)
        if len(pairs) != rank + 2 or any(not isinstance(p, tuple) or len(p) != 2 for p in pairs):
            raise InvalidArgumentError(f"explicit padding must be {rank + 2} pairs [before, after], one per axis of the input, got {padding}")
        spatial = pairs[2:] if first else pairs[1:-1]
        outer = (pairs[0], pairs[1] if first else pairs[-1])
        if any(n < 0 for pair in pairs for n in pair):
            raise InvalidArgumentError(f"explicit padding {padding} has negative numbers; they must be 0 or more")
        if any(n for pair in outer for n in pair):
            raise InvalidArgumentError(f"explicit padding {padding} pads the batch or the channels; only spatial axes can be padded")
        return tuple((int(a), int(b)) for a, b in spatial)
    allowed = "'SAME', 'VALID' or a list of pairs" if explicit else "'SAME' or 'VALID'"
    raise InvalidArgumentError(f"{subject()}padding {padding!r} is not known; expected {allowed}")


def flat_padding(padding: str, explicit_paddings: Any, rank: int, first: bool) -> Padding:
    """The padding of TensorFlow's raw ops, which give ``"EXPLICIT"`` pairs as a flat list."""
    if padding != "EXPLICIT":
        if explicit_paddings:
            raise InvalidArgumentError(f"explicit_paddings are given, but padding is {padding!r}; use padding='EXPLICIT' or leave them out")
        return padding_argument(padding, rank, first, explicit=False)
    flat = list(explicit_paddings)
    if len(flat) != 2 * (rank + 2):
        raise InvalidArgumentError(f"explicit_paddings must be {2 * (rank + 2)} numbers, two per axis of the input, got {len(flat)}")
    return padding_argument([flat[i : i + 2] for i in range(0, len(flat), 2)], rank, first)


# ---------------------------------------------------------------------- sizes that come out


def window_counts(
    lengths: Sequence[Size], window: Sequence[Size], strides: tuple[int, ...], dilations: tuple[int, ...], padding: Padding
) -> tuple[Size, ...]:
    """How many windows there are along each spatial axis.

    Raises:
        ShapeError: a window is empty, or larger than what it slides over.
    """
    counts = []
    for axis, (size, length, stride, dilation) in enumerate(zip(lengths, window, strides, dilations, strict=True)):
        if isinstance(length, int) and length < 1:
            raise ShapeError(f"spatial axis {axis}: the window has size {length}; it needs at least one element")
        if padding == "SAME":
            counts.append((size + (stride - 1)) // stride)
            continue
        before, after = (0, 0) if isinstance(padding, str) else padding[axis]
        extent = (length - 1) * dilation + 1
        padded = size + (before + after)
        if isinstance(padded, int) and isinstance(extent, int) and padded < extent and extent > 1:
            dilated = f", dilated to {extent}," if dilation > 1 else ""
            raise ShapeError(
                f"spatial axis {axis}: the window of size {length}{dilated} is larger than the input of size {size} with padding {before} + {after}; "
                "use a smaller window, a larger input or padding='SAME'"
            )
        counts.append((padded - extent) // stride + 1)
    return tuple(counts)
