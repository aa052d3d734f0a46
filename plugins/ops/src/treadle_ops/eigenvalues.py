"""Eigenvalues and eigenvectors: of Hermitian matrices (of which the lower triangle is read), of general ones, and of tridiagonal ones."""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dims import Dim
from treadle.dtypes import DType, complex64, complex128
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import static_value, tensor
from treadle_ops.called_function import subject
from treadle_ops.casting import cast
from treadle_ops.complex_numbers import real_op
from treadle_ops.creation import ones_like, zeros_like
from treadle_ops.cumulative import cumprod_op
from treadle_ops.diagonals import diagonal_matrix, lower_triangle, main_diagonal, with_main_diagonal
from treadle_ops.elementwise import add, conj, multiply, subtract
from treadle_ops.inference import FLOATING, require_rank, same_dtype
from treadle_ops.joining import concat_op
from treadle_ops.linear_inference import square_dims, square_spec
from treadle_ops.linear_systems import solve_op
from treadle_ops.matrix_transposes import adjoint_of
from treadle_ops.products import matmul_op
from treadle_ops.shaping import expand_dims_op
from treadle_ops.signs import absolute
from treadle_ops.zero_safe import divide_no_nan, reciprocal_no_nan


class Eigen(NamedTuple):
    """Eigenvalues, and a column for the eigenvector of each."""

    e: Any
    v: Any


# ---------------------------------------------------------------------- Hermitian matrices


@op("eigh", can_fail=True)
def eigh_op(a: Spec) -> Eigen:
    """Eigenvalues in ascending order, of the dtype of ``a``, and orthonormal eigenvectors."""
    square = square_spec(a)
    return Eigen(Spec(None if square.dims is None else square.dims[:-1], square.dtype), square)


@op("eigvalsh", can_fail=True)
def eigvalsh_op(a: Spec) -> Spec:
    """Eigenvalues in ascending order, of the dtype of ``a``."""
    lead, size, dtype = square_dims(a)
    return Spec(None if lead is None else (*lead, size), dtype)


@gradient(eigh_op)
def _(ctx: Any, ge: Any, gv: Any) -> Any:
    e, v = ctx.outputs
    middle = add(diagonal_matrix(ge), multiply(_gaps(e), matmul_op(adjoint_of(v), gv)))
    return _in_lower_triangle(matmul_op(matmul_op(v, middle), adjoint_of(v)))


@gradient(eigvalsh_op)
def _(ctx: Any, g: Any) -> Any:
    _, v = eigh_op(ctx.inputs[0])
    return _in_lower_triangle(matmul_op(multiply(v, expand_dims_op(g, axis=-2)), adjoint_of(v)))


def _gaps(e: Any) -> Any:
    """``1 / (e_j - e_i)``; 0 on the diagonal and for equal ones."""
    differences = subtract(expand_dims_op(e, axis=-2), expand_dims_op(e, axis=-1))
    return with_main_diagonal(reciprocal_no_nan(differences), zeros_like(e))


def _in_lower_triangle(g: Any) -> Any:
    """The gradient of a Hermitian matrix of which only the lower triangle is read."""
    whole = add(g, adjoint_of(g))
    return lower_triangle(with_main_diagonal(whole, multiply(main_diagonal(whole), 0.5)))


@public("linalg.eigh")
def eigh(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues and eigenvectors of symmetric (Hermitian) matrices.

    Args:
        tensor: ``(..., N, N)``, floating or complex; only the lower triangle is read, and so only it gets a gradient.
        name: ignored.

    Returns:
        The eigenvalues in ascending order, ``(..., N)``, and the orthonormal eigenvectors as columns, ``(..., N, N)``; both of the dtype of
        ``tensor``.

    Raises:
        ShapeError: the matrices are not square.

    Sources:
        TensorFlow ``tf.linalg.eigh``.
    """
    return tuple(eigh_op(_tensor(tensor)))


@public("linalg.eigvalsh")
def eigvalsh(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues of symmetric (Hermitian) matrices.

    Args:
        tensor: ``(..., N, N)``, floating or complex; only the lower triangle is read, and so only it gets a gradient.
        name: ignored.

    Returns:
        The eigenvalues in ascending order, ``(..., N)`` of the dtype of ``tensor``.

    Raises:
        ShapeError: the matrices are not square.

    Sources:
        TensorFlow ``tf.linalg.eigvalsh``.
    """
    return eigvalsh_op(_tensor(tensor))


_tensor = tensor

# ---------------------------------------------------------------------- general matrices


def _complex_of(dtype: DType) -> DType:
    return dtype if dtype.is_complex else complex128 if dtype.size == 8 else complex64


@op("eig", can_fail=True)
def eig_op(a: Spec) -> Eigen:
    """Eigenvalues in no fixed order and eigenvectors of norm 1, complex."""
    dims, dtype = square_spec(a).dims, _complex_of(a.dtype)
    return Eigen(Spec(None if dims is None else dims[:-1], dtype), Spec(dims, dtype))


@op("eigvals", can_fail=True)
def eigvals_op(a: Spec) -> Spec:
    """Eigenvalues in no fixed order, complex."""
    lead, size, dtype = square_dims(a)
    return Spec(None if lead is None else (*lead, size), _complex_of(dtype))


@gradient(eig_op)
def _(ctx: Any, ge: Any, gv: Any) -> Any:
    e, v = ctx.outputs
    vh = adjoint_of(v)
    turned = matmul_op(vh, gv)
    lengths = diagonal_matrix(cast(real_op(main_diagonal(turned)), v.dtype))
    inner = add(diagonal_matrix(ge), multiply(conj(_gaps(e)), subtract(turned, matmul_op(matmul_op(vh, v), lengths))))
    return _as_input(solve_op(vh, matmul_op(inner, vh), adjoint=False), ctx.inputs[0])


@gradient(eigvals_op)
def _(ctx: Any, g: Any) -> Any:
    (a,) = ctx.inputs
    _, v = eig_op(a)
    vh = adjoint_of(v)
    return _as_input(solve_op(vh, multiply(expand_dims_op(g, axis=-1), vh), adjoint=False), a)


def _as_input(g: Any, a: Any) -> Any:
    return g if a.dtype.is_complex else cast(real_op(g), a.dtype)


@public("linalg.eig", "eig")
def eig(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues and eigenvectors of square matrices.

    Args:
        tensor: ``(..., N, N)``, floating or complex.
        name: ignored.

    Returns:
        The eigenvalues in no fixed order, ``(..., N)``, and eigenvectors of norm 1 as columns, ``(..., N, N)``; both complex.

    Raises:
        ShapeError: the matrices are not square.

    Sources:
        TensorFlow ``tf.linalg.eig``; gradient: Boeddeker, Hanebrink, Drude, Heymann and Haeb-Umbach, 2017.
    """
    return tuple(eig_op(_tensor(tensor)))


@public("linalg.eigvals", "eigvals")
def eigvals(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues of square matrices.

    Args:
        tensor: ``(..., N, N)``, floating or complex.
        name: ignored.

    Returns:
        The eigenvalues in no fixed order, ``(..., N)``, complex.

    Raises:
        ShapeError: the matrices are not square.

    Sources:
        TensorFlow ``tf.linalg.eigvals``.
    """
    return eigvals_op(_tensor(tensor))


# ---------------------------------------------------------------------- tridiagonal matrices

Bounds = tuple[float, float] | None


def _selected(main: Spec, beside: Spec, select: str, bounds: Any) -> tuple[Any, DType]:
    dtype = same_dtype(main, beside, kinds=FLOATING)
    (size,) = require_rank(main, 1, "alpha")
    (gaps,) = require_rank(beside, 1, "beta")
    if isinstance(size, int) and isinstance(gaps, int) and gaps != max(size - 1, 0):
        raise ShapeError(f"beta of shape {beside.shape} does not fit alpha of shape {main.shape}; expected one element less")
    if select == "a":
        return size, dtype
    return (bounds[1] - bounds[0] + 1 if select == "i" else Dim.symbol()), dtype


@op("eigh_tridiagonal", can_fail=True)
def eigh_tridiagonal_op(main: Spec, beside: Spec, *, select: str, bounds: Bounds) -> Eigen:
    """Chosen eigenvalues of a symmetric tridiagonal matrix in ascending order, and their eigenvectors."""
    count, dtype = _selected(main, beside, select, bounds)
    return Eigen(Spec((count,), dtype), Spec((require_rank(main, 1, "alpha")[0], count), dtype))


@op("eigvalsh_tridiagonal", can_fail=True)
def eigvalsh_tridiagonal_op(main: Spec, beside: Spec, *, select: str, bounds: Bounds) -> Spec:
    """Chosen eigenvalues of a symmetric tridiagonal matrix in ascending order."""
    count, dtype = _selected(main, beside, select, bounds)
    return Spec((count,), dtype)


def _bounds_argument(select: str, select_range: Any, size: Any) -> tuple[str, Bounds]:
    if select not in ("a", "i", "v"):
        raise InvalidArgumentError(f"{subject()}'select' must have a value in {{'a', 'i', 'v'}}, got {select!r}")
    if select == "a":
        return "a", None
    known = static_value(select_range, "select_range") if select_range is not None else None
    if not isinstance(known, tuple) or len(known) != 2:
        raise InvalidArgumentError(f"{subject()}select_range must be two numbers for select={select!r}, got {select_range!r}")
    low, high = known
    if select == "v":
        if not low < high:
            raise InvalidArgumentError(f"select_range must be an interval for select='v', got {known}")
        return "v", (float(low), float(high))
    if type(low) is not int or type(high) is not int or low > high or low < 0 or (type(size) is int and high >= size):
        raise InvalidArgumentError(f"{subject()}select_range {known} is out of range for select='i'; expected two indices from 0 to {size} in order")
    return "i", (low, high)


@public("linalg.eigh_tridiagonal")
def eigh_tridiagonal(
    alpha: Any, beta: Any, eigvals_only: bool = True, select: str = "a", select_range: Any = None, tol: Any = None, name: str | None = None
) -> Any:
    """Eigenvalues of a Hermitian tridiagonal matrix.

    Args:
        alpha: ``(N,)``, the main diagonal, floating or complex; imaginary parts are not read.
        beta: ``(N - 1,)`` of the same dtype, the diagonal above it.
        eigvals_only: give no eigenvectors.
        select: ``"a"`` for all eigenvalues; ``"i"`` for those whose index is in ``select_range``, ends included; ``"v"`` for those in the interval
            ``(select_range[0], select_range[1]]``.
        select_range: two numbers.
        tol: ignored: eigenvalues are as accurate as the dtype.
        name: ignored.

    Returns:
        The eigenvalues in ascending order, real; with the eigenvectors as columns unless ``eigvals_only``.

    Raises:
        ShapeError: the shapes do not fit.
        ValueError: ``select`` or ``select_range`` is another one.

    Sources:
        TensorFlow ``tf.linalg.eigh_tridiagonal``.
    """
    main = tensor(alpha, beta if hasattr(beta, "dtype") else None)
    beside = tensor(beta, main)
    chosen, bounds = _bounds_argument(select, select_range, main.dims[0] if main.dims else None)
    real_main, real_beside = (real_op(main), absolute(beside)) if main.dtype.is_complex else (main, beside)
    if eigvals_only:
        return eigvalsh_tridiagonal_op(real_main, real_beside, select=chosen, bounds=bounds)
    values, vectors = eigh_tridiagonal_op(real_main, real_beside, select=chosen, bounds=bounds)
    if main.dtype.is_complex:  # the matrix is d T d^H with a real T and the products d of the phases of beta
        phases = divide_no_nan(conj(beside), cast(real_beside, main.dtype))
        turns = cumprod_op(concat_op([ones_like(main[:1]), phases], axis=0), axis=0, exclusive=False, reverse=False)
        vectors = multiply(expand_dims_op(turns, axis=-1), cast(vectors, main.dtype))
    return values, vectors
