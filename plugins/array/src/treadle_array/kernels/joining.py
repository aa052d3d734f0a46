"""Putting tensors together and taking them apart along an axis."""

from __future__ import annotations

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
        return xp.ascontiguousarray(xp.stack(values, axis))

    return run


@kernel("split")
def split(xp: Any) -> Any:
    """See the op."""

    def run(value: Any, *, sizes: tuple[int, ...], axis: int) -> Any:
        if sum(sizes) != value.shape[axis]:
            raise ValueError(f"the sizes {sizes} do not add up to {value.shape[axis]}")
        pieces, start, lead = [], 0, (slice(None),) * (axis % value.ndim)
        for size in sizes:
            pieces.append(xp.ascontiguousarray(value[(*lead, slice(start, start + size))]))
            start += size
        return pieces

    return run


@kernel("unstack")
def unstack(xp: Any) -> Any:
    """See the op."""

    def run(value: Any, *, num: int, axis: int) -> Any:
        if value.shape[axis] != num:
            raise ValueError(f"axis {axis} has size {value.shape[axis]}, and num is {num}")
        moved = xp.moveaxis(value, axis, 0)
        return [xp.ascontiguousarray(moved[i]).reshape(moved.shape[1:]) for i in range(num)]

    return run
