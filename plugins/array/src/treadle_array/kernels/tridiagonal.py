"""Systems with tridiagonal matrices, for any array module: elimination with exchanged rows, for all matrices at once."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.errors import InvalidArgumentError
from treadle_array.matrices import back, matrix, widened


def check_tridiagonal(diagonals: Any, b: Any) -> None:
    """Refuse what is no system.

    Raises:
        ValueError: it is not.
    """
    if matrix(diagonals, "diagonals").shape[-2] != 3 or matrix(b, "the right-hand side").shape[-2] != diagonals.shape[-1]:
        raise ValueError(f"diagonals of shape {diagonals.shape} and a right-hand side of shape {b.shape} do not fit")


@kernel("tridiagonal_solve")
def tridiagonal_solve(xp: Any) -> Any:
    """See the op; the algorithm is LAPACK's ``gtsv``, which leaves a second diagonal above the main one."""

    def run(diagonals: Any, b: Any) -> Any:
        check_tridiagonal(diagonals, b)
        rows = widened(xp, diagonals)
        size = rows.shape[-1]
        lead = (xp.zeros(rows.shape[:-2], bool) | xp.zeros(b.shape[:-2], bool)).shape
        x = xp.broadcast_to(widened(xp, b), (*lead, *b.shape[-2:])).copy()
        rows = xp.broadcast_to(rows, (*lead, 3, size))
        above, main, below = (rows[..., i, :].copy() for i in range(3))
        second = xp.zeros_like(main)
        for i in range(size - 1):
            _eliminate(xp, above, main, below, second, x, i)
        if size and not bool((main != 0).all()):
            raise InvalidArgumentError("Input matrix is not invertible.")
        for i in range(size - 1, -1, -1):
            if i + 1 < size:
                x[..., i, :] -= above[..., i, None] * x[..., i + 1, :]
            if i + 2 < size:
                x[..., i, :] -= second[..., i, None] * x[..., i + 2, :]
            x[..., i, :] /= main[..., i, None]
        return back(xp, x, diagonals)

    return run


def _eliminate(xp: Any, above: Any, main: Any, below: Any, second: Any, x: Any, i: int) -> None:
    """Clear the element below the main one of column ``i``, after putting the larger of the two on it."""
    swap = xp.abs(below[..., i + 1]) > xp.abs(main[..., i])
    pivot = xp.where(swap, below[..., i + 1], main[..., i])
    other = xp.where(swap, main[..., i], below[..., i + 1])
    pivot_next = xp.where(swap, main[..., i + 1], above[..., i])
    other_next = xp.where(swap, above[..., i], main[..., i + 1])
    pivot_second = xp.where(swap, above[..., i + 1], 0) if i + 2 < main.shape[-1] else xp.zeros_like(pivot)
    other_second = xp.where(swap, 0, above[..., i + 1])
    factor = other / xp.where(pivot == 0, 1, pivot)
    row, next_row = xp.where(swap[..., None], x[..., i + 1, :], x[..., i, :]), xp.where(swap[..., None], x[..., i, :], x[..., i + 1, :])
    main[..., i], above[..., i], second[..., i] = pivot, pivot_next, pivot_second
    main[..., i + 1] = other_next - factor * pivot_next
    above[..., i + 1] = other_second - factor * pivot_second
    x[..., i, :] = row
    x[..., i + 1, :] = next_row - factor[..., None] * row
