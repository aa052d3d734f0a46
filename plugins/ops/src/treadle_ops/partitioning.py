"""Rows sorted into several tensors by a number each, and put together again: dynamic_partition and dynamic_stitch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, IndexSpec, gradient, op, public
from treadle.dims import Dim
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import list_argument, static_integer
from treadle_ops.broadcasting import shape_of
from treadle_ops.gathering import gather_op
from treadle_ops.inference import INTEGER, dims_of_value, require_kind, same_dtype
from treadle_ops.known import known


@op("dynamic_partition", can_fail=True)
def dynamic_partition_op(data: Spec, partitions: IndexSpec, *, num_partitions: int) -> list[Spec]:
    """The rows of ``data`` for each number from 0 on, in order."""
    require_kind(partitions, INTEGER, "partitions")
    if num_partitions < 1:
        raise InvalidArgumentError(f"num_partitions is {num_partitions}; it must be 1 or more")
    if data.dims is None or partitions.dims is None:
        return [Spec(None, data.dtype) for _ in range(num_partitions)]
    rank = len(partitions.dims)
    if len(data.dims) < rank or any(sizes.known_different(a, b) for a, b in zip(data.dims[:rank], partitions.dims, strict=True)):
        raise ShapeError(f"data of shape {data.shape} must begin with the shape {partitions.shape} of the partitions")
    return [Spec((Dim.symbol(), *data.dims[rank:]), data.dtype) for _ in range(num_partitions)]


@op("dynamic_partition_grad", can_fail=True)
def dynamic_partition_grad(partitions: IndexSpec, pieces: Sequence[Spec], shape: HostSpec) -> Spec:
    """What dynamic_partition took apart, put together again."""
    return Spec(dims_of_value(shape), same_dtype(*pieces))


@gradient(dynamic_partition_op)
def _(ctx: Any, *gs: Any) -> Any:
    data, partitions = ctx.inputs
    return dynamic_partition_grad(partitions, list(gs), shape_of(data)), None


@gradient(dynamic_partition_grad)
def _(ctx: Any, g: Any) -> Any:
    partitions, pieces, _ = ctx.inputs
    return None, dynamic_partition_op(g, partitions, num_partitions=len(pieces)), None


@public("dynamic_partition")
def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> Any:
    """Sort the rows of a tensor into several tensors.

    Args:
        data: any shape that begins with that of ``partitions``, any dtype.
        partitions: any shape, integers in ``[0, num_partitions)``: where each row goes.
        num_partitions: how many tensors there are, 1 or more.
        name: ignored.

    Returns:
        A list of ``num_partitions`` tensors ``(n_i, *data.shape[partitions.ndim:])`` of the dtype of ``data``; rows keep their order.

    Raises:
        IndexOutOfRangeError: one of ``partitions`` is out of range.
        ShapeError: ``data`` does not begin with the shape of ``partitions``.
        DTypeError: ``partitions`` are no integers.

    Sources:
        TensorFlow ``tf.dynamic_partition``.
    """
    return dynamic_partition_op(data, partitions, num_partitions=static_integer(num_partitions, "num_partitions"))


@op("dynamic_stitch", can_fail=True)
def dynamic_stitch_op(indices: Sequence[IndexSpec], data: Sequence[Spec]) -> Spec:
    """Rows put in the places that the indices say; of several for one place the last stands, and places without a row are zeros."""
    if not indices or len(indices) != len(data):
        raise InvalidArgumentError(
            f"dynamic_stitch needs as many tensors of data as of indices, and at least one; got {len(data)} and {len(indices)}"
        )
    dtype = same_dtype(*data)
    rest = None
    for index, rows in zip(indices, data, strict=True):
        require_kind(index, INTEGER, "indices")
        if index.dims is None or rows.dims is None:
            continue
        rank = len(index.dims)
        if len(rows.dims) < rank or any(sizes.known_different(a, b) for a, b in zip(index.dims, rows.dims[:rank], strict=True)):
            raise ShapeError(f"data of shape {rows.shape} must begin with the shape {index.shape} of its indices")
        inner = rows.dims[rank:]
        if rest is not None and (len(rest) != len(inner) or any(sizes.known_different(a, b) for a, b in zip(rest, inner, strict=True))):
            shapes = f"{Spec(rest, dtype).shape} and {Spec(inner, dtype).shape}"
            raise ShapeError(f"after the shapes of their indices the data have the shapes {shapes}; they must agree")
        rest = inner if rest is None else tuple(sizes.unify(a, b, "dynamic_stitch") for a, b in zip(rest, inner, strict=True))
    return Spec(None if rest is None else (_stitched_size(indices), *rest), dtype)


def _stitched_size(indices: Sequence[Spec]) -> Any:
    """One more than the greatest index where all are known."""
    values = [known(index) for index in indices]
    numbers = [number for value in values if value is not None for number in value.flat]
    if any(value is None for value in values) or not all(isinstance(number, int) for number in numbers):
        return Dim.symbol()
    return max(numbers, default=-1) + 1


@gradient(dynamic_stitch_op)
def _(ctx: Any, g: Any) -> Any:
    return None, [gather_op(g, index, axis=0, batch_dims=0) for index in ctx.inputs[0]]


@public("dynamic_stitch")
def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Any:
    """Put the rows of several tensors together: ``result[indices[m][i]] = data[m][i]``.

    Args:
        indices: a list of tensors of any shapes, integers of 0 or more.
        data: as many tensors of one dtype, whose shapes begin with those of the indices and agree after that.
        name: ignored.

    Returns:
        ``(greatest index + 1, ...)`` of the dtype of ``data``. Where an index repeats, the last row stands; where none points, there are zeros.

    Raises:
        IndexOutOfRangeError: an index is negative.
        ShapeError: the shapes do not fit.

    Sources:
        TensorFlow ``tf.dynamic_stitch``.
    """
    return dynamic_stitch_op(list_argument(indices, "indices"), list_argument(data, "data"))
