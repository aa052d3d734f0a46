"""What inference functions of linear algebra share: matrices, square matrices, and systems with right-hand sides."""

from __future__ import annotations

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.dims import Size
from treadle.dtypes import DType
from treadle.errors import ShapeError
from treadle_ops.inference import FLOATING_OR_COMPLEX, require_kind, same_dtype

Lead = tuple[Size, ...] | None


def matrix_dims(a: Spec, what: str = "input", kinds: str = FLOATING_OR_COMPLEX) -> tuple[Lead, Size, Size, DType]:
    """The leading dims of matrices (None for an unknown rank), their rows and columns, and the dtype.

    Raises:
        ShapeError: the rank is below 2.
        DTypeError: the dtype is not of one of ``kinds``.
    """
    dtype = require_kind(a, kinds, what)
    if a.dims is None:
        return None, sizes.Dim.symbol(), sizes.Dim.symbol(), dtype
    if len(a.dims) < 2:
        raise ShapeError(f"{what} has rank {len(a.dims)} (shape {a.shape}); matrices have rank 2 or more")
    return a.dims[:-2], a.dims[-2], a.dims[-1], dtype


def square_dims(a: Spec, what: str = "input", kinds: str = FLOATING_OR_COMPLEX) -> tuple[Lead, Size, DType]:
    """The leading dims of square matrices (None for an unknown rank), their rows and columns, and the dtype.

    Raises:
        ShapeError: the rank is below 2, or they are not square.
        DTypeError: the dtype is not of one of ``kinds``.
    """
    lead, rows, columns, dtype = matrix_dims(a, what, kinds)
    if sizes.known_different(rows, columns):
        raise ShapeError(f"{what} of shape {a.shape} has {rows} rows and {columns} columns; the matrices must be square")
    return lead, sizes.unify(rows, columns, what), dtype


def square_spec(a: Spec, kinds: str = FLOATING_OR_COMPLEX) -> Spec:
    """The spec of square matrices, with what is known of their rows and columns.

    Raises:
        ShapeError: the rank is below 2, or they are not square.
        DTypeError: the dtype is not of one of ``kinds``.
    """
    lead, size, dtype = square_dims(a, kinds=kinds)
    return Spec(None if lead is None else (*lead, size, size), dtype)


def system_spec(a: Spec, b: Spec) -> Spec:
    """The spec of ``x`` in ``a @ x = b``, for square ``a``; leading axes broadcast.

    Raises:
        ShapeError: the rows differ, or the leading axes do not broadcast.
        DTypeError: the dtypes differ.
    """
    same_dtype(a, b, kinds=FLOATING_OR_COMPLEX)
    lead, rows, dtype = square_dims(a, "the matrix")
    lead_b, rows_b, columns, _ = matrix_dims(b, "the right-hand side")
    if sizes.known_different(rows, rows_b):
        raise ShapeError(f"the matrix of shape {a.shape} has {rows} rows and the right-hand side of shape {b.shape} has {rows_b}; they must be equal")
    if lead is None or lead_b is None:
        return Spec(None, dtype)
    return Spec((*(sizes.broadcast(lead, lead_b) or ()), sizes.unify(rows, rows_b, "rows"), columns), dtype)
