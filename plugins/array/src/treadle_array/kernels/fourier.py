"""Discrete Fourier transforms over axes by the array module's own, which keep single precision."""

from __future__ import annotations

from math import pi
from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType


def _require(x: Any, axes: tuple[int, ...]) -> None:
    rank = x.ndim
    if len(axes) > rank or len({a % rank for a in axes}) != len(axes) or not all(-rank <= a < rank for a in axes):
        raise ValueError(f"axes {axes} do not fit shape {x.shape}")


def _replaced(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    sizes = list(shape)
    sizes[axis] = size
    return tuple(sizes)


@kernel("fft")
def fft(xp: Any) -> Any:
    """See the op."""
    single, several = (xp.fft.fft, xp.fft.ifft), (xp.fft.fftn, xp.fft.ifftn)

    def run(x: Any, *, axes: tuple[int, ...], inverse: bool, norm: str) -> Any:
        _require(x, axes)
        if not x.size or not axes:
            return x.copy()
        if len(axes) == 1:
            result = single[inverse](x, axis=axes[0], norm=norm)
        else:
            result = several[inverse](x, axes=axes, norm=norm)
        return xp.ascontiguousarray(result.astype(x.dtype, copy=False))

    return run


@kernel("rfft")
def rfft(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, axes: tuple[int, ...], norm: str) -> Any:
        _require(x, axes)
        dtype = xp.complex64 if x.dtype == xp.float32 else xp.complex128
        if not x.size:
            size = x.shape[axes[-1]]
            return xp.zeros(_replaced(x.shape, axes[-1], size // 2 + 1 if size else 0), dtype)
        result = xp.fft.rfft(x, axis=axes[0], norm=norm) if len(axes) == 1 else xp.fft.rfftn(x, axes=axes, norm=norm)
        return xp.ascontiguousarray(result.astype(dtype, copy=False))

    return run


@kernel("irfft")
def irfft(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, length: int, *, axes: tuple[int, ...], norm: str) -> Any:
        _require(x, axes)
        last = axes[-1]
        if x.shape[last] != (length // 2 + 1 if length else 0):
            raise ValueError(f"a signal of length {length} does not have {x.shape[last]} frequencies")
        dtype = xp.float32 if x.dtype == xp.complex64 else xp.float64
        if not x.size:
            return xp.zeros(_replaced(x.shape, last, length), dtype)
        if len(axes) == 1:
            result = xp.fft.irfft(x, length, axis=last, norm=norm)
        else:
            result = xp.fft.irfftn(x, (*(x.shape[a] for a in axes[:-1]), length), axes=axes, norm=norm)
        return xp.ascontiguousarray(result.astype(dtype, copy=False))

    return run


@kernel("spectrum_weights")
def spectrum_weights(xp: Any) -> Any:
    """See the op."""

    def run(length: int, *, paired: float, dtype: DType) -> Any:
        if length < 0:
            raise ValueError(f"a length must be 0 or more, got {length}")
        weights = xp.full(length // 2 + 1 if length else 0, paired, dtype.numpy)
        weights[:1] = 1
        if length % 2 == 0:
            weights[-1:] = 1
        return weights

    return run


@kernel("fit_axes")
def fit_axes(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, lengths: tuple[int, ...], *, axes: tuple[int, ...]) -> Any:
        _require(x, axes)
        shape = list(x.shape)
        for axis, length in zip(axes, lengths, strict=True):
            if length < 0:
                raise ValueError(f"a length must be 0 or more, got {length}")
            shape[axis] = length
        if tuple(shape) == x.shape:
            return x
        box = tuple(slice(min(a, b)) for a, b in zip(shape, x.shape, strict=True))
        if all(a <= b for a, b in zip(shape, x.shape, strict=True)):
            return xp.ascontiguousarray(x[box])
        result = xp.zeros(tuple(shape), x.dtype)
        result[box] = x[box]
        return result

    return run


@kernel("cosine_scales")
def cosine_scales(xp: Any) -> Any:
    """See the op."""

    def run(length: int, *, type: int, ortho: bool, dtype: DType) -> Any:
        if length < 0:
            raise ValueError(f"a length must be 0 or more, got {length}")
        angles = xp.arange(length, dtype=xp.float64) * (pi / (2 * max(length, 1)))
        scales = 2 * xp.exp((1j if type == 3 else -1j) * angles)
        if ortho and type == 2:
            scales *= (0.5 / max(length, 1)) ** 0.5
            scales[:1] *= 0.5**0.5
        elif ortho and type == 3:
            scales *= (0.5 * length) ** 0.5
            scales[:1] *= 2**0.5
        elif ortho:
            scales *= max(length, 1) ** -0.5
        elif type == 3:
            scales *= length
        return scales.astype(dtype.numpy)

    return run
