"""Matrices with rows and columns exchanged."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.errors import ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.elementwise import conj


@op("matrix_transpose", aliases=True)
def matrix_transpose_op(x: Spec) -> Spec:
    """The last two axes exchanged."""
    if x.dims is None:
        return Spec(None, x.dtype)
    if len(x.dims) < 2:
        raise ShapeError(f"the matrix must be at least 2-dim, received shape: {list(x.shape)}")
    return Spec((*x.dims[:-2], x.dims[-1], x.dims[-2]), x.dtype)


@gradient(matrix_transpose_op)
def _(ctx: Any, g: Any) -> Any:
    return matrix_transpose_op(g)


def adjoint_of(x: Any) -> Any:
    """The conjugate transpose of matrices."""
    return matrix_transpose_op(conj(x))


@public("linalg.matrix_transpose")
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Any:
    """Matrices with rows and columns exchanged.

    Args:
        a: ``(..., M, N)``, any dtype.
        name: ignored.
        conjugate: conjugate complex elements too.

    Returns:
        ``(..., N, M)`` of the dtype of ``a``.

    Raises:
        ShapeError: the rank is below 2.

    Sources:
        TensorFlow ``tf.linalg.matrix_transpose``.
    """
    turned = matrix_transpose_op(tensor(a))
    return conj(turned) if conjugate else turned


@public("linalg.adjoint")
def adjoint(matrix: Any, name: str | None = None) -> Any:
    """The conjugate transpose of matrices.

    Args:
        matrix: ``(..., M, N)``, any dtype.
        name: ignored.

    Returns:
        ``(..., N, M)`` of the dtype of ``matrix``.

    Raises:
        ShapeError: the rank is below 2.

    Sources:
        TensorFlow ``tf.linalg.adjoint``.
    """
    return adjoint_of(tensor(matrix))
