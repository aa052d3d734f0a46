"""Tensors repeated, and sums over the repetitions."""

from __future__ import annotations

from math import prod
from typing import Any

from treadle.declare import kernel
from treadle_array.places import with_axis

_SHORT = 64
"""Elements in a row below which a copy row by row costs more than the copy."""


@kernel("tile")
def tile(xp: Any) -> Any:
    """See the op; every axis becomes two, of which the first is broadcast, unless that would copy many short rows."""

    def run(x: Any, multiples: tuple[int, ...]) -> Any:
        last = -1
        for axis, times in enumerate(multiples):
            if times != 1:
                last = axis
                if times < 0:
                    raise ValueError(f"multiples {multiples} have a negative number")
        if len(multiples) != x.ndim:
            raise ValueError(f"multiples {multiples} do not fit shape {x.shape}")
        if last < 0:
            return x
        if 1 < prod(x.shape[last:]) < _SHORT:
            return xp.tile(x, multiples)
        sources, targets, shape = [], [], []
        for size, times in zip(x.shape, multiples, strict=True):
            sources += [1, size]
            targets += [times, size]
            shape.append(times * size)
        result = xp.empty(tuple(shape), x.dtype)
        result.reshape(tuple(targets))[...] = x.reshape(tuple(sources))
        return result

    return run


@kernel("sum_tiles")
def sum_tiles(xp: Any) -> Any:
    """See the op; short floats are summed in float32."""
    total = _sum(xp)

    def run(x: Any, multiples: tuple[int, ...], shape: tuple[int, ...]) -> Any:
        if x.shape == shape:
            return x
        if not x.size:
            return xp.zeros(shape, x.dtype)
        apart = [n for pair in zip(multiples, shape, strict=True) for n in pair]
        return total(x.reshape(tuple(apart)), tuple(range(0, 2 * len(shape), 2)))

    return run


def _sum(xp: Any) -> Any:
    """A sum over axes in the dtype of the input, float32 for short floats in between."""

    def total(x: Any, axes: Any) -> Any:
        if x.dtype.itemsize == 2 and x.dtype.kind not in "iu":
            return xp.add.reduce(x.astype(xp.float32), axis=axes).astype(x.dtype)
        return xp.add.reduce(x, axis=axes, dtype=x.dtype)

    return total


@kernel("repeat")
def repeat(xp: Any) -> Any:
    """See the op; array modules refuse numbers that are negative or too few."""
    to_host = getattr(xp, "asnumpy", None)

    def run(x: Any, repeats: Any, *, axis: int) -> Any:
        return xp.repeat(x, repeats if to_host is None else to_host(repeats).tolist(), with_axis(axis, x.ndim))

    return run


@kernel("sum_repeats")
def sum_repeats(xp: Any) -> Any:
    """See the op; runs of one length are summed at once, others from start to start of those that are not empty."""
    total = _sum(xp)

    def run(x: Any, repeats: Any, shape: tuple[int, ...], *, axis: int) -> Any:
        at = axis % len(shape)
        if not x.size:
            return xp.zeros(shape, x.dtype)
        if repeats.size == 1:
            return total(x.reshape((*shape[: at + 1], int(repeats.reshape(())), *shape[at + 1 :])), at + 1)
        filled = xp.flatnonzero(repeats)
        starts = (xp.cumsum(repeats, dtype=xp.int64) - repeats)[filled]
        wide = x.astype(xp.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x
        result = xp.zeros(shape, x.dtype)
        result[(slice(None),) * at + (filled,)] = xp.add.reduceat(wide, starts, at, wide.dtype).astype(x.dtype, copy=False)
        return result

    return run
