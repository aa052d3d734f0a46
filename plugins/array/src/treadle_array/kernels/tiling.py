"""Tensors repeated, and sums over the repetitions."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


@kernel("tile")
def tile(xp: Any) -> Any:
    """See the op; every axis becomes two, of which the first is broadcast."""

    def run(x: Any, multiples: tuple[int, ...]) -> Any:
        _require_multiples(x, multiples)
        if all(n == 1 for n in multiples):
            return x
        sources, targets, shape = [], [], []
        for size, times in zip(x.shape, multiples, strict=True):
            sources += [1, size]
            targets += [times, size]
            shape.append(times * size)
        result = xp.empty(tuple(shape), x.dtype)
        result.reshape(tuple(targets))[...] = x.reshape(tuple(sources))
        return result

    return run


def _require_multiples(x: Any, multiples: tuple[int, ...]) -> None:
    if len(multiples) != x.ndim or min(multiples, default=0) < 0:
        raise ValueError(f"multiples {multiples} do not fit shape {x.shape}")


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
    """See the op."""
    to_host = getattr(xp, "asnumpy", None)

    def run(x: Any, repeats: Any, *, axis: int) -> Any:
        _require_repeats(x, repeats, axis)
        if repeats.size == 1:
            return xp.repeat(x, int(repeats.reshape(())), axis)
        return xp.repeat(x, repeats if to_host is None else to_host(repeats).tolist(), axis)

    return run


def _require_repeats(x: Any, repeats: Any, axis: int) -> None:
    if repeats.ndim > 1 or (repeats.size != 1 and repeats.size != x.shape[axis]):
        raise ValueError(f"repeats of shape {repeats.shape} do not fit axis {axis} of shape {x.shape}")
    if repeats.size and int(repeats.min()) < 0:
        raise ValueError("repeats has a negative number")


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
        is_filled = repeats > 0
        starts = (xp.cumsum(repeats, dtype=xp.int64) - repeats)[is_filled]
        wide = x.astype(xp.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x
        result = xp.zeros(shape, x.dtype)
        result[(slice(None),) * at + (is_filled,)] = xp.add.reduceat(wide, starts, at, wide.dtype).astype(x.dtype, copy=False)
        return result

    return run
