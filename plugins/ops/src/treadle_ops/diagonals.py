"""Diagonals and bands of matrices: taking them out, putting them in, and clearing what is beside them.

Several diagonals at once, from ``k[0]`` to ``k[1]``, are the rows of a matrix, the highest first. Shorter ones are aligned in their row, to the left
or right as ``align`` says, first for those above the main diagonal and then for those below.
"""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op, public
from treadle.dims import Dim, Size
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.tensor import Tensor
from treadle_ops.arguments import axis_argument, static_value, tensor
from treadle_ops.broadcasting import axis_size
from treadle_ops.called_function import subject
from treadle_ops.casting import cast
from treadle_ops.creation import zeros_like
from treadle_ops.inference import require_rank, same_dtype

RIGHT_LEFT = "RIGHT_LEFT"
_ALIGNMENTS = ("LEFT_RIGHT", RIGHT_LEFT, "LEFT_LEFT", "RIGHT_RIGHT")
Band = tuple[int, int]


def length_of(k: int, rows: Size, columns: Size) -> Size:
    """The length of the diagonal ``k`` of a matrix of that size."""
    return sizes.minimum(sizes.add(rows, min(k, 0)), sizes.add(columns, -max(k, 0)))


def longest(k: Band, rows: Size, columns: Size) -> Size:
    """The length of the longest diagonal of a band."""
    return sizes.minimum(sizes.add(rows, min(k[1], 0)), sizes.add(columns, -max(k[0], 0)))


def _require_matrix(x: Spec, what: str = "input") -> tuple[tuple[Size, ...], Size, Size]:
    assert x.dims is not None
    if len(x.dims) < 2:
        raise ShapeError(f"{what} must be at least 2-dim, received shape: {list(x.shape)}")
    return x.dims[:-2], x.dims[-2], x.dims[-1]


def _require_band(k: Band, rows: Size, columns: Size) -> None:
    for d in k:
        if isinstance(rows, int) and isinstance(columns, int) and not (-rows < d < columns or d == 0):
            raise ShapeError(
                f"the diagonal {d} is out of bounds of a matrix of {rows} rows and {columns} columns; expected one above {-rows} and below {columns}"
            )


# ---------------------------------------------------------------------- ops


@op("diag_part", can_fail=True)
def diag_part_op(x: Spec, padding: Spec, *, k: Band, align: str) -> Spec:
    """The diagonals of a band, filled up to one length with the padding."""
    dtype = same_dtype(x, padding)
    require_rank(padding, 0, "padding_value")
    if x.dims is None:
        return Spec(None, dtype)
    lead, rows, columns = _require_matrix(x)
    _require_band(k, rows, columns)
    length = longest(k, rows, columns)
    return Spec((*lead, length) if k[0] == k[1] else (*lead, k[1] - k[0] + 1, length), dtype)


@op("diag", can_fail=True)
def diag_op(diagonal: Spec, padding: Spec, size: HostSpec, *, k: Band, align: str) -> Spec:
    """A matrix with these diagonals and the padding elsewhere; ``size`` is its rows and columns, -1 for as few as hold them."""
    dtype = same_dtype(diagonal, padding)
    require_rank(padding, 0, "padding_value")
    if diagonal.dims is None:
        return Spec(None, dtype)
    count = k[1] - k[0] + 1
    dims = diagonal.dims
    if len(dims) < (1 if count == 1 else 2):
        raise ShapeError(f"diagonal must be at least {1 if count == 1 else 2}-dim, received shape: {list(diagonal.shape)}")
    if count > 1 and sizes.known_different(dims[-2], count):
        raise ShapeError(f"diagonal of shape {diagonal.shape} has {dims[-2]} rows, and k = {k} asks for {count} diagonals")
    lead = dims[:-1] if count == 1 else dims[:-2]
    _require_pair(size, "num_rows and num_cols")
    if size.value is None:
        return Spec((*lead, Dim.symbol(), Dim.symbol()), dtype)
    rows, columns = matrix_size(k, dims[-1], *size.value)
    return Spec((*lead, rows, columns), dtype)


def _require_pair(numbers: Spec, what: str) -> None:
    if numbers.dims is not None and (len(numbers.dims) != 1 or sizes.known_different(numbers.dims[0], 2)):
        raise ShapeError(f"{what} have the shape {numbers.shape}; expected two numbers")


def matrix_size(k: Band, length: Size, rows: Size, columns: Size) -> tuple[Size, Size]:
    """The rows and columns of the matrix whose longest diagonal of a band has that length; -1 where they are not asked for.

    Raises:
        ShapeError: there is no such matrix.
    """
    fewest_rows, fewest_columns = sizes.add(length, -min(k[1], 0)), sizes.add(length, max(k[0], 0))
    free_rows, free_columns = (isinstance(n, int) and n == -1 for n in (rows, columns))
    if free_rows and free_columns:
        square = sizes.maximum(fewest_rows, fewest_columns)
        return square, square
    found_rows, found_columns = fewest_rows if free_rows else rows, fewest_columns if free_columns else columns
    exact = (found_rows, fewest_rows, found_columns, fewest_columns)
    if all(isinstance(n, int) for n in exact) and not (
        found_rows >= fewest_rows and found_columns >= fewest_columns and (found_rows == fewest_rows or found_columns == fewest_columns)
    ):
        raise ShapeError(
            f"num_rows = {rows} and num_cols = {columns} do not fit diagonals of length {length} for k = {k}; expected at least "
            f"{fewest_rows} rows and {fewest_columns} columns, and one of the two exactly"
        )
    return found_rows, found_columns


@op("set_diag", can_fail=True)
def set_diag_op(x: Spec, diagonal: Spec, *, k: Band, align: str) -> Spec:
    """The matrix with other diagonals."""
    dtype = same_dtype(x, diagonal)
    if x.dims is None:
        return Spec(None, dtype)
    lead, rows, columns = _require_matrix(x)
    _require_band(k, rows, columns)
    wanted = (*lead, longest(k, rows, columns)) if k[0] == k[1] else (*lead, k[1] - k[0] + 1, longest(k, rows, columns))
    if diagonal.dims is not None and (
        len(diagonal.dims) != len(wanted) or any(sizes.known_different(a, b) for a, b in zip(diagonal.dims, wanted, strict=True))
    ):
        raise ShapeError(
            f"diagonal has the shape {diagonal.shape}; the diagonals {k} of an input of shape {x.shape} have the shape {Spec(wanted, dtype).shape}"
        )
    return Spec(x.dims, dtype)


@op("band_part", can_fail=True)
def band_part_op(x: Spec, bounds: HostSpec) -> Spec:
    """The matrix with zeros outside a band of so many diagonals below and above the main one; a negative number means all."""
    _require_pair(bounds, "num_lower and num_upper")
    if x.dims is not None:
        _, rows, columns = _require_matrix(x)
        if isinstance(bounds.value, tuple):
            for number, size, what, where in zip(bounds.value, (rows, columns), ("num_lower", "num_upper"), ("rows", "columns"), strict=True):
                if isinstance(number, int) and isinstance(size, int) and number > size:
                    raise InvalidArgumentError(f"{what} must be negative or less or equal to number of {where} ({size}) got: {number}")
    return Spec(x.dims, x.dtype)


@gradient(diag_part_op)
def _(ctx: Any, g: Any) -> Any:
    x = ctx.inputs[0]
    return diag_op(g, zero_like(g), _size_of(x), k=ctx.k, align=ctx.align), None


@gradient(diag_op)
def _(ctx: Any, g: Any) -> Any:
    return diag_part_op(g, zero_like(g), k=ctx.k, align=ctx.align), None, None


@gradient(set_diag_op)
def _(ctx: Any, g: Any) -> Any:
    return set_diag_op(g, zeros_like(ctx.inputs[1]), k=ctx.k, align=ctx.align), diag_part_op(g, zero_like(g), k=ctx.k, align=ctx.align)


@gradient(band_part_op)
def _(ctx: Any, g: Any) -> Any:
    return band_part_op(g, ctx.inputs[1]), None


def zero_like(x: Any) -> Any:
    """A scalar zero of the dtype of ``x``."""
    return cast(0, x.dtype) if x.dtype.is_bool else tensor(0, x)


def _size_of(x: Any) -> Any:
    """The rows and columns of a matrix as a host input wants them."""
    dims = x.dims
    if dims is not None and type(dims[-2]) is int and type(dims[-1]) is int:
        return dims[-2], dims[-1]
    return [axis_size(x, axis=-2), axis_size(x, axis=-1)]


# ---------------------------------------------------------------------- what other linear algebra uses


def main_diagonal(x: Any) -> Any:
    """The main diagonal of matrices."""
    return diag_part_op(x, zero_like(x), k=(0, 0), align=RIGHT_LEFT)


def diagonal_matrix(x: Any) -> Any:
    """Square matrices with this main diagonal."""
    return diag_op(x, zero_like(x), (-1, -1), k=(0, 0), align=RIGHT_LEFT)


def with_main_diagonal(x: Any, diagonal: Any) -> Any:
    """Matrices with another main diagonal."""
    return set_diag_op(x, diagonal, k=(0, 0), align=RIGHT_LEFT)


def lower_triangle(x: Any) -> Any:
    """Zeros above the main diagonal."""
    return band_part_op(x, (-1, 0))


def upper_triangle(x: Any) -> Any:
    """Zeros below the main diagonal."""
    return band_part_op(x, (0, -1))


# ---------------------------------------------------------------------- public functions


def _band_argument(k: Any) -> Band:
    known = static_value(k, "k")
    numbers = known if isinstance(known, tuple) else (known,)
    if len(numbers) not in (1, 2) or any(type(n) is not int for n in numbers):
        raise InvalidArgumentError(f"{subject()}k must be an integer or two, got {k!r}")
    low, high = numbers[0], numbers[-1]
    if low > high:
        raise InvalidArgumentError(f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}")
    return low, high


def _align_argument(align: str) -> str:
    if align not in _ALIGNMENTS:
        raise InvalidArgumentError(f"align must be one of {', '.join(_ALIGNMENTS)}, not {align!r}")
    return align


def _padding_argument(value: Any, x: Any) -> Any:
    if x.dtype.is_bool and isinstance(value, int | float):
        value = bool(value)
    return tensor(value, x)


@public("linalg.diag")
def diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = RIGHT_LEFT,
) -> Any:
    """Matrices with given diagonals.

    Args:
        diagonal: ``(..., L)`` for one diagonal, ``(..., D, L)`` for several, the highest first; any dtype.
        name: ignored.
        k: which diagonal, or the lowest and the highest; 0 is the main one, those above it are positive.
        num_rows: of each matrix; -1 for as few as hold the diagonals.
        num_cols: of each matrix; -1 for as few as hold the diagonals.
        padding_value: what is elsewhere.
        align: how shorter diagonals lie in their row, above and below the main one: ``"RIGHT_LEFT"``, ``"LEFT_RIGHT"``, ``"LEFT_LEFT"`` or
            ``"RIGHT_RIGHT"``.

    Returns:
        ``(..., rows, columns)`` of the dtype of ``diagonal``; square where neither number is given.

    Raises:
        ShapeError: the diagonals do not fit ``k``, ``num_rows`` and ``num_cols``.

    Sources:
        TensorFlow ``tf.linalg.diag``.
    """
    x = tensor(diagonal)
    size = (_number(num_rows, "num_rows"), _number(num_cols, "num_cols"))
    wanted: Any = size if all(type(n) is int for n in size) else list(size)
    return diag_op(x, _padding_argument(padding_value, x), wanted, k=_band_argument(k), align=_align_argument(align))


def _number(value: Any, what: str) -> Any:
    return value if isinstance(value, Tensor) else axis_argument(value, what)


@public("linalg.diag_part")
def diag_part(input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0, align: str = RIGHT_LEFT) -> Any:
    """The diagonals of matrices.

    Args:
        input: ``(..., M, N)``, any dtype.
        name: ignored.
        k: which diagonal, or the lowest and the highest; 0 is the main one, those above it are positive.
        padding_value: what fills the rows of shorter diagonals.
        align: how shorter diagonals lie in their row, above and below the main one: ``"RIGHT_LEFT"``, ``"LEFT_RIGHT"``, ``"LEFT_LEFT"`` or
            ``"RIGHT_RIGHT"``.

    Returns:
        ``(..., L)`` for one diagonal, ``(..., D, L)`` for several, the highest first; the dtype of ``input``.

    Raises:
        ShapeError: ``input`` is no matrix, or has no such diagonal.

    Sources:
        TensorFlow ``tf.linalg.diag_part``.
    """
    x = tensor(input)
    return diag_part_op(x, _padding_argument(padding_value, x), k=_band_argument(k), align=_align_argument(align))


@public("linalg.set_diag")
def set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = RIGHT_LEFT) -> Any:
    """Matrices with other diagonals.

    Args:
        input: ``(..., M, N)``, any dtype.
        diagonal: ``(..., L)`` for one diagonal, ``(..., D, L)`` for several, the highest first; the dtype of ``input``.
        name: ignored.
        k: which diagonal, or the lowest and the highest; 0 is the main one, those above it are positive.
        align: how shorter diagonals lie in their row, above and below the main one: ``"RIGHT_LEFT"``, ``"LEFT_RIGHT"``, ``"LEFT_LEFT"`` or
            ``"RIGHT_RIGHT"``.

    Returns:
        The shape and dtype of ``input``.

    Raises:
        ShapeError: the diagonals do not fit.

    Sources:
        TensorFlow ``tf.linalg.set_diag``.
    """
    return set_diag_op(input, diagonal, k=_band_argument(k), align=_align_argument(align))


@public("linalg.band_part")
def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Any:
    """Matrices with zeros outside a band around the main diagonal.

    Args:
        input: ``(..., M, N)``, any dtype.
        num_lower: how many diagonals to keep below the main one; negative for all.
        num_upper: how many to keep above it; negative for all.
        name: ignored.

    Returns:
        The shape and dtype of ``input``.

    Raises:
        InvalidArgumentError: a number is larger than that of the rows, or of the columns.

    Sources:
        TensorFlow ``tf.linalg.band_part``.
    """
    bounds = (_number(num_lower, "num_lower"), _number(num_upper, "num_upper"))
    return band_part_op(tensor(input), bounds if all(type(n) is int for n in bounds) else list(bounds))
