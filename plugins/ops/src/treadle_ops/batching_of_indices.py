"""Batching rules of ops that pick or put by indices: slices, gather and scatter, segments.

Where indices differ between elements, an element's number becomes one more batch axis, one more coordinate, or an offset.
"""

from __future__ import annotations

from typing import Any

from treadle.declare import batching
from treadle_ops.batch_operands import NotBatchedError, Operand, known_host, merged, moved, parted, prefixed, shifted, sizes_of
from treadle_ops.broadcasting import broadcast_to_op
from treadle_ops.casting import cast_op
from treadle_ops.comparison import less
from treadle_ops.coordinates import gather_nd_op
from treadle_ops.elementwise import add, multiply
from treadle_ops.gathering import gather_grad, gather_op
from treadle_ops.joining import concat_op
from treadle_ops.masking import where_op
from treadle_ops.ranges import range as range_of
from treadle_ops.selection import ELLIPSIS, UNKNOWN, is_static
from treadle_ops.shaping import expand_dims_op, reshape_op
from treadle_ops.slicing import strided_slice_grad, strided_slice_op

ALL = (None, None, 1)
"""The slice that leaves an axis as it is."""


def _positions(count: Any, dtype: Any) -> Any:
    """The numbers of the elements."""
    return cast_op(range_of(count), dtype=dtype)


# ---------------------------------------------------------------------- slices


@batching("strided_slice")
def _(op: Any, x: Operand, *, index: tuple[Any, ...]) -> Any:
    return op(x.batched(), index=(ALL, *index))


@batching("dynamic_strided_slice")
def _(op: Any, x: Operand, numbers: Operand, *, index: tuple[Any, ...]) -> Any:
    if not numbers.is_batched:
        return op(x.batched(), numbers.tensor, index=(ALL, *index))
    rest, places = _differing_ints(index)
    whole, is_batched = strided_slice_op(x.tensor, index=(ALL, *rest) if x.is_batched else rest), x.is_batched
    for number, place in reversed(list(enumerate(places))):
        axis = sum(isinstance(entry, tuple) for entry in rest[:place]) + is_batched
        at = _from_front(numbers, number, sizes_of(whole)[axis])
        at = expand_dims_op(at, axis=-1)
        whole = gather_nd_op(moved(whole, axis, int(is_batched)), at, batch_dims=int(is_batched), ignore=False)
        is_batched = True
    return whole


@batching("strided_slice_grad")
def _(op: Any, g: Operand, shape: Operand, numbers: Operand, *, index: tuple[Any, ...]) -> Any:
    wanted = known_host(shape.shared())
    if not numbers.is_batched:
        return op(g.batched(), prefixed(wanted, g.count), numbers.tensor, index=(ALL, *index))
    rest, places = _differing_ints(index)
    whole = g.batched()
    for number, place in enumerate(places):
        axis = sum(isinstance(entry, tuple) for entry in rest[:place]) + 1
        length = wanted[place] if isinstance(wanted, tuple) else strided_slice_op(wanted, index=(place,))
        count, *others = sizes_of(whole)
        whole = gather_grad(whole, _from_front(numbers, number, length), [count, length, *others], axis=1, batch_dims=1)
        whole = moved(whole, 1, axis)
    return strided_slice_grad(whole, prefixed(wanted, g.count), (), index=(ALL, *rest))


def _differing_ints(index: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int]]:
    """An index with whole axes in place of ints that are not known, and where these were."""
    if any(entry in (None, ELLIPSIS) or (isinstance(entry, tuple) and UNKNOWN in entry) for entry in index):
        raise NotBatchedError
    return tuple(ALL if entry == UNKNOWN else entry for entry in index), [i for i, entry in enumerate(index) if entry == UNKNOWN]


def _from_front(numbers: Operand, number: int, length: Any) -> Any:
    """One of the numbers of an index for every element, counted from the front of an axis."""
    at = strided_slice_op(numbers.tensor, index=(ALL, number))
    if hasattr(length, "dtype"):
        length = cast_op(length, dtype=at.dtype)
    return where_op(less(at, 0), add(at, length), at)


@batching("tensor_strided_slice_update")
def _(op: Any, x: Operand, numbers: Operand, value: Operand, *, index: tuple[Any, ...]) -> Any:
    if not value.is_batched:
        return op(x.batched(), numbers.shared(), value.tensor, index=(ALL, *index))
    if not is_static(index):
        raise NotBatchedError
    return op(x.batched(), (), value.of_rank(len(sizes_of(strided_slice_op(x.batched(), index=(ALL, *index)))) - 1), index=(ALL, *index))


@batching("slice")
def _(op: Any, x: Operand, begin: Operand, size: Operand) -> Any:
    if not begin.is_batched:
        return op(x.batched(), prefixed(begin.tensor, 0), prefixed(size.shared(), -1))
    sizes = known_host(size.shared())
    if not isinstance(sizes, tuple) or -1 in sizes:
        raise NotBatchedError
    result = x.batched()
    for axis, length in enumerate(sizes):
        first = strided_slice_op(begin.tensor, index=(ALL, (axis, axis + 1, 1)))
        result = gather_op(result, add(first, _positions(length, begin.dtype)), axis=axis + 1, batch_dims=1)
    return result


# ---------------------------------------------------------------------- gather and scatter


@batching("gather")
def _(op: Any, params: Operand, indices: Operand, *, axis: int, batch_dims: int) -> Any:
    rank = params.rank
    at, batch = axis % rank, batch_dims % max(indices.rank, 1) if batch_dims < 0 else batch_dims
    if batch:
        return op(params.batched(), indices.batched(), axis=at + 1, batch_dims=batch + 1)
    if not params.is_batched:
        return moved(op(params.tensor, indices.tensor, axis=at, batch_dims=0), at, 0)
    if not indices.is_batched:
        return op(params.tensor, indices.tensor, axis=at + 1, batch_dims=0)
    return op(params.tensor, indices.tensor, axis=at + 1, batch_dims=1)


@batching("gather_grad")
def _(op: Any, g: Operand, indices: Operand, shape: Operand, *, axis: int, batch_dims: int) -> Any:
    wanted = prefixed(shape.shared(), g.count)
    if batch_dims < 0:
        batch_dims += indices.rank
    return op(g.batched(), indices.batched(), wanted, axis=shifted(axis, lambda: g.rank), batch_dims=batch_dims + 1)


@batching("gather_nd")
def _(op: Any, params: Operand, indices: Operand, *, batch_dims: int, ignore: bool) -> Any:
    if not params.is_batched and not batch_dims:
        return op(params.tensor, indices.tensor, batch_dims=0, ignore=ignore)
    return op(params.batched(), indices.batched(), batch_dims=batch_dims + 1, ignore=ignore)


@batching("scatter_nd")
def _(op: Any, indices: Operand, updates: Operand, shape: Operand, *, batch_dims: int, ignore: bool) -> Any:
    return op(indices.batched(), updates.batched(), prefixed(shape.shared(), indices.count), batch_dims=batch_dims + 1, ignore=ignore)


@batching("tensor_scatter_nd_add", "tensor_scatter_nd_sub", "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_update")
def _(op: Any, tensor: Operand, indices: Operand, updates: Operand, **attrs: Any) -> Any:
    coordinates = indices.batched()
    count, *sizes, _ = sizes_of(coordinates)
    first = reshape_op(_positions(count, coordinates.dtype), [count, *[1] * len(sizes), 1])
    first = broadcast_to_op(first, [count, *sizes, 1])
    return op(tensor.batched(), concat_op([first, coordinates], axis=-1), updates.batched(), **attrs)


# ---------------------------------------------------------------------- segments


@batching("unsorted_segment_sum", "unsorted_segment_prod", "unsorted_segment_max", "unsorted_segment_min")
def _(op: Any, data: Operand, segment_ids: Operand, num_segments: Operand) -> Any:
    number = known_host(num_segments.shared())
    number = number[0] if isinstance(number, tuple) else number
    result = op(data.batched(), _of_elements(segment_ids, number), data.count * number)
    return parted(result, data.count, number)


@batching("segment_sizes")
def _(op: Any, segment_ids: Operand, num_segments: Operand, *, dtype: Any) -> Any:
    number = known_host(num_segments.shared())
    number = number[0] if isinstance(number, tuple) else number
    return parted(op(_of_elements(segment_ids, number), segment_ids.count * number, dtype=dtype), segment_ids.count, number)


@batching("segment_sum", "segment_prod", "segment_max", "segment_min", "segment_mean")
def _(op: Any, data: Operand, segment_ids: Operand) -> Any:
    return moved(op(moved(data.batched(), 0, 1), segment_ids.shared()), 0, 1)


@batching("take_segments")
def _(op: Any, g: Operand, segment_ids: Operand) -> Any:
    rows = g.batched()
    return op(merged(rows), _of_elements(segment_ids, sizes_of(rows)[1]))


def _of_elements(segment_ids: Operand, number: Any) -> Any:
    """Numbers of segments of which every element has so many of its own; negative ones stay."""
    ids = segment_ids.batched()
    own = _positions(segment_ids.count, ids.dtype)
    offset = multiply(own, cast_op(number, dtype=ids.dtype) if hasattr(number, "dtype") else number)
    for _ in range(segment_ids.rank):
        offset = expand_dims_op(offset, axis=-1)
    return where_op(less(ids, 0), ids, add(ids, offset))


@batching("bincount")
def _(op: Any, arr: Operand, weights: list[Operand], lengths: Operand, *, rows: bool, **attrs: Any) -> Any:
    if rows or weights or arr.rank != 1:
        return NotImplemented  # the weights of rows have no gradient
    return op(arr.batched(), [], lengths.shared(), rows=True, **attrs)
