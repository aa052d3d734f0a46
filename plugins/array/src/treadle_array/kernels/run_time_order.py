"""Axes in an order that is known only when a graph runs."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


def _turned(xp: Any, x: Any, perm: tuple[int, ...]) -> Any:
    return xp.ascontiguousarray(x.transpose(perm)) if x.ndim > 1 else x


def _require_axis(x: Any, axis: Any) -> int:
    at = axis[0] if type(axis) is tuple and len(axis) == 1 else axis
    if type(at) is not int or not -x.ndim <= at < x.ndim:
        raise ValueError(f"axis {axis} is out of range for shape {x.shape}")
    return at % x.ndim


@kernel("axis_to_front")
def axis_to_front(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, axis: Any) -> Any:
        at = _require_axis(x, axis)
        return _turned(xp, x, (at, *(i for i in range(x.ndim) if i != at)))

    return run


@kernel("axis_from_front")
def axis_from_front(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, axis: Any) -> Any:
        at = _require_axis(x, axis)
        return _turned(xp, x, (*range(1, at + 1), 0, *range(at + 1, x.ndim)))

    return run


@kernel("axis_to_back")
def axis_to_back(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, axis: Any) -> Any:
        at = _require_axis(x, axis)
        return _turned(xp, x, (*(i for i in range(x.ndim) if i != at), at))

    return run


@kernel("axis_from_back")
def axis_from_back(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, axis: Any) -> Any:
        at, last = _require_axis(x, axis), x.ndim - 1
        return _turned(xp, x, (*range(at), last, *range(at, last)))

    return run


def _require_permutation(x: Any, perm: Any) -> list[int]:
    places = [p + x.ndim if p < 0 else p for p in perm]
    if sorted(places) != list(range(x.ndim)):
        raise ValueError(f"perm {perm} is not a permutation of the {x.ndim} axes of shape {x.shape}")
    return places


@kernel("transpose_by")
def transpose_by(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, perm: Any) -> Any:
        return _turned(xp, x, tuple(_require_permutation(x, perm)))

    return run


@kernel("transpose_back")
def transpose_back(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, perm: Any) -> Any:
        places = _require_permutation(x, perm)
        return _turned(xp, x, tuple(places.index(i) for i in range(x.ndim)))

    return run
