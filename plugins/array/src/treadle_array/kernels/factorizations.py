"""QR by the array module's LAPACK; LU by elimination of one column after the other, for all matrices at once."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType
from treadle.errors import InvalidArgumentError, UnimplementedError
from treadle_array.matrices import back, decomposed, matrix, square, widened
from treadle_array.places import reaches_out


@kernel("qr")
def qr(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, *, full_matrices: bool) -> Any:
        rows, columns = matrix(input).shape[-2:]
        if not rows or not columns:
            inner = rows if full_matrices else 0
            q = xp.zeros((*input.shape[:-2], rows, inner), input.dtype)
            if inner:
                q += xp.eye(rows, dtype=input.dtype)
            return q, xp.zeros((*input.shape[:-2], inner, columns), input.dtype)
        q, r = decomposed(xp.linalg.qr, widened(xp, input), "complete" if full_matrices else "reduced")
        return back(xp, q, input), back(xp, r, input)

    return run


@kernel("wide_matrices")
def wide_matrices(xp: Any) -> Any:
    """See the op."""

    def run(x: Any) -> Any:
        rows, columns = matrix(x).shape[-2:]
        if rows > columns:
            raise UnimplementedError(f"qr: there is no gradient with full_matrices for shape {x.shape}, which has more rows than columns")
        return x

    return run


def require_invertible(xp: Any, factors: Any) -> None:
    """Refuse factors of singular matrices.

    Raises:
        InvalidArgumentError: there is a zero on a main diagonal.
    """
    if bool((xp.diagonal(factors, 0, -2, -1) == 0).any()):
        raise InvalidArgumentError("Input is not invertible.")


@kernel("lu")
def lu(xp: Any) -> Any:
    """See the op."""

    def run(input: Any, *, output_idx_type: DType) -> Any:
        size = square(input).shape[-1]
        factors = widened(xp, input).reshape((-1, size, size) if input.size else input.shape).copy()
        order = xp.zeros(factors.shape[:-1], xp.int64) + xp.arange(size)
        every = xp.arange(factors.shape[0]) if input.size else None
        for i in range(size if input.size else 0):
            pivot = xp.argmax(xp.abs(factors[:, i:, i]), axis=1) + i
            for array in (factors, order):
                held = array[every, pivot].copy()
                array[every, pivot] = array[:, i]
                array[:, i] = held
            below = factors[:, i + 1 :, i]
            divisor = factors[:, i, i, None]
            below /= xp.where(divisor == 0, 1, divisor)
            factors[:, i + 1 :, i + 1 :] -= below[..., None] * factors[:, i, None, i + 1 :]
        require_invertible(xp, factors)
        return back(xp, factors.reshape(input.shape), input), order.reshape(input.shape[:-1]).astype(output_idx_type.numpy)

    return run


@kernel("inverse_orders")
def inverse_orders(xp: Any) -> Any:
    """See the op."""

    def run(order: Any) -> Any:
        length = order.shape[-1]
        result = xp.full(order.size, -1, order.dtype)
        if order.size:
            starts = xp.arange(order.size // length).reshape(*order.shape[:-1], 1) * length
            if not reaches_out(order, length):
                result[order + starts] = xp.arange(length, dtype=order.dtype)
            if bool((result < 0).any()):
                raise ValueError("an order must have each index once")
        return result.reshape(order.shape)

    return run
