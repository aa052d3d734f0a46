"""The largest and the smallest over axes; NaN wins, and equal ones share the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op
from treadle_ops.inference import FLOATING, REAL, reduced, same_dtype
from treadle_ops.reductions import reduction

reduce_max_op, reduce_max = reduction(
    "reduce_max",
    REAL,
    "The largest over axes, NaN if one is; over nothing -inf, or the least integer.",
    value=np.frompyfunc(sizes.maximum, 2, 1),
)
reduce_min_op, reduce_min = reduction(
    "reduce_min",
    REAL,
    "The smallest over axes, NaN if one is; over nothing inf, or the largest integer.",
    value=np.frompyfunc(sizes.minimum, 2, 1),
)


@op("share_among_ties")
def share_among_ties(g: Spec, x: Spec, y: Spec, *, axis: tuple[int, ...] | None, keepdims: bool) -> Spec:
    """``g`` of a reduction's result in equal parts for those elements of ``x`` that are equal to the result ``y``; 0 for the others."""
    return Spec(x.dims, same_dtype(g, x, y, kinds=FLOATING))


@op("mean_of_ties")
def mean_of_ties(g: Spec, x: Spec, y: Spec, *, axis: tuple[int, ...] | None, keepdims: bool) -> Spec:
    """The mean of ``g`` over those elements of ``x`` that are equal to a reduction's result ``y``; 0 where none is."""
    return Spec(reduced(x, axis, keepdims), same_dtype(g, x, y, kinds=FLOATING))


@gradient(reduce_max_op, reduce_min_op)
def _(ctx: Any, g: Any) -> Any:
    return share_among_ties(g, ctx.inputs[0], ctx.output, axis=ctx.axis, keepdims=ctx.keepdims)


@gradient(share_among_ties)
def _(ctx: Any, g: Any) -> Any:
    _, x, y = ctx.inputs
    return mean_of_ties(g, x, y, axis=ctx.axis, keepdims=ctx.keepdims), None, None


@gradient(mean_of_ties)
def _(ctx: Any, g: Any) -> Any:
    _, x, y = ctx.inputs
    return share_among_ties(g, x, y, axis=ctx.axis, keepdims=ctx.keepdims), None, None
