"""Determinants and their logarithms."""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle_ops.arguments import tensor
from treadle_ops.complex_numbers import real
from treadle_ops.diagonals import main_diagonal
from treadle_ops.elementwise import conj, log, multiply, subtract
from treadle_ops.inference import FLOATING_OR_COMPLEX
from treadle_ops.linear_inference import square_dims, square_spec
from treadle_ops.linear_systems import cholesky_op, inv_op
from treadle_ops.matrix_transposes import adjoint_of
from treadle_ops.products import matmul_op
from treadle_ops.reductions import reduce_sum_op
from treadle_ops.shaping import expand_dims_op


class LogMatrixDeterminant(NamedTuple):
    """The sign of determinants (a number of modulus 1, or 0), and the logarithm of their moduli."""

    sign: Any
    log_abs_determinant: Any


@op("det", public="linalg.det", can_fail=True)
def det(input: Spec) -> Spec:
    """The determinant of square matrices; 1 for one without rows.

    Args:
        input: ``(..., M, M)``, floating or complex.
        name: ignored.

    Returns:
        ``(...)`` of the dtype of ``input``.

    Raises:
        ShapeError: the matrices are not square.

    Sources:
        TensorFlow ``tf.linalg.det``. The gradient of a singular matrix is finite.
    """
    lead, _, dtype = square_dims(input, kinds=FLOATING_OR_COMPLEX)
    return Spec(lead, dtype)


@op("cofactors", can_fail=True)
def cofactors(x: Spec) -> Spec:
    """The derivative of the determinant with respect to each element, of singular matrices too."""
    return square_spec(x)


@gradient(det)
def _(ctx: Any, g: Any) -> Any:
    return multiply(_spread(g), conj(cofactors(ctx.inputs[0])))


@gradient(cofactors)
def _(ctx: Any, g: Any) -> Any:
    # C = det(x) x^-T, so dC = tr(x^-1 dx) C - C dx^T x^-T, and the adjoint of that
    (x,) = ctx.inputs
    inverse = adjoint_of(inv_op(x))
    scale = reduce_sum_op(multiply(g, conj(ctx.output)), axis=(-2, -1), keepdims=True)
    return subtract(multiply(scale, inverse), matmul_op(matmul_op(inverse, g, transpose_b=True), conj(ctx.output)))


def _spread(g: Any) -> Any:
    return expand_dims_op(expand_dims_op(g, axis=-1), axis=-1)


@op("slogdet", can_fail=True)
def slogdet_op(input: Spec) -> LogMatrixDeterminant:
    """The sign and the logarithm of the modulus of determinants, both of the dtype of the matrices."""
    lead, _, dtype = square_dims(input)
    return LogMatrixDeterminant(Spec(lead, dtype), Spec(lead, dtype))


@gradient(slogdet_op)
def _(ctx: Any, g_sign: Any, g: Any) -> Any:
    return multiply(_spread(g), adjoint_of(inv_op(ctx.inputs[0])))


@public("linalg.slogdet")
def slogdet(input: Any, name: str | None = None) -> Any:
    """The sign and the logarithm of the modulus of determinants.

    Args:
        input: ``(..., M, M)``, floating or complex.
        name: ignored.

    Returns:
        A named tuple of ``sign`` and ``log_abs_determinant``, ``(...)`` of the dtype of ``input``; 0 and -inf for a singular matrix.

    Raises:
        ShapeError: the matrices are not square.

    Sources:
        TensorFlow ``tf.linalg.slogdet``. No gradient flows through the sign.
    """
    return slogdet_op(tensor(input))


@public("linalg.logdet")
def logdet(matrix: Any, name: str | None = None) -> Any:
    """The logarithm of the determinant of Hermitian positive definite matrices.

    Args:
        matrix: ``(..., M, M)``, floating or complex.
        name: ignored.

    Returns:
        ``(...)`` of the real dtype of ``matrix``.

    Raises:
        ShapeError: the matrices are not square.
        InvalidArgumentError: one is not positive definite.

    Sources:
        TensorFlow ``tf.linalg.logdet``.
    """
    diagonal = real(main_diagonal(cholesky_op(tensor(matrix))))
    return multiply(reduce_sum_op(log(diagonal), axis=(-1,), keepdims=False), 2)
