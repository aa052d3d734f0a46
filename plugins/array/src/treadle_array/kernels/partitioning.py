"""Rows sorted into several tensors by a number each, and put together again."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle.errors import IndexOutOfRangeError
from treadle_array.places import reaches_out, require_in_range


def _numbers(partitions: Any, count: int, shape: tuple[int, ...]) -> tuple[Any, tuple[int, int]]:
    """The flat numbers, checked, and the shape of the data as a matrix of rows."""
    require_in_range(partitions, count)
    rank = partitions.ndim
    if shape[:rank] != partitions.shape:
        raise ValueError(f"data of shape {shape} must begin with the shape {partitions.shape} of the partitions")
    return partitions.reshape(-1), (partitions.size, math.prod(shape[rank:]))


@kernel("dynamic_partition")
def dynamic_partition(xp: Any) -> Any:
    """See the op."""

    def run(data: Any, partitions: Any, *, num_partitions: int) -> Any:
        numbers, matrix = _numbers(partitions, num_partitions, data.shape)
        rows = data.reshape(matrix)
        rest = data.shape[partitions.ndim :]
        pieces = (rows.take((numbers == i).nonzero()[0], 0) for i in range(num_partitions))
        return [piece.reshape((piece.shape[0], *rest)) for piece in pieces]

    return run


@kernel("dynamic_partition_grad")
def dynamic_partition_grad(xp: Any) -> Any:
    """See the op."""

    def run(partitions: Any, pieces: list[Any], shape: tuple[int, ...]) -> Any:
        numbers, matrix = _numbers(partitions, len(pieces), shape)
        result = xp.empty(matrix, pieces[0].dtype)
        for i, piece in enumerate(pieces):
            result[(numbers == i).nonzero()[0]] = piece.reshape(piece.shape[0], matrix[1])
        return result.reshape(shape)

    return run


@kernel("dynamic_stitch")
def dynamic_stitch(xp: Any) -> Any:
    """See the op."""

    def run(indices: list[Any], data: list[Any]) -> Any:
        if len(indices) != len(data):
            raise ValueError(f"{len(data)} tensors of data were given for {len(indices)} of indices")
        rest = data[0].shape[indices[0].ndim :]
        for index, rows in zip(indices, data, strict=True):
            if rows.shape != (*index.shape, *rest):
                raise ValueError(f"data of shape {rows.shape} do not fit indices of shape {index.shape} with {rest} after it")
        count = max((int(index.max()) for index in indices if index.size), default=-1) + 1
        result = xp.zeros((count, *rest), data[0].dtype)
        for index, rows in zip(indices, data, strict=True):
            if reaches_out(index, count):
                raise IndexOutOfRangeError(f"an index is {int(index.min())}; indices must be 0 or more")
            result[index.reshape(-1)] = rows.reshape((index.size, *rest))
        return result

    return run
