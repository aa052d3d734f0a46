"""Rows that a function goes over, which must be there: asked for when the graph runs, as nobody knows before."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import FreeSpec, gradient, op


@op("required_rows", aliases=True, can_fail=True)
def required_rows(x: FreeSpec, *, axis: int, least: int, what: str) -> Spec:
    """``x``, which the function ``what`` got as ``elems``, and which must have the axis and at least so many rows along it."""
    return Spec(x.dims, x.dtype)


@gradient(required_rows)
def _(ctx: Any, g: Any) -> Any:
    return g
