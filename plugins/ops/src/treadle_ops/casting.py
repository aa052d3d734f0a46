"""From one dtype to another, by one rule in every mode.

Floats to integers truncate toward zero; NaN and what is out of range give the smallest value of a signed integer dtype (of int32 for narrower ones,
then wrapped) and wrap for unsigned ones. Integers wrap. To bool means ``x != 0``.
"""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import DType, as_dtype
from treadle_ops.arguments import tensor


@op("cast")
def cast_op(x: Spec, *, dtype: DType) -> Spec:
    """The same values in another dtype."""
    value = x.value if dtype.is_integer and x.dtype.is_integer and dtype.size >= x.dtype.size else None
    return Spec(x.dims, dtype, value)


@gradient(cast_op)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return cast_op(g, dtype=x.dtype) if x.dtype.is_differentiable else None


@public("cast", "dtypes.cast")
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """A tensor in another dtype.

    Args:
        x: any shape, any dtype.
        dtype: the wanted dtype.
        name: ignored.

    Returns:
        The shape of ``x``, of ``dtype``; ``x`` itself if it has that dtype.

    Raises:
        TypeError: ``dtype`` is not a dtype.
    """
    wanted = as_dtype(dtype)
    value = tensor(x)
    return value if value.dtype is wanted else cast_op(value, dtype=wanted)
