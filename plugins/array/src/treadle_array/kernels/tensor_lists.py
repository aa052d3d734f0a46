"""Lists of tensors: dictionaries from positions to buffers, which are handed on as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treadle.contracts.lists import BufferList
from treadle.declare import kernel
from treadle.dtypes import DType
from treadle.errors import IndexOutOfRangeError, InvalidArgumentError, OutOfRangeError, ShapeError


class PositionError(IndexOutOfRangeError, OutOfRangeError):
    """A list has no such position. TensorFlow raises OutOfRangeError eagerly and InvalidArgumentError while tracing."""


def _check_position(index: int, size: int, grow: bool = False) -> None:
    if index < 0 or (index >= size and not grow):
        hint = "" if index < 0 else "; give the TensorArray that size, or dynamic_size=True"
        raise PositionError(f"index {index} is out of range for an array of size {size}{hint}")


def _is_known(shape: Any) -> bool:
    return shape is not None and -1 not in shape


def _element_shape(items: dict[int, Any], wanted: Any) -> tuple[int, ...]:
    """The shape that zeros for a missing tensor have."""
    if _is_known(wanted):
        return wanted
    for buffer in items.values():
        return buffer.shape
    raise InvalidArgumentError(
        "nothing was written to the array, and its element_shape is not known. A TensorArray is not changed in place: "
        "write `ta = ta.write(index, value)`, or give it an element_shape to read zeros"
    )


def _lookup(xp: Any, items: dict[int, Any], wanted: Any, dtype: DType) -> Callable[[int], Any]:
    """The buffer at a position, zeros where there is none; the zeros are made once."""
    found: list[Any] = []

    def at(position: int) -> Any:
        buffer = items.get(position)
        if buffer is None:
            if not found:
                found.append(xp.zeros(_element_shape(items, wanted), dtype.numpy))
            buffer = found[0]
        return buffer

    return at


def _zeros_like(xp: Any, buffer: Any) -> Any:
    return BufferList({}, 0) if isinstance(buffer, BufferList) else xp.zeros(buffer.shape, buffer.dtype)


def _tail(shape: Any) -> Any:
    """The shape of one element of a result, or None."""
    return shape[1:] if isinstance(shape, tuple) else None


def _require_alike(buffers: list[Any]) -> None:
    first = buffers[0].shape
    for buffer in buffers:
        if buffer.shape != first:
            raise ShapeError(f"the array holds tensors of the shapes {first} and {buffer.shape}; they must be equal to be stacked")


def _stack(xp: Any, buffers: list[Any], items: dict[int, Any], shape: Any, dtype: DType) -> Any:
    if not buffers:
        return xp.zeros((0, *_element_shape(items, _tail(shape))), dtype.numpy)
    _require_alike(buffers)
    return xp.stack(buffers)


def _rows(value: Any) -> list[Any]:
    """The slices along the first axis, as views."""
    return list(value) if value.ndim > 1 else [value[i, ...] for i in range(value.shape[0])]


def _positions(indices: Any) -> tuple[int, ...]:
    return indices if isinstance(indices, tuple) else (indices,)


@kernel("tensor_list_reserve")
def reserve(xp: Any) -> Any:
    """See the op."""

    def run(size: int, *, dtype: DType) -> Any:
        if size < 0:
            raise InvalidArgumentError(f"the size of a TensorArray is {size}; it must be 0 or more")
        return BufferList({}, size)

    return run


@kernel("tensor_list_from_tensor")
def from_tensor(xp: Any) -> Any:
    """See the op."""

    def run(value: Any) -> Any:
        rows = _rows(value)
        return BufferList(dict(enumerate(rows)), len(rows))

    return run


@kernel("tensor_list_split")
def split(xp: Any) -> Any:
    """See the op."""

    def run(value: Any, lengths: tuple[int, ...]) -> Any:
        if min(lengths, default=0) < 0:
            raise InvalidArgumentError(f"the lengths {list(lengths)} must be 0 or more")
        if sum(lengths) != value.shape[0]:
            raise InvalidArgumentError(f"the lengths {list(lengths)} add up to {sum(lengths)}; the first axis has size {value.shape[0]}")
        items, start = {}, 0
        for i, length in enumerate(lengths):
            items[i] = value[start : start + length]
            start += length
        return BufferList(items, len(lengths))

    return run


@kernel("tensor_list_set_item")
def set_item(xp: Any) -> Any:
    """See the op."""

    def run(input: BufferList, index: int, value: Any, *, grow: bool) -> Any:
        size = input.size
        if not 0 <= index < size:
            _check_position(index, size, grow)
            size = index + 1
        items = input.items.copy()
        items[index] = value
        return BufferList(items, size)

    return run


@kernel("tensor_list_get_item")
def get_item(xp: Any) -> Any:
    """See the op."""

    def run(input: BufferList, index: int, shape: Any, *, dtype: DType, strict: bool) -> Any:
        buffer = input.items.get(index)
        if buffer is not None:
            return buffer
        if strict:
            _check_position(index, input.size)
        return xp.zeros(_element_shape(input.items, shape if isinstance(shape, tuple) else None), dtype.numpy)

    return run


@kernel("tensor_list_clear")
def clear(xp: Any) -> Any:
    """See the op."""

    def run(input: BufferList, indices: Any) -> Any:
        items = input.items.copy()
        for index in _positions(indices):
            items.pop(index, None)
        return BufferList(items, input.size)

    return run


@kernel("tensor_list_stack")
def stack(xp: Any) -> Any:
    """See the op."""

    def run(input: BufferList, shape: Any, *, dtype: DType, strict: bool, made_by: str = "") -> Any:
        count = input.size
        if made_by and not input.items and not _is_known(_tail(shape)):
            raise InvalidArgumentError(
                f"{made_by}: elems has no rows, and the shape of what the function gives is not known; say it in fn_output_signature"
            )
        if isinstance(shape, tuple) and shape[0] != -1:
            if strict and shape[0] != count:
                raise InvalidArgumentError(f"the array has size {count}, and {shape[0]} was expected")
            count = shape[0]
        at = _lookup(xp, input.items, _tail(shape), dtype)
        return _stack(xp, [at(i) for i in range(count)], input.items, shape, dtype)

    return run


@kernel("tensor_list_gather")
def gather(xp: Any) -> Any:
    """See the op."""

    def run(input: BufferList, indices: tuple[int, ...], shape: Any, *, dtype: DType, strict: bool, last_only: bool = False) -> Any:
        items = input.items
        if strict:
            for index in indices:
                _check_position(index, input.size)
        at = _lookup(xp, items, _tail(shape), dtype)
        wanted: Any = indices
        if last_only:
            last = {index: k for k, index in enumerate(indices)}
            wanted = [index if last[index] == k else -1 for k, index in enumerate(indices)]
        return _stack(xp, [at(i) for i in wanted], items, shape, dtype)

    return run


@kernel("tensor_list_scatter")
def scatter(xp: Any) -> Any:
    """See the op."""

    def run(input: BufferList, indices: tuple[int, ...], value: Any, *, grow: bool, accumulate: bool) -> Any:
        items, size = input.items.copy(), input.size
        if len(indices) != value.shape[0]:
            raise ShapeError(f"there are {len(indices)} indices for a value of shape {value.shape}; its first axis must have as many")
        for index, row in zip(indices, _rows(value), strict=True):
            _check_position(index, size, grow)
            items[index] = xp.asarray(xp.add(items[index], row)) if accumulate and index in items else row
            size = max(size, index + 1)
        return BufferList(items, size)

    return run


@kernel("tensor_list_concat")
def concat(xp: Any) -> Any:
    """See the op."""

    def run(input: BufferList, shape: Any, lengths: Any, *, dtype: DType) -> Any:
        items, tail = input.items, _tail(shape)
        if isinstance(lengths, tuple):
            pieces = [items[i] if i in items else xp.zeros((n, *tail), dtype.numpy) for i, n in enumerate(lengths)]
        else:
            at = _lookup(xp, items, None, dtype)
            pieces = [at(i) for i in range(input.size)]
        if any(not piece.ndim for piece in pieces):
            raise ShapeError("the array holds scalars, which have no axis to join along; use stack()")
        sizes = xp.asarray(np.array([piece.shape[0] for piece in pieces], np.int64))
        if not pieces:
            return xp.zeros((0, *_element_shape(items, tail)), dtype.numpy), sizes
        return xp.concatenate(pieces), sizes

    return run


@kernel("tensor_list_length")
def length(xp: Any) -> Any:
    """See the op."""

    def run(input: BufferList) -> Any:
        return xp.array(input.size, xp.int32)

    return run


@kernel("tensor_list_add")
def add(xp: Any) -> Any:
    """See the op; tensors of lists may be lists."""

    def run(x: Any, y: Any) -> Any:
        if not isinstance(x, BufferList):
            return xp.asarray(xp.add(x, y))
        large, small = (x, y) if len(x.items) >= len(y.items) else (y, x)
        items = large.items.copy()
        for position, buffer in small.items.items():
            there = items.get(position)
            items[position] = buffer if there is None else run(there, buffer)
        return BufferList(items, max(x.size, y.size))

    return run


@kernel("tensor_list_fill")
def fill(xp: Any) -> Any:
    """See the op."""

    def run(input: BufferList, like: BufferList) -> Any:
        items = input.items
        if items.keys() >= like.items.keys():
            return input
        missing = {i: _zeros_like(xp, buffer) for i, buffer in like.items.items() if i not in items}
        return BufferList({**items, **missing}, max(input.size, like.size))

    return run
