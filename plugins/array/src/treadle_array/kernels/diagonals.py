"""Diagonals and bands of matrices, by the positions of their elements in a flat matrix."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from treadle.declare import kernel

Band = tuple[int, int]


@functools.lru_cache(maxsize=256)
def _layout(rows: int, columns: int, k: Band, align: str) -> tuple[Any, Any]:
    """Where each element of the rows of diagonals is in the flat matrix, and which elements there are; host arrays."""
    length = max(min(rows + min(k[1], 0), columns - max(k[0], 0)), 0)
    left_above, left_below = (side == "LEFT" for side in align.split("_"))
    where = np.zeros((k[1] - k[0] + 1, length), np.int64)
    exists = np.zeros(where.shape, bool)
    for row, d in enumerate(range(k[1], k[0] - 1, -1)):
        count = max(min(rows + min(d, 0), columns - max(d, 0)), 0)
        is_left = (d >= 0 and left_above) or (d <= 0 and left_below)
        start = 0 if is_left else length - count
        n = np.arange(count)
        where[row, start : start + count] = (n - min(d, 0)) * columns + n + max(d, 0)
        exists[row, start : start + count] = True
    return where, exists


def _matrix(x: Any) -> tuple[tuple[int, ...], int, int]:
    if x.ndim < 2:
        raise ValueError(f"a matrix has rank 2 or more, not shape {x.shape}")
    return x.shape[:-2], x.shape[-2], x.shape[-1]


def _check_band(k: Band, rows: int, columns: int) -> None:
    for d in k:
        if not (-rows < d < columns or d == 0):
            raise ValueError(f"the diagonals {k} are out of bounds of {rows} rows and {columns} columns")


@kernel("diag_part")
def diag_part(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, padding: Any, *, k: Band, align: str) -> Any:
        lead, rows, columns = _matrix(x)
        _check_band(k, rows, columns)
        if padding.ndim:
            raise ValueError(f"padding_value must be a scalar, not of shape {padding.shape}")
        if k[0] == k[1]:
            return x.diagonal(k[0], -2, -1).copy()
        where, exists = _layout(rows, columns, k, align)
        flat = x.reshape((*lead, rows * columns))
        if not flat.size:
            return xp.zeros((*lead, *where.shape), x.dtype)
        return xp.where(xp.asarray(exists), flat[..., xp.asarray(where)], padding)

    return run


@kernel("diag")
def diag(xp: Any) -> Any:
    """See the op; memory of zeros comes faster than any other, and a host may look what the padding is."""
    on_host = xp.__name__ == "numpy"

    def run(diagonal: Any, padding: Any, size: tuple[int, int], *, k: Band, align: str) -> Any:
        many = k[0] != k[1]
        if diagonal.ndim < 1 + many or (many and diagonal.shape[-2] != k[1] - k[0] + 1) or padding.ndim:
            raise ValueError(f"diagonal of shape {diagonal.shape} does not fit k = {k}")
        rows, columns = _size(k, diagonal.shape[-1], *size)
        where, exists = _layout(rows, columns, k, align)
        lead = diagonal.shape[: -2 if many else -1]
        shape = (*lead, rows * columns)
        result = xp.zeros(shape, diagonal.dtype) if on_host and not any(padding.tobytes()) else xp.full(shape, padding, diagonal.dtype)
        _put(xp, result, columns, diagonal if many else diagonal[..., None, :], where, exists)
        return result.reshape((*lead, rows, columns))

    return run


def _size(k: Band, length: int, rows: int, columns: int) -> tuple[int, int]:
    fewest_rows, fewest_columns = length - min(k[1], 0), length + max(k[0], 0)
    if rows == -1 == columns:
        return (max(fewest_rows, fewest_columns),) * 2
    rows, columns = fewest_rows if rows == -1 else rows, fewest_columns if columns == -1 else columns
    if rows < fewest_rows or columns < fewest_columns or (rows > fewest_rows and columns > fewest_columns):
        raise ValueError(f"{rows} rows and {columns} columns do not fit diagonals of length {length}")
    return rows, columns


def _put(xp: Any, flat: Any, columns: int, diagonals: Any, where: Any, exists: Any) -> None:
    """Write diagonals into flat matrices of so many columns; a single one lies at even distances."""
    if len(where) == 1 and where.size:
        flat[..., where[0, 0] :: columns + 1][..., : where.size] = diagonals[..., 0, :]
    elif exists.all():
        flat[..., xp.asarray(where)] = diagonals
    elif exists.any():
        flat[..., xp.asarray(where[exists])] = diagonals[..., xp.asarray(exists)]


@kernel("set_diag")
def set_diag(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, diagonal: Any, *, k: Band, align: str) -> Any:
        lead, rows, columns = _matrix(x)
        _check_band(k, rows, columns)
        where, exists = _layout(rows, columns, k, align)
        many = k[0] != k[1]
        if diagonal.shape != (*lead, *where.shape[0 if many else 1 :]):
            raise ValueError(f"diagonal of shape {diagonal.shape} does not fit an input of shape {x.shape}")
        result = x.reshape((*lead, rows * columns)).copy()
        _put(xp, result, columns, diagonal if many else diagonal[..., None, :], where, exists)
        return result.reshape(x.shape)

    return run


@kernel("band_part")
def band_part(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, bounds: tuple[int, int]) -> Any:
        _, rows, columns = _matrix(x)
        lower, upper = bounds
        if lower > rows or upper > columns:
            raise ValueError(f"num_lower = {lower} and num_upper = {upper} are too many for {rows} rows and {columns} columns")
        if lower < 0 and upper < 0:
            return x.copy()
        number = xp.int16 if rows + columns < 1 << 14 else xp.int64  # the shorter the numbers, the faster they are compared
        row, column = xp.arange(rows, dtype=number)[:, None], xp.arange(columns, dtype=number)
        if lower < 0:
            inside = column <= row + number(upper)
        else:
            inside = column >= row - number(lower)
            if upper >= 0:
                inside &= column <= row + number(upper)
        return xp.where(inside, x, xp.zeros((), x.dtype))

    return run
