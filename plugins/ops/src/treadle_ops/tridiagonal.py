"""Tridiagonal matrices, given by their diagonals: products and systems with them."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import int32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import broadcast_to_op, shape_of, shape_op, sizes_along, sum_like
from treadle_ops.creation import ones_op, zeros_like
from treadle_ops.diagonals import diag_part_op, zero_like
from treadle_ops.elementwise import add, conj, multiply, negative, subtract
from treadle_ops.equal_sizes import with_equal_sizes
from treadle_ops.extremes import maximum
from treadle_ops.inference import FLOATING_OR_COMPLEX, same_dtype
from treadle_ops.joining import concat_op, stack_op, unstack_op
from treadle_ops.linear_inference import matrix_dims
from treadle_ops.matrix_transposes import matrix_transpose_op
from treadle_ops.reductions import reduce_sum_op
from treadle_ops.shaping import expand_dims_op, reshape_op, squeeze_op
from treadle_ops.sizes import rank_op


@op("tridiagonal_solve", can_fail=True)
def tridiagonal_solve_op(diagonals: Spec, rhs: Spec) -> Spec:
    """The solution of systems; rows of ``diagonals`` are the one above, the main one and the one below, a column for each row of the matrix."""
    dtype = same_dtype(diagonals, rhs, kinds=FLOATING_OR_COMPLEX)
    lead, three, size, _ = matrix_dims(diagonals, "diagonals")
    lead_b, rows, count, _ = matrix_dims(rhs, "the right-hand side")
    if sizes.known_different(three, 3):
        raise ShapeError(f"diagonals of shape {diagonals.shape} must have 3 rows, got {three}")
    if sizes.known_different(rows, size):
        raise ShapeError(f"diagonals of shape {diagonals.shape} and a right-hand side of shape {rhs.shape} do not fit: {size} and {rows} rows")
    if lead is None or lead_b is None:
        return Spec(None, dtype)
    return Spec((*(sizes.broadcast(lead, lead_b) or ()), sizes.unify(size, rows, "rows"), count), dtype)


@gradient(tridiagonal_solve_op)
def _(ctx: Any, g: Any) -> Any:
    diagonals, rhs = ctx.inputs
    above, main, below = (diagonals[..., i, :] for i in range(3))
    turned = conj(stack_op([_later(below), main, _earlier(above)], axis=-2))
    of_rhs = tridiagonal_solve_op(turned, g)
    of_diagonals = None
    if ctx.needs[0]:
        x = conj(ctx.output)
        rows = [reduce_sum_op(multiply(of_rhs, other), axis=(-1,), keepdims=False) for other in (_up(x), x, _down(x))]
        of_diagonals = sum_like(negative(stack_op(rows, axis=-2)), diagonals)
    return of_diagonals, sum_like(of_rhs, rhs) if ctx.needs[1] else None


def _later(row: Any) -> Any:
    """Elements moved to the column before, zero at the end."""
    return concat_op([row[..., 1:], zeros_like(row[..., :1])], axis=-1)


def _earlier(row: Any) -> Any:
    """Elements moved to the column after, zero at the start."""
    return concat_op([zeros_like(row[..., :1]), row[..., :-1]], axis=-1)


def _up(x: Any) -> Any:
    """Each row is the one below it; zeros at the end."""
    return concat_op([x[..., 1:, :], zeros_like(x[..., :1, :])], axis=-2)


def _down(x: Any) -> Any:
    """Each row is the one above it; zeros at the start."""
    return concat_op([zeros_like(x[..., :1, :]), x[..., :-1, :]], axis=-2)


def _compact(diagonals: Any, form: str, name: str) -> Any:
    """Diagonals of any form as rows of a matrix: above, main, below."""
    if form == "matrix":
        matrix = tensor(diagonals)
        if matrix.dims is not None and (len(matrix.dims) < 2 or sizes.known_different(matrix.dims[-1], matrix.dims[-2])):
            raise ShapeError(f"{name}: a matrix of shape {matrix.shape} was given; expected square matrices")
        matrix = with_equal_sizes(matrix, -2, matrix, -1, f"{name}: the numbers of rows and columns of a matrix")
        return diag_part_op(matrix, zero_like(matrix), k=(-1, 1), align="LEFT_RIGHT")
    if form == "compact":
        rows = tensor(diagonals)
        if rows.dims is not None and (len(rows.dims) < 2 or sizes.known_different(rows.dims[-2], 3)):
            raise ShapeError(f"{name}: diagonals of shape {rows.shape} were given; expected 3 rows, those above, on and below the main diagonal")
        return rows
    if form != "sequence":
        raise InvalidArgumentError(f"{name}: unrecognized diagonals_format {form!r}; expected 'compact', 'matrix' or 'sequence'")
    if not isinstance(diagonals, list | tuple) or len(diagonals) != 3:
        raise InvalidArgumentError(f"{name}: expected diagonals to be a sequence of length 3, got {diagonals!r}")
    main = tensor(diagonals[1])
    above, below = tensor(diagonals[0], main), tensor(diagonals[2], main)
    if any(x.dims is not None and not x.dims for x in (above, main, below)):
        raise ShapeError(f"{name}: diagonals of the shapes {above.shape}, {main.shape} and {below.shape} were given; expected rank 1 or more")

    def fitted(row: Any, at_end: bool) -> Any:
        own, size = sizes_along([row, main], -1)
        if type(own) is int and type(size) is int:
            if own == size:
                return broadcast_to_op(row, shape_of(main))
            if own != size - 1:
                raise ShapeError(f"{name}: diagonals of the shapes {above.shape}, {main.shape} and {below.shape} do not fit each other")
        gap = zeros_like(main[..., :1][..., : size - own])  # one element or none: a row that lacks more does not stack
        return concat_op([row, gap] if at_end else [gap, row], axis=-1)

    return stack_op([fitted(above, True), main, fitted(below, False)], axis=-2)


@public("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Any:
    """The solution of systems with tridiagonal matrices.

    Args:
        diagonals: by ``diagonals_format``: ``"compact"``, ``(..., 3, M)`` with the diagonal above, the main one and the one below, a column for each
            row of the matrix, so that the last element of the first and the first of the last are not read; ``"sequence"``, the three of them, the
            outer ones of length M or M - 1; ``"matrix"``, ``(..., M, M)``, of which the three are read. Floating or complex.
        rhs: ``(..., M)`` or ``(..., M, K)`` of the same dtype.
        diagonals_format: see ``diagonals``.
        transpose_rhs: transpose ``rhs`` first.
        conjugate_rhs: conjugate ``rhs`` first.
        name: ignored.
        partial_pivoting: ignored: rows are always exchanged where it makes the solution more accurate.
        perturb_singular: ignored.

    Returns:
        The shape of ``rhs`` (transposed with ``transpose_rhs``) and its dtype.

    Raises:
        ShapeError: the shapes do not fit.
        InvalidArgumentError: a matrix is singular.

    Sources:
        TensorFlow ``tf.linalg.tridiagonal_solve``.
    """
    rows = _compact(diagonals, diagonals_format, "tridiagonal_solve")
    b = tensor(rhs, rows)
    if conjugate_rhs:
        b = conj(b)
    if rows.dims is None or b.dims is None:
        if transpose_rhs:
            raise ShapeError(
                "tridiagonal_solve: the rank of an input is not known while tracing, so rhs cannot be transposed: it may hold vectors or matrices; "
                "give both a shape with set_shape or ensure_shape"
            )
        fewer = maximum(subtract(rank_op(rows), rank_op(b)), 0)  # 1 for vectors, which are columns then
        columns = reshape_op(b, concat_op([shape_op(b, out_type=int32), ones_op([fewer], dtype=int32)], axis=0))
        return reshape_op(tridiagonal_solve_op(rows, columns), shape_of(b))
    is_vector = len(b.dims) == len(rows.dims) - 1
    if is_vector:
        return squeeze_op(tridiagonal_solve_op(rows, expand_dims_op(b, axis=-1)), axis=(-1,))
    return tridiagonal_solve_op(rows, matrix_transpose_op(b) if transpose_rhs else b)


@public("linalg.tridiagonal_matmul")
def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None) -> Any:
    """The product of tridiagonal matrices and others.

    Args:
        diagonals: as for ``tridiagonal_solve``.
        rhs: ``(..., M, K)`` of the same dtype.
        diagonals_format: as for ``tridiagonal_solve``.
        name: ignored.

    Returns:
        ``(..., M, K)`` of their dtype.

    Raises:
        ShapeError: the shapes do not fit.

    Sources:
        TensorFlow ``tf.linalg.tridiagonal_matmul``.
    """
    rows = _compact(diagonals, diagonals_format, "tridiagonal_matmul")
    b = tensor(rhs, rows)
    if b.dims is not None and len(b.dims) < 2:
        raise ShapeError(f"tridiagonal_matmul: the right-hand side has shape {b.shape}; expected rank 2 or more")
    if rows.dims is not None and b.dims is not None and sizes.known_different(rows.dims[-1], b.dims[-2]):
        raise ShapeError(f"tridiagonal_matmul: diagonals of shape {rows.shape} and a right-hand side of shape {b.shape} do not fit")
    above, main, below = (expand_dims_op(row, axis=-1) for row in unstack_op(rows, num=3, axis=-2))
    return add(add(multiply(above, _up(b)), multiply(main, b)), multiply(below, _down(b)))
