"""Axes in an order that is known only when a graph runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.contracts.spec import Dims, Spec
from treadle.declare import HostSpec, gradient, op
from treadle.dims import Dim
from treadle.errors import ShapeError


def _some_dims(x: Spec) -> Dims:
    return None if x.dims is None else tuple(Dim.symbol() for _ in x.dims)


@op("axis_to_front", aliases=True, can_fail=True)
def axis_to_front(x: Spec, axis: HostSpec) -> Spec:
    """``x`` with one axis before all others."""
    return Spec(_some_dims(x), x.dtype)


@op("axis_from_front", aliases=True, can_fail=True)
def axis_from_front(x: Spec, axis: HostSpec) -> Spec:
    """``x`` with its first axis at another place: the inverse of ``axis_to_front``."""
    return Spec(_some_dims(x), x.dtype)


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


@gradient(transpose_by)
def _(ctx: Any, g: Any) -> Any:
    return transpose_back(g, ctx.inputs[1]), None


@gradient(transpose_back)
def _(ctx: Any, g: Any) -> Any:
    return transpose_by(g, ctx.inputs[1]), None


def along(axis: Any, function: Callable[[Any], Any], x: Any) -> Any:
    """What a function of a tensor's first axis gives for an axis that is a tensor."""
    return axis_from_front(function(axis_to_front(x, axis)), axis)
