"""Axes in an order that is known only when a graph runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.contracts.spec import Dims, Spec
from treadle.declare import HostSpec, gradient, op
from treadle.dims import Dim
from treadle.errors import ShapeError
from treadle_ops.inference import normalize_axis


def _some_dims(x: Spec) -> Dims:
    return None if x.dims is None else tuple(Dim.symbol() for _ in x.dims)


def _moved(x: Spec, axis: Spec, *, start: int | None = None, end: int | None = None) -> Spec:
    """``x`` with one axis taken from ``start`` and put at ``end``; the one that is not given is ``axis``."""
    if x.dims is None or not isinstance(axis.value, int):
        return Spec(_some_dims(x), x.dtype)
    dims, rank = list(x.dims), len(x.dims)
    at = normalize_axis(axis.value, rank)
    moved = dims.pop(at if start is None else start)
    dims.insert(at if end is None else end % rank, moved)
    return Spec(tuple(dims), x.dtype)


@op("axis_to_front", aliases=True, can_fail=True)
def axis_to_front(x: Spec, axis: HostSpec) -> Spec:
    """``x`` with one axis before all others."""
    return _moved(x, axis, end=0)


@op("axis_from_front", aliases=True, can_fail=True)
def axis_from_front(x: Spec, axis: HostSpec) -> Spec:
    """``x`` with its first axis at another place: the inverse of ``axis_to_front``."""
    return _moved(x, axis, start=0)


@op("axis_to_back", aliases=True, can_fail=True)
def axis_to_back(x: Spec, axis: HostSpec) -> Spec:
    """``x`` with one axis behind all others."""
    return _moved(x, axis, end=-1)


@op("axis_from_back", aliases=True, can_fail=True)
def axis_from_back(x: Spec, axis: HostSpec) -> Spec:
    """``x`` with its last axis at another place: the inverse of ``axis_to_back``."""
    return _moved(x, axis, start=-1)


@op("transpose_by", aliases=True, can_fail=True)
def transpose_by(x: Spec, perm: HostSpec) -> Spec:
    """``x`` with axis ``perm[i]`` at place i."""
    if x.dims is not None and perm.dims is not None and perm.dims and isinstance(perm.dims[0], int) and perm.dims[0] != len(x.dims):
        raise ShapeError(f"perm has {perm.dims[0]} numbers for the {len(x.dims)} axes of shape {x.shape}")
    return Spec(_some_dims(x), x.dtype)


@op("transpose_back", aliases=True, can_fail=True)
def transpose_back(x: Spec, perm: HostSpec) -> Spec:
    """``x`` with axis i at place ``perm[i]``: the inverse of ``transpose_by``."""
    return Spec(_some_dims(x), x.dtype)


@gradient(axis_to_front)
def _(ctx: Any, g: Any) -> Any:
    return axis_from_front(g, ctx.inputs[1]), None


@gradient(axis_from_front)
def _(ctx: Any, g: Any) -> Any:
    return axis_to_front(g, ctx.inputs[1]), None


@gradient(axis_to_back)
def _(ctx: Any, g: Any) -> Any:
    return axis_from_back(g, ctx.inputs[1]), None


@gradient(axis_from_back)
def _(ctx: Any, g: Any) -> Any:
    return axis_to_back(g, ctx.inputs[1]), None


@gradient(transpose_by)
def _(ctx: Any, g: Any) -> Any:
    return transpose_back(g, ctx.inputs[1]), None


@gradient(transpose_back)
def _(ctx: Any, g: Any) -> Any:
    return transpose_by(g, ctx.inputs[1]), None


def along(axis: Any, function: Callable[[Any], Any], x: Any) -> Any:
    """What a function of a tensor's first axis gives for an axis that is a tensor."""
    return axis_from_front(function(axis_to_front(x, axis)), axis)
