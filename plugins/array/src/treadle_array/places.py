"""Indices and coordinates as places in a flat array, checked."""

from __future__ import annotations

import math
from typing import Any

from treadle.errors import IndexOutOfRangeError

_UNSIGNED = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}


def reaches_out(index: Any, size: int) -> bool:
    """True if one of the integers is not in ``[0, size)``."""
    if not index.size:
        return False
    flat = index.reshape(-1)
    if flat.dtype.kind == "i" and size <= 1 << (8 * flat.itemsize - 1):
        flat = flat.view(_UNSIGNED[flat.itemsize])  # negative numbers are the largest ones so
        return int(flat[flat.argmax()]) >= size
    return bool(flat[flat.argmin()] < 0 or flat[flat.argmax()] >= size)


def require_in_range(index: Any, size: int) -> None:
    """Refuse an index outside ``[0, size)``.

    Raises:
        IndexOutOfRangeError: the first such index is named.
    """
    if reaches_out(index, size):
        bad = ((index < 0) | (index >= size)).reshape(-1)
        place = int(bad.argmax())
        raise IndexOutOfRangeError(f"indices{_position(place, index.shape)} = {int(index.reshape(-1)[place])} is not in [0, {size})")


def _position(place: int, shape: tuple[int, ...]) -> str:
    """A place in a flat array as ``[i,j]``; nothing for a scalar."""
    position = []
    for size in reversed(shape):
        place, at = divmod(place, size)
        position.append(str(at))
    return f"[{','.join(reversed(position))}]" if shape else ""


def of_coordinates(xp: Any, indices: Any, shape: tuple[int, ...], ignore: bool) -> tuple[Any, Any]:
    """The places in a flat array of ``shape`` that coordinates point to, and a mask of those to pass over.

    Args:
        xp: the array module.
        indices: ``(..., len(shape))``, integers.
        shape: of what the coordinates point into.
        ignore: pass over coordinates out of range; their places are 0.

    Returns:
        ``(M,)`` int32 if the indices are so and it is wide enough, else int64; and ``(M,)`` bool or None.

    Raises:
        IndexOutOfRangeError: a coordinate is out of range; it is named.
    """
    rows = indices.reshape(math.prod(indices.shape[:-1]), len(shape))
    places, bad = None, None
    fits = max(*shape, math.prod(shape), 1) < 1 << 31
    dtype = xp.int32 if fits and indices.dtype == xp.int32 else xp.int64
    for k, size in enumerate(shape):
        column = rows[:, k].astype(dtype)
        if reaches_out(column, size):
            wrong = (column < 0) | (column >= size)
            bad = wrong if bad is None else bad | wrong
        if places is None:
            places = column
        else:
            places *= size
            places += column
    if places is None:
        places = xp.zeros(rows.shape[0], xp.int64)
    if bad is None:
        return places, None
    if not ignore:
        place = int(bad.argmax())
        position = _position(place, indices.shape[:-1])
        raise IndexOutOfRangeError(f"indices{position} = {rows[place].tolist()} does not index into shape {list(shape)}")
    return xp.where(bad, 0, places), bad


def with_axis(axis: int, rank: int) -> int:
    """An axis counted from the front.

    Raises:
        ValueError: it is out of range.
    """
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for rank {rank}")
    return axis % rank
