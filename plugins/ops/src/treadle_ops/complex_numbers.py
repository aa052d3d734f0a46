"""Complex numbers and their parts. Of a real tensor the real part is the tensor itself, the imaginary part 0, the angle 0 or pi."""

from __future__ import annotations

import math
from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import complex64, complex128, float32, float64
from treadle.errors import DTypeError
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import sum_like
from treadle_ops.casting import cast_op
from treadle_ops.comparison import less
from treadle_ops.creation import zeros_like
from treadle_ops.elementwise import divide_op, multiply, negative
from treadle_ops.inference import elementwise, require_kind


@op("complex", elementwise=True)
def complex_op(real: Spec, imag: Spec) -> Spec:
    """The complex numbers of these parts."""
    parts = elementwise(real, imag)
    if parts.dtype not in (float32, float64):
        raise DTypeError(f"the parts of complex numbers must be float32 or float64, not {parts.dtype.name}. Use td.cast to convert them.")
    return Spec(parts.dims, complex64 if parts.dtype is float32 else complex128)


@op("real", elementwise=True)
def real_op(x: Spec) -> Spec:
    """The real part."""
    return Spec(x.dims, require_kind(x, "c").real_dtype)


@op("imag", elementwise=True)
def imag_op(x: Spec) -> Spec:
    """The imaginary part."""
    return Spec(x.dims, require_kind(x, "c").real_dtype)


@op("angle", elementwise=True)
def angle_op(x: Spec) -> Spec:
    """The argument, in (-pi, pi]."""
    return Spec(x.dims, require_kind(x, "c").real_dtype)


@gradient(complex_op)
def _(ctx: Any, g: Any) -> Any:
    real_part, imag_part = ctx.inputs
    return (
        sum_like(real_op(g), real_part) if ctx.needs[0] else None,
        sum_like(imag_op(g), imag_part) if ctx.needs[1] else None,
    )


@gradient(real_op)
def _(ctx: Any, g: Any) -> Any:
    return cast_op(g, dtype=ctx.inputs[0].dtype)


@gradient(imag_op)
def _(ctx: Any, g: Any) -> Any:
    return complex_op(0, g)


@gradient(angle_op)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    turned = complex_op(imag_op(x), real_op(x))
    return negative(divide_op(cast_op(g, dtype=x.dtype), turned))


@public("complex", "dtypes.complex")
def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """The complex numbers of these parts.

    Args:
        real: any shape, float32 or float64.
        imag: a shape that broadcasts with that of ``real``, the same dtype.
        name: ignored.

    Returns:
        The broadcast shape, complex64 or complex128.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtypes differ or are others.

    Sources:
        TensorFlow ``tf.complex``.
    """
    return complex_op(real, imag)


@public("math.real")
def real(input: Any, name: str | None = None) -> Any:
    """The real part; ``input`` itself where it is real.

    Args:
        input: any shape, any numeric dtype.
        name: ignored.

    Returns:
        The shape of ``input``, of the dtype of its parts.

    Sources:
        TensorFlow ``tf.math.real``.
    """
    x = tensor(input)
    return real_op(x) if x.dtype.is_complex else x


@public("math.imag")
def imag(input: Any, name: str | None = None) -> Any:
    """The imaginary part; 0 where ``input`` is real.

    Args:
        input: any shape, any numeric dtype.
        name: ignored.

    Returns:
        The shape of ``input``, of the dtype of its parts.

    Sources:
        TensorFlow ``tf.math.imag``.
    """
    x = tensor(input)
    return imag_op(x) if x.dtype.is_complex else zeros_like(x)


@public("math.angle")
def angle(input: Any, name: str | None = None) -> Any:
    """The argument, in (-pi, pi]; where ``input`` is real, pi for numbers below 0, else 0.

    Args:
        input: any shape, floating or complex.
        name: ignored.

    Returns:
        The shape of ``input``, of the dtype of its parts.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.angle``.
    """
    x = tensor(input)
    return angle_op(x) if x.dtype.is_complex else multiply(cast_op(less(x, 0), dtype=x.dtype), math.pi)
