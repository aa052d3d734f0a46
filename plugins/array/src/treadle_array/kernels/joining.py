"""Putting tensors together and taking them apart along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.declare import kernel


@kernel("concat")
def concat(xp: Any) -> Any:
    """See the op."""

    def run(values: list[Any], *, axis: int) -> Any:
        return xp.concatenate(values, axis)

    return run


@kernel("stack")
def stack(xp: Any) -> Any:
    """See the op."""

    def run(values: list[Any], *, axis: int) -> Any:
        return xp.stack(values, axis)

    return run


@kernel("split")
def split(xp: Any) -> Any:
    """See the op."""

    def run(value: Any, sizes: tuple[int, ...], *, axis: int) -> Any:
        whole, given = value.shape[axis], sizes
        if -1 in sizes:
            left = whole - sum(sizes) - 1
            sizes = tuple(left if n == -1 else n for n in sizes)
        if min(sizes) < 0 or sum(sizes) != whole:
            raise ValueError(f"the sizes {given} do not add up to {whole}")
        return _pieces(xp, value, sizes, axis)

    return run


@kernel("split_evenly")
def split_evenly(xp: Any) -> Any:
    """See the op."""

    def run(value: Any, *, num: int, axis: int) -> Any:
        whole = value.shape[axis]
        if num < 1 or whole % num:
            raise ValueError(f"size {whole} is not a multiple of {num}")
        return _pieces(xp, value, (whole // num,) * num, axis)

    return run


def _pieces(xp: Any, value: Any, sizes: Sequence[int], axis: int) -> list[Any]:
    pieces, start, lead = [], 0, (slice(None),) * (axis % value.ndim)
    for size in sizes:
        pieces.append(xp.ascontiguousarray(value[(*lead, slice(start, start + size))]))
        start += size
    return pieces


@kernel("unstack")
def unstack(xp: Any) -> Any:
    """See the op; the axis is moved to the front once, and the slices are views of that."""

    def run(value: Any, *, num: int, axis: int) -> Any:
        if value.shape[axis] != num:
            raise ValueError(f"axis {axis} has size {value.shape[axis]}, and num is {num}")
        moved = xp.ascontiguousarray(xp.moveaxis(value, axis, 0)) if axis else value
        return list(moved) if moved.ndim > 1 else [moved[i, ...] for i in range(num)]

    return run
