"""Tensors made larger at their ends, and smaller again."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel

Paddings = tuple[tuple[int, int], ...]


def _pads_anything(x: Any, paddings: Paddings) -> bool:
    """Whether any element is added or cut; refuses paddings that do not fit."""
    if len(paddings) != x.ndim:
        raise ValueError(f"paddings {paddings} do not fit shape {x.shape}")
    needed = False
    for before, after in paddings:
        if before < 0 or after < 0:
            raise ValueError(f"paddings {paddings} have a negative number")
        needed = needed or before > 0 or after > 0
    return needed


def _padded(x: Any, paddings: Paddings) -> tuple[int, ...]:
    return tuple(before + size + after for size, (before, after) in zip(x.shape, paddings, strict=True))


def _inner(sizes: tuple[int, ...], paddings: Paddings) -> tuple[slice, ...]:
    """Where what was padded lies in a padded buffer."""
    return tuple(slice(before, size - after) for size, (before, after) in zip(sizes, paddings, strict=True))


@kernel("pad")
def pad(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, paddings: Paddings) -> Any:
        if not _pads_anything(x, paddings):
            return x
        result = xp.zeros(_padded(x, paddings), x.dtype)
        result[_inner(result.shape, paddings)] = x
        return result

    return run


@kernel("pad_with")
def pad_with(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, paddings: Paddings, value: Any) -> Any:
        if value.ndim:
            raise ValueError(f"the value must be a scalar, not of shape {value.shape}")
        if not _pads_anything(x, paddings):
            return x
        result = xp.empty(_padded(x, paddings), x.dtype)
        result[...] = value
        result[_inner(result.shape, paddings)] = x
        return result

    return run


@kernel("crop")
def crop(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, paddings: Paddings) -> Any:
        if not _pads_anything(x, paddings):
            return x
        _require_enough(x, paddings)
        return xp.ascontiguousarray(x[_inner(x.shape, paddings)])

    return run


def _require_enough(x: Any, paddings: Paddings) -> None:
    if any(before + after > size for size, (before, after) in zip(x.shape, paddings, strict=True)):
        raise ValueError(f"paddings {paddings} are more than shape {x.shape} has")


def _require_mirrored(sizes: tuple[int, ...], paddings: Paddings, first: int) -> None:
    if any(max(pair) > max(size - first, 0) for size, pair in zip(sizes, paddings, strict=True)):
        raise ValueError(f"paddings {paddings} are too wide to mirror shape {sizes}")


def _mirrors(size: int, before: int, after: int, first: int) -> list[tuple[slice, slice]]:
    """The ends of an axis of which the inner ``size`` elements are mirrored, each beside the elements that it mirrors, backwards."""
    found = []
    end = before + size
    if before:
        found.append((slice(0, before), slice(before + first + before - 1, before + first - 1 if before + first else None, -1)))
    if after:
        last = end - first - after - 1
        found.append((slice(end, end + after), slice(end - first - 1, last if last >= 0 else None, -1)))
    return found


@kernel("mirror_pad")
def mirror_pad(xp: Any) -> Any:
    """See the op; axis by axis, the ends are copied from what is there already."""

    def run(x: Any, paddings: Paddings, *, mode: str) -> Any:
        if not _pads_anything(x, paddings):
            return x
        first = 1 if mode == "REFLECT" else 0
        _require_mirrored(x.shape, paddings, first)
        result = xp.empty(_padded(x, paddings), x.dtype)
        where = list(_inner(result.shape, paddings))
        result[tuple(where)] = x
        for axis, (before, after) in enumerate(paddings):
            for end, source in _mirrors(x.shape[axis], before, after, first):
                result[(*where[:axis], end, *where[axis + 1 :])] = result[(*where[:axis], source, *where[axis + 1 :])]
            where[axis] = slice(None)
        return result

    return run


@kernel("mirror_fold")
def mirror_fold(xp: Any) -> Any:
    """See the op; axis by axis, the ends are added to what they mirror, short floats in float32."""

    def run(x: Any, paddings: Paddings, *, mode: str) -> Any:
        if not _pads_anything(x, paddings):
            return x
        _require_enough(x, paddings)
        first = 1 if mode == "REFLECT" else 0
        _require_mirrored(tuple(n - a - b for n, (a, b) in zip(x.shape, paddings, strict=True)), paddings, first)
        is_short = x.dtype.itemsize == 2 and x.dtype.kind not in "iu"
        sums = x.astype(xp.float32) if is_short else x.copy()
        for axis, (before, after) in enumerate(paddings):
            lead = (slice(None),) * axis
            for end, target in _mirrors(x.shape[axis] - before - after, before, after, first):
                sums[(*lead, target)] += sums[(*lead, end)]
            sums = sums[(*lead, slice(before, sums.shape[axis] - after))]
        return xp.ascontiguousarray(sums.astype(x.dtype, copy=False))

    return run
