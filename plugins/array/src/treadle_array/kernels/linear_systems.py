"""Systems of linear equations by the array module's LAPACK; short floats are computed in float32."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.errors import InvalidArgumentError
from treadle_array.matrices import back, decomposed, matrix, square, widened


@kernel("cholesky")
def cholesky(xp: Any) -> Any:
    """See the op."""

    def run(x: Any) -> Any:
        square(x)
        if not x.size:
            return x.copy()
        try:
            factor = xp.linalg.cholesky(widened(xp, x))
        except Exception as error:
            if type(error).__name__ != "LinAlgError":
                raise
            raise InvalidArgumentError("Cholesky decomposition was not successful: the matrix is not positive definite") from error
        if not bool(xp.isfinite(factor).all()):
            raise InvalidArgumentError("Cholesky decomposition was not successful: the matrix is not positive definite, or not finite")
        return back(xp, factor, x)

    return run


def _inverted(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        if type(error).__name__ != "LinAlgError":
            raise
        raise InvalidArgumentError("Input matrix is not invertible.") from error


@kernel("inv")
def inv(xp: Any) -> Any:
    """See the op."""

    def run(x: Any) -> Any:
        square(x)
        return back(xp, _inverted(xp.linalg.inv, widened(xp, x)), x) if x.size else x.copy()

    return run


def check_system(a: Any, b: Any) -> None:
    """Refuse what is no system of square matrices.

    Raises:
        ValueError: it is not.
    """
    square(a, "the matrix")
    if matrix(b, "the right-hand side").shape[-2] != a.shape[-1]:
        raise ValueError(f"the matrix of shape {a.shape} and the right-hand side of shape {b.shape} do not fit")


def adjoint_of(xp: Any, a: Any) -> Any:
    """The conjugate transpose, as a view where it is real."""
    turned = a.swapaxes(-1, -2)
    return xp.conjugate(turned) if a.dtype.kind == "c" else turned


@kernel("solve")
def solve(xp: Any) -> Any:
    """See the op."""

    def run(a: Any, b: Any, *, adjoint: bool) -> Any:
        check_system(a, b)
        wide, right = widened(xp, a), widened(xp, b)
        if adjoint:
            wide = adjoint_of(xp, wide)
        if not a.shape[-1] or not b.shape[-1]:
            return empty_solution(xp, a, b)
        return back(xp, _inverted(xp.linalg.solve, wide, right), a)

    return run


def empty_solution(xp: Any, a: Any, b: Any) -> Any:
    """The solution of a system of no equations, or of no right-hand sides."""
    lead = xp.zeros(a.shape[:-2], bool) | xp.zeros(b.shape[:-2], bool)
    return xp.zeros((*lead.shape, *b.shape[-2:]), b.dtype)


@kernel("triangular_solve")
def triangular_solve(xp: Any) -> Any:
    """See the op; row by row, for all matrices at once."""

    def run(a: Any, b: Any, *, lower: bool, adjoint: bool) -> Any:
        check_system(a, b)
        wide, right = widened(xp, a), widened(xp, b)
        if adjoint:
            wide, lower = adjoint_of(xp, wide), not lower
        x = xp.array(empty_solution(xp, wide, right) + right, order="C")
        size = x.shape[-2]
        for i in range(size) if lower else range(size - 1, -1, -1):
            done = slice(0, i) if lower else slice(i + 1, size)
            if i != (0 if lower else size - 1):
                x[..., i, :] -= xp.matmul(wide[..., i : i + 1, done], x[..., done, :])[..., 0, :]
            x[..., i, :] /= wide[..., i, i, None]
        return back(xp, x, a)

    return run


@kernel("lstsq")
def lstsq(xp: Any) -> Any:
    """See the op."""

    def run(a: Any, b: Any) -> Any:
        if matrix(a, "the matrix").shape[-2] != matrix(b, "the right-hand side").shape[-2]:
            raise ValueError(f"the matrix of shape {a.shape} and the right-hand side of shape {b.shape} do not fit")
        wide = widened(xp, a)
        if not a.size:
            lead = empty_solution(xp, a, b).shape[:-2]
            return xp.zeros((*lead, a.shape[-1], b.shape[-1]), b.dtype)
        cutoff, right = float(xp.finfo(wide.dtype).eps) * max(a.shape[-2:]), widened(xp, b)
        if a.ndim == b.ndim == 2:
            return back(xp, decomposed(xp.linalg.lstsq, wide, right, cutoff)[0], a)
        return back(xp, xp.matmul(decomposed(xp.linalg.pinv, wide, cutoff), right), a)

    return run
