"""Tensors made from nothing but a shape."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType


@kernel("zeros")
def zeros(xp: Any) -> Any:
    """See the op."""

    def run(shape: tuple[int, ...], *, dtype: DType) -> Any:
        return xp.zeros(shape, dtype.numpy)

    return run


@kernel("ones")
def ones(xp: Any) -> Any:
    """See the op."""

    def run(shape: tuple[int, ...], *, dtype: DType) -> Any:
        return xp.ones(shape, dtype.numpy)

    return run


@kernel("fill")
def fill(xp: Any) -> Any:
    """See the op."""

    def run(shape: tuple[int, ...], value: Any) -> Any:
        if value.ndim:
            raise ValueError(f"the value must be a scalar, not of shape {value.shape}")
        result = xp.empty(shape, value.dtype)
        result[...] = value
        return result

    return run


@kernel("zeros_like")
def zeros_like(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, dtype: DType) -> Any:
        return xp.zeros(x.shape, dtype.numpy)

    return run


@kernel("ones_like")
def ones_like(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, dtype: DType) -> Any:
        return xp.ones(x.shape, dtype.numpy)

    return run


@kernel("eye")
def eye(xp: Any) -> Any:
    """See the op; ones are put at even distances into the flattened matrices."""

    def run(shape: tuple[int, ...], *, dtype: DType) -> Any:
        result = xp.zeros(shape, dtype.numpy)
        if result.size:
            rows, columns = shape[-2:]
            step = columns + 1
            result.reshape(-1, rows * columns)[:, : min(rows, columns) * step : step] = 1
        return result

    return run
