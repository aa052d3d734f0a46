"""From one dtype to another, by one rule in every mode.

Floats to integers truncate toward zero; NaN and what is out of range give the smallest value of a signed integer dtype (of int32 for narrower ones,
then wrapped) and wrap for unsigned ones. Integers wrap. To bool means ``x != 0``.
"""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dims import Dim
from treadle.dtypes import DType, as_dtype, int32, int64
from treadle.errors import DTypeError, ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.known import known, value_of


@op("cast")
def cast_op(x: Spec, *, dtype: DType) -> Spec:
    """The same values in another dtype."""
    return Spec(x.dims, dtype, _cast_value(x, dtype))


def _cast_value(x: Spec, dtype: DType) -> Any:
    """The known value in another integer dtype: numbers wrap, and sizes fit the dtypes that shapes have."""
    values = known(x) if dtype.is_integer else None
    if values is None:
        return None
    if any(isinstance(v, Dim) for v in values.flat):
        return x.value if dtype in (int32, int64) else None
    return value_of(values.astype(x.dtype.numpy).astype(dtype.numpy).astype(object))


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


@op("bitcast", aliases=True)
def bitcast_op(x: Spec, *, dtype: DType) -> Spec:
    """The same bits read as another dtype."""
    for end in (x.dtype, dtype):
        if end.is_bool:
            raise DTypeError(f"the bits of a bool cannot be read as another dtype ({x.dtype.name} to {dtype.name}). Use td.cast to convert it.")
    if x.dims is None or dtype.size == x.dtype.size:
        return Spec(x.dims, dtype)
    if dtype.size < x.dtype.size:
        return Spec((*x.dims, x.dtype.size // dtype.size), dtype)
    parts = dtype.size // x.dtype.size
    if not x.dims or sizes.known_different(x.dims[-1], parts):
        raise ShapeError(
            f"{x.dtype.name} of shape {x.shape} cannot be read as {dtype.name}; the last axis must have size {parts}, which becomes one element"
        )
    return Spec(x.dims[:-1], dtype)


@public("bitcast")
def bitcast(input: Any, type: Any, name: str | None = None) -> Any:
    """The same bits read as another dtype.

    Args:
        input: any shape, any dtype but bool.
        type: the dtype to read.
        name: ignored.

    Returns:
        The shape of ``input``, of dtype ``type``. A smaller dtype adds a last axis with the parts of every element, lowest first; a larger
        one takes the last axis away, which must hold the parts of one element.

    Raises:
        ShapeError: the last axis does not hold the parts of one element.
        DTypeError: a dtype is bool.

    Sources:
        TensorFlow ``tf.bitcast``.
    """
    return bitcast_op(input, dtype=as_dtype(type))
