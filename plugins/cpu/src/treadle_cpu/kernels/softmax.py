"""Softmax, its logarithm and their gradients along an axis, in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle_cpu.rows import along_axis, column_sum, row_max, row_sum

_NARROW_GRADIENT = 12


@kernel("softmax", out=True)
def softmax(xp: Any) -> Any:
    """See the op."""

    def by_rows(x: Any, out: Any) -> None:
        np.subtract(x, row_max(x), out)
        np.exp(out, out)
        np.divide(out, row_sum(out), out)

    def by_columns(x: Any, out: Any) -> None:
        np.subtract(x, np.maximum.reduce(x, 0), out)
        np.exp(out, out)
        np.divide(out, column_sum(out), out)

    return along_axis(by_rows, by_columns)


@kernel("softmax_grad", out=True)
def softmax_grad(xp: Any) -> Any:
    """See the op."""

    def by_rows(g: Any, y: Any, out: Any) -> None:
        np.multiply(g, y, out)
        np.subtract(g, row_sum(out), out)
        np.multiply(out, y, out)

    def by_columns(g: Any, y: Any, out: Any) -> None:
        is_free = not (np.may_share_memory(out, g) or np.may_share_memory(out, y))
        np.subtract(g, column_sum(np.multiply(g, y, out if is_free else None)), out)
        np.multiply(out, y, out)

    return along_axis(by_rows, by_columns, _NARROW_GRADIENT)


@kernel("log_softmax", out=True)
def log_softmax(xp: Any) -> Any:
    """See the op."""

    def by_rows(x: Any, out: Any) -> None:
        np.subtract(x, row_max(x), out)
        np.subtract(out, np.log(row_sum(np.exp(out))), out)

    def by_columns(x: Any, out: Any) -> None:
        np.subtract(x, np.maximum.reduce(x, 0), out)
        np.subtract(out, np.log(column_sum(np.exp(out))), out)

    return along_axis(by_rows, by_columns)


@kernel("log_softmax_grad", out=True)
def log_softmax_grad(xp: Any) -> Any:
    """See the op."""

    def by_rows(g: Any, y: Any, out: Any) -> None:
        np.exp(y, out)
        np.multiply(out, row_sum(g), out)
        np.subtract(g, out, out)

    def by_columns(g: Any, y: Any, out: Any) -> None:
        powers = np.exp(y)
        np.multiply(powers, column_sum(g), powers)
        np.subtract(g, powers, out)

    return along_axis(by_rows, by_columns, _NARROW_GRADIENT)
