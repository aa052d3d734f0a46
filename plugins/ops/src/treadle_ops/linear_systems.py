"""Systems of linear equations: general, triangular, by a Cholesky factor, least squares; the Cholesky factor and the inverse themselves."""

from __future__ import annotations

import functools
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import int32
from treadle.errors import ShapeError
from treadle.functions.branches import cond
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import broadcast_to_op, shape_op, sizes_along, sum_like
from treadle_ops.called_function import checked
from treadle_ops.casting import cast
from treadle_ops.comparison import greater_equal, less
from treadle_ops.creation import eye_op
from treadle_ops.diagonals import diag_op, lower_triangle, main_diagonal, upper_triangle, with_main_diagonal, zero_like
from treadle_ops.elementwise import add, conj, multiply, negative, subtract
from treadle_ops.gathering import gather_op
from treadle_ops.joining import concat_op
from treadle_ops.linear_inference import matrix_dims, square_spec, system_spec
from treadle_ops.logic import logical_and
from treadle_ops.masking import where_op
from treadle_ops.matrix_transposes import adjoint_of, matrix_transpose_op
from treadle_ops.products import matmul_op
from treadle_ops.ranges import range_op
from treadle_ops.shaping import expand_dims_op, reshape_op, squeeze_op

# ---------------------------------------------------------------------- factor and inverse


@op("cholesky", can_fail=True)
def cholesky_op(x: Spec) -> Spec:
    """The lower triangular matrix whose product with its adjoint is ``x``, of which only the lower triangle is read."""
    return square_spec(x)


@gradient(cholesky_op)
def _(ctx: Any, g: Any) -> Any:
    factor = ctx.output
    middle = matmul_op(adjoint_of(factor), g)
    middle = lower_triangle(with_main_diagonal(middle, multiply(main_diagonal(middle), 0.5)))
    left = triangular_solve_op(factor, middle, lower=True, adjoint=True)  # L^-H middle
    whole = adjoint_of(triangular_solve_op(factor, adjoint_of(left), lower=True, adjoint=True))  # L^-H middle L^-1
    return multiply(add(whole, adjoint_of(whole)), 0.5)


@public("linalg.cholesky")
def cholesky(input: Any, name: str | None = None) -> Any:
    """The Cholesky factor of symmetric (Hermitian) positive definite matrices.

    Args:
        input: ``(..., M, M)``, floating or complex; only the lower triangle is read.
        name: ignored.

    Returns:
        Lower triangular matrices, ``(..., M, M)`` of the dtype of ``input``, each of which times its adjoint is the matrix.

    Raises:
        ShapeError: the matrices are not square.
        InvalidArgumentError: one is not positive definite.

    Sources:
        TensorFlow ``tf.linalg.cholesky``; gradient: Murray, "Differentiation of the Cholesky decomposition", 2016.
    """
    return cholesky_op(tensor(input))


@op("inv", can_fail=True)
def inv_op(x: Spec) -> Spec:
    """The inverse of square matrices."""
    return square_spec(x)


@gradient(inv_op)
def _(ctx: Any, g: Any) -> Any:
    turned = adjoint_of(ctx.output)
    return negative(matmul_op(matmul_op(turned, g), turned))


@public("linalg.inv")
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The inverse of square matrices.

    Args:
        input: ``(..., M, M)``, floating or complex.
        adjoint: give the inverse of the adjoint.
        name: ignored.

    Returns:
        ``(..., M, M)`` of the dtype of ``input``.

    Raises:
        ShapeError: the matrices are not square.
        InvalidArgumentError: one is singular.

    Sources:
        TensorFlow ``tf.linalg.inv``.
    """
    found = inv_op(tensor(input))
    return adjoint_of(found) if adjoint else found


# ---------------------------------------------------------------------- systems


@op("solve", can_fail=True)
def solve_op(matrix: Spec, rhs: Spec, *, adjoint: bool) -> Spec:
    """The solution of ``matrix @ x = rhs``."""
    return system_spec(matrix, rhs)


def _of_matrix(solved: Any, x: Any, adjoint: bool) -> Any:
    """The gradient of the matrix of a system, from that of the right-hand side and the solution."""
    return negative(matmul_op(x, conj(solved), transpose_b=True) if adjoint else matmul_op(solved, conj(x), transpose_b=True))


@gradient(solve_op)
def _(ctx: Any, g: Any) -> Any:
    matrix, rhs = ctx.inputs
    of_rhs = solve_op(matrix, g, adjoint=not ctx.adjoint)
    of_matrix = sum_like(_of_matrix(of_rhs, ctx.output, ctx.adjoint), matrix) if ctx.needs[0] else None
    return of_matrix, sum_like(of_rhs, rhs) if ctx.needs[1] else None


@public("linalg.solve")
def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The solution of ``matrix @ x = rhs``.

    Args:
        matrix: ``(..., M, M)``, floating or complex.
        rhs: ``(..., M, K)`` of the same dtype.
        adjoint: solve with the adjoint of the matrix.
        name: ignored.

    Returns:
        ``(..., M, K)`` of their dtype.

    Raises:
        ShapeError: the matrices are not square, or the right-hand sides do not fit.
        InvalidArgumentError: a matrix is singular.

    Sources:
        TensorFlow ``tf.linalg.solve``.
    """
    return solve_op(matrix, rhs, adjoint=bool(adjoint))


@op("triangular_solve")
def triangular_solve_op(matrix: Spec, rhs: Spec, *, lower: bool, adjoint: bool) -> Spec:
    """The solution of ``matrix @ x = rhs``; only one triangle of the matrix is read."""
    return system_spec(matrix, rhs)


@gradient(triangular_solve_op)
def _(ctx: Any, g: Any) -> Any:
    matrix, rhs = ctx.inputs
    of_rhs = triangular_solve_op(matrix, g, lower=ctx.lower, adjoint=not ctx.adjoint)
    of_matrix = None
    if ctx.needs[0]:
        whole = _of_matrix(of_rhs, ctx.output, ctx.adjoint)
        of_matrix = sum_like(lower_triangle(whole) if ctx.lower else upper_triangle(whole), matrix)
    return of_matrix, sum_like(of_rhs, rhs) if ctx.needs[1] else None


@public("linalg.triangular_solve")
def triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Any:
    """The solution of ``matrix @ x = rhs`` for triangular matrices.

    Args:
        matrix: ``(..., M, M)``, floating or complex.
        rhs: ``(..., M, K)`` of the same dtype; leading axes broadcast.
        lower: read the lower triangle; else the upper one.
        adjoint: solve with the adjoint of the matrix.
        name: ignored.

    Returns:
        ``(..., M, K)`` of their dtype; infinite or NaN where a matrix has a zero on its diagonal.

    Raises:
        ShapeError: the matrices are not square, or the right-hand sides do not fit.

    Sources:
        TensorFlow ``tf.linalg.triangular_solve``.
    """
    return triangular_solve_op(matrix, rhs, lower=bool(lower), adjoint=bool(adjoint))


@public("linalg.banded_triangular_solve")
def banded_triangular_solve(bands: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Any:
    """The solution of ``matrix @ x = rhs`` for triangular matrices given by their diagonals.

    Args:
        bands: ``(..., K, M)``, floating or complex: the diagonals, the highest first. Row ``j`` of the matrix has its element of each diagonal
            in column ``j`` of a lower one; an upper one starts with that of row 0.
        rhs: ``(..., M, N)`` of the same dtype.
        lower: the diagonals are the main one and those below; else the main one and those above.
        adjoint: solve with the adjoint of the matrix.
        name: ignored.

    Returns:
        ``(..., M, N)`` of their dtype.

    Raises:
        ShapeError: the shapes do not fit.

    Sources:
        TensorFlow ``tf.linalg.banded_triangular_solve``.
    """
    bands = tensor(bands, rhs if hasattr(rhs, "dtype") else None)
    _, count, _, _ = checked(matrix_dims, bands, "bands")
    rhs = tensor(rhs, bands)
    if type(count) is not int:
        return triangular_solve_op(_of_bands(bands, lower), rhs, lower=bool(lower), adjoint=bool(adjoint))
    if count < 1 or sizes.known_different(bands.dims[-1], rhs.dims[-2] if rhs.dims is not None and len(rhs.dims) > 1 else bands.dims[-1]):
        raise ShapeError(f"banded_triangular_solve: bands of shape {bands.shape} and a right-hand side of shape {rhs.shape} do not fit each other")
    if count == 1:
        bands = squeeze_op(bands, axis=(-2,))
    matrix = diag_op(bands, zero_like(bands), (-1, -1), k=(1 - count, 0) if lower else (0, count - 1), align="LEFT_RIGHT")
    return triangular_solve_op(matrix, rhs, lower=bool(lower), adjoint=bool(adjoint))


def _of_bands(bands: Any, lower: bool) -> Any:
    """Triangular matrices of bands whose number is not known: the element at row j and column c is in row ``j - c`` of them, from the main one."""
    ((count,), (size,)) = (sizes_along([bands], axis) for axis in (-2, -1))
    places = range_op(0, size, 1, dtype=int32)
    index = subtract(expand_dims_op(places, axis=1), places)
    if not lower:
        index = add(index, subtract(count, 1))
    is_there = logical_and(greater_equal(index, 0), less(index, count))
    rows = matrix_transpose_op(bands)
    shape = concat_op([shape_op(rows, out_type=int32)[:-1], reshape_op(size, (1,))], axis=0)
    found = gather_op(rows, broadcast_to_op(where_op(is_there, index, 0), shape), axis=-1, batch_dims=-1)
    return where_op(is_there, found, zero_like(found))


@public("linalg.cholesky_solve")
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """The solution of ``a @ x = rhs`` from the Cholesky factor of ``a``.

    Args:
        chol: ``(..., M, M)``, the lower triangular factor, floating or complex.
        rhs: ``(..., M, K)`` of the same dtype.
        name: ignored.

    Returns:
        ``(..., M, K)`` of their dtype.

    Raises:
        ShapeError: the shapes do not fit.

    Sources:
        TensorFlow ``tf.linalg.cholesky_solve``.
    """
    factor = tensor(chol)
    half = triangular_solve_op(factor, rhs, lower=True, adjoint=False)
    return triangular_solve_op(factor, half, lower=True, adjoint=True)


# ---------------------------------------------------------------------- least squares


@op("lstsq", can_fail=True)
def lstsq_op(matrix: Spec, rhs: Spec) -> Spec:
    """The smallest ``x`` that minimises ``norm(matrix @ x - rhs)``, whatever the rank of the matrix."""
    return _least_squares_spec(matrix, rhs)


def _least_squares_spec(matrix: Spec, rhs: Spec) -> Spec:
    lead, rows, columns, dtype = matrix_dims(matrix, "the matrix")
    lead_b, rows_b, count, _ = matrix_dims(rhs, "the right-hand side")
    if sizes.known_different(rows, rows_b):
        raise ShapeError(
            f"the matrix of shape {matrix.shape} has {rows} rows and the right-hand side of shape {rhs.shape} has {rows_b}; they must be equal"
        )
    if lead is None or lead_b is None:
        return Spec(None, dtype)
    return Spec((*(sizes.broadcast(lead, lead_b) or ()), columns, count), dtype)


@public("linalg.lstsq")
def lstsq(matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None) -> Any:
    """The solution of a system in the sense of least squares.

    Args:
        matrix: ``(..., M, N)``, floating or complex.
        rhs: ``(..., M, K)`` of the same dtype.
        l2_regularizer: a number to add to the diagonal of the normal equations, with ``fast``.
        fast: solve the normal equations by their Cholesky factor, which needs a matrix of full rank; else a singular value decomposition gives the
            smallest solution, without a gradient.
        name: ignored.

    Returns:
        ``(..., N, K)`` of their dtype.

    Raises:
        ShapeError: the shapes do not fit.
        InvalidArgumentError: the normal equations are singular.

    Sources:
        TensorFlow ``tf.linalg.lstsq``.
    """
    a = tensor(matrix)
    b = tensor(rhs, a)
    if not fast:
        return lstsq_op(a, b)
    checked(matrix_dims, a, "the matrix")
    ((rows,), (columns,)) = (sizes_along([a], axis) for axis in (-2, -1))
    if type(rows) is int and type(columns) is int:
        return _by_normal_equations(a, b, l2_regularizer, rows >= columns, min(rows, columns))
    ways = [functools.partial(_by_normal_equations, a, b, l2_regularizer, *way) for way in ((True, columns), (False, rows))]
    return cond(greater_equal(rows, columns), *ways)


def _by_normal_equations(a: Any, b: Any, regularizer: Any, is_tall: bool, size: Any) -> Any:
    """Least squares for a matrix of full rank; ``size`` is the smaller of its sizes, the number of columns where it is tall."""
    turned = adjoint_of(a)
    normal = matmul_op(turned, a) if is_tall else matmul_op(a, turned)
    if isinstance(regularizer, int | float) and regularizer == 0:
        regular = normal
    else:
        regular = add(normal, multiply(eye_op((size, size), dtype=a.dtype), cast(regularizer, a.dtype)))
    factor = cholesky_op(regular)
    if is_tall:
        return cholesky_solve(factor, matmul_op(turned, b))
    return matmul_op(turned, cholesky_solve(factor, b))


# ---------------------------------------------------------------------- products with vectors


@public("linalg.matvec")
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The product of matrices and vectors; leading axes broadcast.

    Args:
        a: ``(..., M, N)``, any numeric dtype; ``(..., N, M)`` when ``transpose_a``.
        b: ``(..., N)`` of the same dtype.
        transpose_a: transpose ``a`` first.
        adjoint_a: conjugate and transpose ``a`` first.
        a_is_sparse: ignored.
        b_is_sparse: ignored.
        name: ignored.

    Returns:
        ``(..., M)`` of their dtype.

    Raises:
        ShapeError: the inner axes differ, or the leading axes do not broadcast.
        ValueError: ``a`` is both transposed and adjoint.

    Sources:
        TensorFlow ``tf.linalg.matvec``.
    """
    if transpose_a and adjoint_a:
        raise ValueError("Only one of transpose_a and adjoint_a can be True.")
    a = tensor(a, b if hasattr(b, "dtype") else None)
    column = expand_dims_op(tensor(b, a), axis=-1)
    product = matmul_op(conj(a) if adjoint_a else a, column, transpose_a=bool(transpose_a or adjoint_a))
    return squeeze_op(product, axis=(-1,))
