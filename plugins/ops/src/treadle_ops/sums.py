"""Sums of several tensors, products with a scalar, and polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import as_dtype
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle.shapes import TensorShape
from treadle.tensor import Operators
from treadle_ops.arguments import list_argument, tensor, tensor_argument
from treadle_ops.creation import zeros_like
from treadle_ops.elementwise import add, multiply
from treadle_ops.flow import identity
from treadle_ops.inference import NUMERIC, common_dims, same_dtype


@op("add_n", elementwise=True)
def add_n_op(inputs: Sequence[Spec]) -> Spec:
    """The sum of tensors of one shape."""
    return Spec(common_dims(inputs, "the inputs"), same_dtype(*inputs, kinds=NUMERIC))


@gradient(add_n_op)
def _(ctx: Any, g: Any) -> Any:
    return [g] * len(ctx.inputs[0])


@public("add_n", "math.add_n")
def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of tensors of one shape.

    Args:
        inputs: a list of tensors of one shape and one numeric dtype.
        name: ignored.

    Returns:
        Their shape and dtype.

    Raises:
        ValueError: there are none.
        ShapeError: the shapes differ.
        DTypeError: the dtypes differ.

    Sources:
        TensorFlow ``tf.add_n``.
    """
    if isinstance(inputs, Operators):
        raise InvalidArgumentError("add_n: a single tensor was given; give a list of tensors, or use td.reduce_sum to add along an axis")
    terms = list_argument(inputs, "inputs")
    if not terms:
        raise InvalidArgumentError("add_n: there is nothing to add; give a list of at least one tensor")
    return identity(tensor(terms[0])) if len(terms) == 1 else add_n_op(terms)


@public("math.accumulate_n")
def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None) -> Any:
    """The sum of tensors of one shape.

    Args:
        inputs: a list of tensors of one shape and one numeric dtype.
        shape: what their shape must be compatible with.
        tensor_dtype: what their dtype must be.
        name: ignored.

    Returns:
        Their shape and dtype.

    Raises:
        ValueError: there are none.
        ShapeError: a shape is another one.
        DTypeError: a dtype is another one.

    Sources:
        TensorFlow ``tf.math.accumulate_n``.
    """
    if not isinstance(inputs, list | tuple) or not inputs:
        raise InvalidArgumentError("accumulate_n: inputs must be a list of at least one tensor")
    terms = [tensor(x) for x in inputs]
    for term in terms:
        if shape is not None and not TensorShape(shape).is_compatible_with(term.shape):
            raise ShapeError(f"accumulate_n: an input has shape {term.shape}; expected {TensorShape(shape)}")
        if tensor_dtype is not None and term.dtype is not as_dtype(tensor_dtype):
            raise DTypeError(f"accumulate_n: an input has dtype {term.dtype.name}; expected {as_dtype(tensor_dtype).name}")
    return add_n(terms)


@public("scalar_mul", "math.scalar_mul")
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A tensor times a scalar.

    Args:
        scalar: a scalar of the dtype of ``x``.
        x: any shape, any numeric dtype.
        name: ignored.

    Returns:
        The shape and dtype of ``x``.

    Raises:
        ShapeError: ``scalar`` is no scalar.
        DTypeError: its dtype is another one.

    Sources:
        TensorFlow ``tf.scalar_mul``.
    """
    value = tensor(x)
    factor = tensor_argument(scalar, value.dtype)
    if factor.dims is not None and factor.dims != ():
        raise ShapeError(f"scalar_mul: the factor has shape {factor.shape}; expected a scalar. Use td.multiply to multiply element by element.")
    return multiply(factor, value)


@public("math.polyval")
def polyval(coeffs: Any, x: Any, name: str | None = None) -> Any:
    """The value of a polynomial at every element of a tensor, by Horner's rule.

    Args:
        coeffs: a list of tensors that broadcast with ``x``, the coefficient of the highest power first.
        x: any shape, any numeric dtype.
        name: ignored.

    Returns:
        The broadcast shape, the dtype of ``x``; zeros for no coefficients.

    Raises:
        ValueError: ``coeffs`` is not a list.

    Sources:
        TensorFlow ``tf.math.polyval``.
    """
    if not isinstance(coeffs, list | tuple):
        raise InvalidArgumentError(f"polyval: coeffs must be a list of tensors, not {type(coeffs).__name__}")
    point = tensor(x)
    if not coeffs:
        return zeros_like(point)
    value = tensor(coeffs[0], point)
    for coefficient in coeffs[1:]:
        value = add(tensor(coefficient, point), multiply(value, point))
    return value
