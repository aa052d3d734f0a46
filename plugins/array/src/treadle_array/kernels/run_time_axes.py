"""Reductions over axes known only at run time: the axes moved to the end of a matrix, and back."""

from __future__ import annotations

import math
from typing import Any

from treadle.declare import kernel
from treadle_array.places import with_axis


@kernel("rows_of_axes")
def rows_of_axes(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, axis: Any, *, as_named: bool = False) -> Any:
        stay, gone = _apart(x.ndim, axis, as_named)
        height, width = (math.prod([x.shape[i] for i in axes]) for axes in (stay, gone))
        return xp.ascontiguousarray(x.transpose(stay + gone)).reshape(height, width)

    return run


@kernel("axes_of_rows")
def axes_of_rows(xp: Any) -> Any:
    """See the op."""

    def run(rows: Any, axis: Any, shape: tuple[int, ...], *, as_named: bool = False) -> Any:
        stay, gone = _apart(len(shape), axis, as_named)
        order = stay + gone
        back = sorted(range(len(order)), key=order.__getitem__)
        return xp.ascontiguousarray(rows.reshape([shape[i] for i in order]).transpose(back)).reshape(shape)

    return run


@kernel("reduced_shape")
def reduced_shape(xp: Any) -> Any:
    """See the op."""

    def run(shape: tuple[int, ...], axis: Any, *, keepdims: bool) -> Any:
        _, gone = _apart(len(shape), axis)
        return xp.array([1 if i in gone else n for i, n in enumerate(shape) if keepdims or i not in gone], xp.int32)

    return run


def _apart(rank: int, axis: Any, as_named: bool = False) -> tuple[list[int], list[int]]:
    """The axes that stay and those of ``axis``, each counted from the front, in order; the latter ``as_named`` in that of ``axis``.

    Raises:
        ValueError: an axis is out of range or named twice.
    """
    named = [with_axis(a, rank) for a in (axis if isinstance(axis, tuple) else (axis,))]
    gone = named if as_named else sorted(named)
    if len(set(gone)) != len(gone):
        raise ValueError(f"axis {axis} names an axis twice")
    return [i for i in range(rank) if i not in gone], gone
