"""The larger and the smaller of two tensors, element by element.

NaN in either gives NaN; -0.0 is less than 0.0. At ties the gradient goes to ``x``, as in TensorFlow.
"""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.declare import gradient
from treadle_ops.broadcasting import sum_like
from treadle_ops.comparison import greater_equal, less_equal
from treadle_ops.inference import REAL
from treadle_ops.masking import where_op
from treadle_ops.rows import binary

maximum = binary("maximum", "maximum math.maximum", REAL, "The larger of two; NaN if one is.", commutative=True, value=sizes.maximum)
minimum = binary("minimum", "minimum math.minimum", REAL, "The smaller of two; NaN if one is.", commutative=True, value=sizes.minimum)


@gradient(maximum)
def _(ctx: Any, g: Any) -> Any:
    return _shared(ctx, g, greater_equal)


@gradient(minimum)
def _(ctx: Any, g: Any) -> Any:
    return _shared(ctx, g, less_equal)


def _shared(ctx: Any, g: Any, is_first: Any) -> Any:
    x, y = ctx.inputs
    first = is_first(x, y)
    return (
        sum_like(where_op(first, g, 0), x) if ctx.needs[0] else None,
        sum_like(where_op(first, 0, g), y) if ctx.needs[1] else None,
    )
