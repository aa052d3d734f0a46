"""The QR and LU factorizations, and what is solved with the latter."""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import DType, as_dtype, int32, int64
from treadle.errors import InvalidArgumentError, ShapeError, UnimplementedError
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import broadcast_to_op, shape_of, shape_op, sizes_along
from treadle_ops.casting import cast
from treadle_ops.complex_numbers import real_op
from treadle_ops.creation import eye_op, ones_like, zeros_like
from treadle_ops.diagonals import lower_triangle, main_diagonal, upper_triangle, with_main_diagonal
from treadle_ops.elementwise import add, conj, subtract
from treadle_ops.equal_sizes import with_equal_sizes
from treadle_ops.gathering import gather_op
from treadle_ops.joining import concat_op
from treadle_ops.linear_inference import matrix_dims, square_spec
from treadle_ops.linear_systems import triangular_solve_op
from treadle_ops.matrix_transposes import adjoint_of
from treadle_ops.permutations import invert_permutation
from treadle_ops.products import matmul_op


class Qr(NamedTuple):
    """An orthonormal and an upper triangular factor."""

    q: Any
    r: Any


class Lu(NamedTuple):
    """Both triangular factors in one matrix, and the order of the rows."""

    lu: Any
    p: Any


# ---------------------------------------------------------------------- QR


@op("qr", can_fail=True)
def qr_op(input: Spec, *, full_matrices: bool) -> Qr:
    """The QR factorization of matrices."""
    lead, rows, columns, dtype = matrix_dims(input)
    if lead is None:
        return Qr(Spec(None, dtype), Spec(None, dtype))
    inner = rows if full_matrices else sizes.minimum(rows, columns)
    return Qr(Spec((*lead, rows, inner), dtype), Spec((*lead, inner, columns), dtype))


@gradient(qr_op)
def _(ctx: Any, gq: Any, gr: Any) -> Any:
    (a,) = ctx.inputs
    q, r = ctx.outputs
    rows, columns = a.dims[-2:] if a.dims is not None else (None, None)
    if type(rows) is int and type(columns) is int:
        if ctx.full_matrices and rows > columns:
            raise UnimplementedError(f"qr: there is no gradient with full_matrices for shape {a.shape}, which has more rows than columns")
        if rows >= columns:
            return _of_tall(q, r, gq, gr)
    elif ctx.full_matrices:
        a = wide_matrices(a)
    # a = [x y], r = [u w]: y = q w, and x = q u has no more columns than rows; without y it is all
    (inner,) = sizes_along([q], -1)
    y, u, gu, gw = a[..., :, inner:], r[..., :, :inner], gr[..., :, :inner], gr[..., :, inner:]
    of_x = _of_tall(q, u, add(gq, matmul_op(y, conj(gw), transpose_b=True)), gu)
    return concat_op([of_x, matmul_op(q, gw)], axis=-1)


@op("wide_matrices", aliases=True, can_fail=True)
def wide_matrices(x: Spec) -> Spec:
    """``x``, whose matrices have no more rows than columns, or the gradient of ``qr`` refuses them."""
    return Spec(x.dims, x.dtype)


@gradient(wide_matrices)
def _(ctx: Any, g: Any) -> Any:
    return g


def _of_tall(q: Any, r: Any, gq: Any, gr: Any) -> Any:
    """The gradient for at least as many rows as columns: ``(gq + q copied(r gr^H - gq^H q)) r^-H`` with the lower triangle copied to the upper."""
    inner = subtract(matmul_op(r, adjoint_of(gr)), matmul_op(adjoint_of(gq), q))
    lower = lower_triangle(inner)
    strictly = with_main_diagonal(lower, zeros_like(main_diagonal(lower)))
    whole = add(with_main_diagonal(strictly, _real_part(main_diagonal(inner))), adjoint_of(strictly))
    right = add(gq, matmul_op(q, whole))
    return adjoint_of(triangular_solve_op(r, adjoint_of(right), lower=False, adjoint=False))


def _real_part(x: Any) -> Any:
    return cast(real_op(x), x.dtype) if x.dtype.is_complex else x


@public("linalg.qr")
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """The QR factorization of matrices, ``input = q @ r``.

    Args:
        input: ``(..., M, N)``, floating or complex.
        full_matrices: make ``q`` square.
        name: ignored.

    Returns:
        A named tuple of ``q``, ``(..., M, P)`` with orthonormal columns, and the upper triangular ``r``, ``(..., P, N)``, with ``P = min(M, N)``.

    Raises:
        ShapeError: the rank is below 2.

    Sources:
        TensorFlow ``tf.linalg.qr``; gradient: Walter and Lehmann, "Algorithmic differentiation of linear algebra functions", 2018.
    """
    return qr_op(tensor(input), full_matrices=bool(full_matrices))


# ---------------------------------------------------------------------- LU


@op("lu", can_fail=True)
def lu_op(input: Spec, *, output_idx_type: DType) -> Lu:
    """The LU factorization of square matrices with exchanged rows."""
    square = square_spec(input)
    return Lu(square, Spec(None if square.dims is None else square.dims[:-1], output_idx_type))


@public("linalg.lu")
def lu(input: Any, output_idx_type: Any = int32, name: str | None = None) -> Any:
    """The LU factorization of square matrices: the rows in the order ``p`` are a product of triangular factors.

    Args:
        input: ``(..., M, M)``, floating or complex.
        output_idx_type: int32 or int64.
        name: ignored.

    Returns:
        A named tuple of ``lu``, ``(..., M, M)``: the lower factor, whose main diagonal of ones is left out, and the upper one in one matrix; and
        ``p``, ``(..., M)`` of ``output_idx_type``: which row of the input each row is.

    Raises:
        ShapeError: the matrices are not square.
        InvalidArgumentError: one is singular.

    Sources:
        TensorFlow ``tf.linalg.lu``.
    """
    wanted = as_dtype(output_idx_type)
    if wanted not in (int32, int64):
        raise InvalidArgumentError(f"lu: output_idx_type must be int32 or int64, not {wanted.name}")
    return lu_op(tensor(input), output_idx_type=wanted)


def _factors(lower_upper: Any) -> tuple[Any, Any]:
    return with_main_diagonal(lower_triangle(lower_upper), ones_like(main_diagonal(lower_upper))), upper_triangle(lower_upper)


def _arguments(name: str, lower_upper: Any, perm: Any) -> tuple[Any, Any]:
    factors, order = tensor(lower_upper), tensor(perm)
    if factors.dims is not None and (len(factors.dims) < 2 or sizes.known_different(factors.dims[-1], factors.dims[-2])):
        raise ShapeError(f"{name}: Input `lower_upper` must be square matrices, not of shape {factors.shape}")
    if order.dims is not None and (not order.dims or (factors.dims is not None and len(order.dims) != len(factors.dims) - 1)):
        raise ShapeError(f"{name}: `perm` of shape {order.shape} does not fit `lower_upper` of shape {factors.shape}")
    return factors, with_equal_sizes(order, -1, factors, -1, f"{name}: the last sizes of `perm` and `lower_upper`")


def _rows_at(x: Any, order: Any) -> Any:
    """The rows of matrices in another order, one for each matrix."""
    return gather_op(x, order, axis=-2, batch_dims=-1)


@public("linalg.lu_reconstruct")
def lu_reconstruct(lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None) -> Any:
    """The matrices that were factorized.

    Args:
        lower_upper: ``(..., M, M)``, as ``lu`` gives it.
        perm: ``(..., M)``, as ``lu`` gives it.
        validate_args: ignored; arguments are always checked.
        name: ignored.

    Returns:
        ``(..., M, M)`` of the dtype of ``lower_upper``.

    Raises:
        ShapeError: the shapes do not fit.

    Sources:
        TensorFlow ``tf.linalg.lu_reconstruct``.
    """
    factors, order = _arguments("lu_reconstruct", lower_upper, perm)
    lower, upper = _factors(factors)
    return _rows_at(matmul_op(lower, upper), _inverse_order(order))


def _inverse_order(order: Any) -> Any:
    if order.dims is not None and len(order.dims) == 1:
        return invert_permutation(order)
    return inverse_orders(order)


@op("inverse_orders", can_fail=True)
def inverse_orders(order: Spec) -> Spec:
    """For each row of orders the one that undoes it."""
    return Spec(order.dims, order.dtype)


@public("linalg.lu_solve")
def lu_solve(lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: str | None = None) -> Any:
    """The solution of ``a @ x = rhs`` from the LU factorization of ``a``.

    Args:
        lower_upper: ``(..., M, M)``, as ``lu`` gives it.
        perm: ``(..., M)``, as ``lu`` gives it.
        rhs: ``(..., M, K)`` of the dtype of ``lower_upper``.
        validate_args: ignored; arguments are always checked.
        name: ignored.

    Returns:
        ``(..., M, K)`` of that dtype.

    Raises:
        ShapeError: the shapes do not fit.

    Sources:
        TensorFlow ``tf.linalg.lu_solve``.
    """
    factors, order = _arguments("lu_solve", lower_upper, perm)
    b = tensor(rhs, factors)
    if b.dims is not None and len(b.dims) < 2:
        raise ShapeError(f"lu_solve: Input `rhs` must have at least 2 dimensions, got shape {b.shape}")
    if b.dims is not None and factors.dims is not None and len(b.dims) > len(factors.dims):
        raise ShapeError(f"lu_solve: `rhs` of shape {b.shape} has more axes than `lower_upper` of shape {factors.shape}")
    if b.dims is None or factors.dims is None or len(b.dims) < len(factors.dims):
        b = broadcast_to_op(b, concat_op([shape_op(factors, out_type=int32)[:-1], shape_op(b, out_type=int32)[-1:]], axis=0))
    lower, _ = _factors(factors)
    half = triangular_solve_op(lower, _rows_at(b, order), lower=True, adjoint=False)
    return triangular_solve_op(factors, half, lower=False, adjoint=False)


@public("linalg.lu_matrix_inverse")
def lu_matrix_inverse(lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None) -> Any:
    """The inverse of matrices from their LU factorization.

    Args:
        lower_upper: ``(..., M, M)``, as ``lu`` gives it.
        perm: ``(..., M)``, as ``lu`` gives it.
        validate_args: ignored; arguments are always checked.
        name: ignored.

    Returns:
        ``(..., M, M)`` of the dtype of ``lower_upper``.

    Raises:
        ShapeError: the shapes do not fit.

    Sources:
        TensorFlow ``tf.linalg.lu_matrix_inverse``.
    """
    factors, order = _arguments("lu_matrix_inverse", lower_upper, perm)
    return lu_solve(factors, order, eye_op(shape_of(factors), dtype=factors.dtype))
