"""The singular value decomposition, and what follows from it: pseudo-inverse and rank."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import int32
from treadle.errors import DTypeError, ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.axis_extremes import reduce_max_op
from treadle_ops.broadcasting import axis_size, sum_like
from treadle_ops.called_function import subject
from treadle_ops.casting import cast
from treadle_ops.comparison import greater, not_equal
from treadle_ops.creation import zeros_like
from treadle_ops.diagonals import diagonal_matrix, main_diagonal, with_main_diagonal
from treadle_ops.elementwise import multiply, subtract
from treadle_ops.extremes import maximum, minimum
from treadle_ops.linear_inference import matrix_dims
from treadle_ops.masking import where_op
from treadle_ops.matrix_transposes import adjoint_of
from treadle_ops.products import matmul_op
from treadle_ops.reductions import reduce_sum_op
from treadle_ops.shaping import expand_dims_op
from treadle_ops.zero_safe import divide_no_nan, reciprocal_no_nan


class SingularValueDecomposition(NamedTuple):
    """Singular values, largest first, and the matrices ``u`` and ``v`` with ``a = u @ diag(s) @ adjoint(v)``."""

    s: Any
    u: Any
    v: Any


@op("svd", can_fail=True)
def svd_op(a: Spec, *, full_matrices: bool) -> SingularValueDecomposition:
    """The singular value decomposition of matrices."""
    lead, rows, columns, dtype = matrix_dims(a)
    if lead is None:
        return SingularValueDecomposition(Spec(None, dtype.real_dtype), Spec(None, dtype), Spec(None, dtype))
    few = sizes.minimum(rows, columns)
    return SingularValueDecomposition(
        Spec((*lead, few), dtype.real_dtype),
        Spec((*lead, rows, rows if full_matrices else few), dtype),
        Spec((*lead, columns, columns if full_matrices else few), dtype),
    )


@op("singular_values", can_fail=True)
def singular_values(a: Spec) -> Spec:
    """The singular values of matrices, largest first."""
    lead, rows, columns, dtype = matrix_dims(a)
    return Spec(None if lead is None else (*lead, sizes.minimum(rows, columns)), dtype.real_dtype)


@gradient(singular_values)
def _(ctx: Any, g: Any) -> Any:
    _, u, v = svd_op(ctx.inputs[0], full_matrices=False)
    return matmul_op(_scaled_columns(u, g), adjoint_of(v))


@gradient(svd_op)
def _(ctx: Any, gs: Any, gu: Any, gv: Any) -> Any:
    (a,) = ctx.inputs
    s, u, v = ctx.outputs
    if ctx.full_matrices:
        s, u, v, gu, gv = _thin(a, s, u, v, gu, gv)
    uh, vh = adjoint_of(u), adjoint_of(v)
    turn_u, turn_v = _skew(matmul_op(uh, gu)), _skew(matmul_op(vh, gv))
    squares = multiply(s, s)
    gaps = subtract(expand_dims_op(squares, axis=-2), expand_dims_op(squares, axis=-1))
    weights = cast(_no_diagonal(reciprocal_no_nan(gaps)), a.dtype)
    inner = _scaled_columns(multiply(turn_u, weights), s) + _scaled_rows(multiply(turn_v, weights), s)
    diagonal = cast(gs, a.dtype)
    inverse = reciprocal_no_nan(s)
    if a.dtype.is_complex:
        diagonal = diagonal + main_diagonal(turn_u) * cast(inverse * 0.5, a.dtype)
    inner = inner + diagonal_matrix(diagonal)
    result = matmul_op(matmul_op(u, inner), vh)
    rows, columns = a.dims[-2:] if a.dims is not None else (None, None)
    if not (type(rows) is int and type(columns) is int) or rows > columns:
        left = subtract(gu, matmul_op(u, matmul_op(uh, gu)))
        result = result + matmul_op(_scaled_columns(left, inverse), vh)
    if not (type(rows) is int and type(columns) is int) or columns > rows:
        right = subtract(gv, matmul_op(v, matmul_op(vh, gv)))
        result = result + matmul_op(_scaled_columns(u, inverse), adjoint_of(right))
    return result


def _thin(a: Any, s: Any, u: Any, v: Any, gu: Any, gv: Any) -> tuple[Any, ...]:
    """The decomposition without the columns beyond the singular values, whose gradient is taken as if they were fixed by the others."""
    few = s.dims[-1] if s.dims is not None else None
    if type(few) is not int:
        raise ShapeError(f"svd: the gradient with full_matrices needs a static shape, not {a.shape}")
    return s, u[..., :few], v[..., :few], gu[..., :few], gv[..., :few]


def _skew(x: Any) -> Any:
    return subtract(x, adjoint_of(x))


def _no_diagonal(x: Any) -> Any:
    return with_main_diagonal(x, zeros_like(main_diagonal(x)))


def _scaled_columns(x: Any, factors: Any) -> Any:
    """``x @ diag(factors)``."""
    return multiply(x, cast(expand_dims_op(factors, axis=-2), x.dtype))


def _scaled_rows(x: Any, factors: Any) -> Any:
    """``diag(factors) @ x``."""
    return multiply(x, cast(expand_dims_op(factors, axis=-1), x.dtype))


@public("linalg.svd")
def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """The singular value decomposition of matrices, ``a = u @ diag(s) @ adjoint(v)``.

    Args:
        tensor: ``(..., M, N)``, floating or complex.
        full_matrices: make ``u`` and ``v`` square.
        compute_uv: give ``u`` and ``v`` too.
        name: ignored.

    Returns:
        ``s`` of shape ``(..., P)`` with ``P = min(M, N)``, largest first and real; ``u``, ``(..., M, P)``; ``v``, ``(..., N, P)``, not transposed.

    Raises:
        ShapeError: the rank is below 2.
        InvalidArgumentError: an element is not finite.

    Sources:
        TensorFlow ``tf.linalg.svd``; gradient: Townsend, "Differentiating the singular value decomposition", 2016.
    """
    x = _tensor(tensor)
    if not compute_uv:
        return singular_values(x)
    return tuple(svd_op(x, full_matrices=bool(full_matrices)))


_tensor = tensor

# ---------------------------------------------------------------------- pseudo-inverse and rank


@op("pinv", can_fail=True)
def pinv_op(a: Spec, rcond: Spec) -> Spec:
    """The Moore-Penrose inverse; singular values up to ``rcond`` times the largest count as 0."""
    lead, rows, columns, dtype = matrix_dims(a)
    if lead is None:
        return Spec(None, dtype)
    return Spec((*(sizes.broadcast(lead, rcond.dims) or ()), columns, rows), dtype)


@gradient(pinv_op)
def _(ctx: Any, g: Any) -> Any:
    a, rcond = ctx.inputs
    p = ctx.output
    ph, gh = adjoint_of(p), adjoint_of(g)
    beside_columns = subtract(gh, matmul_op(a, matmul_op(p, gh)))  # (I - A P) G^H
    beside_rows = subtract(gh, matmul_op(matmul_op(gh, p), a))  # G^H (I - P A)
    beside = matmul_op(matmul_op(beside_columns, p), ph) + matmul_op(ph, matmul_op(p, beside_rows))
    result = beside - matmul_op(matmul_op(ph, g), ph) + _across_the_cut(a, rcond, beside)
    return sum_like(result, a), None


def _across_the_cut(a: Any, rcond: Any, beside: Any) -> Any:
    """What singular values that count as 0 and are not add to the gradient of ``pinv``: ``u inner v^H``.

    With ``b = u^H beside v``, ``inner`` is ``(c c b + k c b^H) / (k k - c c)`` between a value that is kept, ``k``, and one that is cut, ``c``.
    """
    s, u, v = svd_op(a, full_matrices=False)
    is_kept = greater(s, multiply(cast(expand_dims_op(rcond, axis=-1), s.dtype), s[..., :1]))
    is_between = not_equal(expand_dims_op(is_kept, axis=-1), expand_dims_op(is_kept, axis=-2))
    rows, columns = expand_dims_op(s, axis=-1), expand_dims_op(s, axis=-2)
    k, c = maximum(rows, columns), minimum(rows, columns)
    share = divide_no_nan(c, where_op(is_between, multiply(k - c, k + c), 0))
    b = matmul_op(matmul_op(adjoint_of(u), beside), v)
    inner = multiply(cast(c * share, a.dtype), b) + multiply(cast(k * share, a.dtype), adjoint_of(b))
    return matmul_op(matmul_op(u, inner), adjoint_of(v))


def _require_matrix(a: Any) -> None:
    if not (a.dtype.is_floating or a.dtype.is_complex):
        raise DTypeError(f"{subject()}Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.dims is not None and len(a.dims) < 2:
        raise ShapeError(f"{subject()}Input `a` must have at least 2 dimensions (saw: {len(a.dims)}).")


def _epsilon_of(a: Any, factor: float) -> Any:
    """The dtype's epsilon times the larger side of the matrix, times a factor."""
    real = a.dtype.real_dtype
    epsilon = float(np.finfo(real.numpy).eps) * factor
    rows, columns = (a.dims[-2], a.dims[-1]) if a.dims is not None else (None, None)
    if type(rows) is int and type(columns) is int:
        return tensor(max(rows, columns) * epsilon, _Like(real))
    return multiply(cast(maximum(axis_size(a, axis=-2), axis_size(a, axis=-1)), real), epsilon)


class _Like(NamedTuple):
    dtype: Any


@public("linalg.pinv")
def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """The Moore-Penrose inverse of matrices.

    Args:
        a: ``(..., M, N)``, floating or complex.
        rcond: singular values up to this times the largest count as 0; ``10 * max(M, N) * eps`` by default.
        validate_args: ignored; arguments are always checked.
        name: ignored.

    Returns:
        ``(..., N, M)`` of the dtype of ``a``.

    Raises:
        ShapeError: the rank is below 2.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.linalg.pinv``; gradient: Golub and Pereyra, 1973.
    """
    a = tensor(a)
    _require_matrix(a)
    return pinv_op(a, _epsilon_of(a, 10.0) if rcond is None else tensor(rcond, _Like(a.dtype.real_dtype)))


@public("linalg.matrix_rank")
def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """The rank of matrices: how many singular values are above a tolerance.

    Args:
        a: ``(..., M, N)``, floating or complex.
        tol: the tolerance; ``eps * max(M, N)`` times the largest singular value by default.
        validate_args: ignored; arguments are always checked.
        name: ignored.

    Returns:
        ``(...)``, int32.

    Raises:
        ShapeError: the rank of the tensor is below 2.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.linalg.matrix_rank``.
    """
    a = tensor(a)
    _require_matrix(a)
    s = singular_values(a)
    if tol is None:
        bound = multiply(reduce_max_op(s, axis=(-1,), keepdims=True), _epsilon_of(a, 1.0))
    else:
        bound = expand_dims_op(tensor(tol, s), axis=-1)
    return reduce_sum_op(cast(greater(s, bound), int32), axis=(-1,), keepdims=False)
