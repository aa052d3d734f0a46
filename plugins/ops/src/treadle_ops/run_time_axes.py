"""Reductions over axes that are known only when a graph runs: the axes are moved to the end of a matrix, and its rows are reduced."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op
from treadle.dims import Dim
from treadle.dtypes import int32
from treadle_ops.broadcasting import shape_of
from treadle_ops.inference import dims_of_value
from treadle_ops.shaping import reshape_op


@op("rows_of_axes", aliases=True, can_fail=True)
def rows_of_axes(x: Spec, axis: HostSpec, *, as_named: bool = False) -> Spec:
    """``x`` as a matrix: a row holds the elements along the axes, in order of their places or ``as_named``."""
    return Spec((Dim.symbol(), Dim.symbol()), x.dtype)


@op("axes_of_rows", aliases=True)
def axes_of_rows(rows: Spec, axis: HostSpec, shape: HostSpec, *, as_named: bool = False) -> Spec:
    """The tensor of a shape that ``rows_of_axes`` made rows of."""
    return Spec(dims_of_value(shape), rows.dtype)


@op("reduced_shape", can_fail=True)
def reduced_shape(shape: HostSpec, axis: HostSpec, *, keepdims: bool) -> Spec:
    """A shape without the axes reduced, or with size 1 there."""
    rank = None if shape.value is None else len(shape.value)
    gone = None if axis.dims is None else axis.dims[0] if axis.dims else 1
    if rank is None or not (keepdims or isinstance(gone, int)):
        return Spec((Dim.symbol(),), int32)
    return Spec((rank if keepdims else rank - gone,), int32)


@gradient(rows_of_axes)
def _(ctx: Any, g: Any) -> Any:
    x, axis = ctx.inputs
    return axes_of_rows(g, axis, shape_of(x), as_named=ctx.as_named), None


@gradient(axes_of_rows)
def _(ctx: Any, g: Any) -> Any:
    return rows_of_axes(g, ctx.inputs[1], as_named=ctx.as_named), None, None


def reduce_over_tensor(entry: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """What a reduction gives over axes in a tensor.

    Args:
        entry: of the reduction's op.
        x: a tensor.
        axis: a scalar or a vector of integers.
        keepdims: keep the axes reduced, with size 1.
    """
    found = entry(rows_of_axes(x, axis), axis=(1,), keepdims=False)
    return reshape_op(found, reduced_shape(shape_of(x), axis, keepdims=keepdims))
