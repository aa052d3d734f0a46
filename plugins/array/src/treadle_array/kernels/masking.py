"""Choosing by truth: where, boolean_mask and sequence_mask."""

from __future__ import annotations

import math
import sys
from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType

_BLOCK = 16_384
_MANY = 32_768
"""Elements from which choosing by bits beats ``numpy.where``, which branches for every element."""


@kernel("where", out=True)
def where(xp: Any) -> Any:
    """See the op."""
    plain = xp.where
    many = _MANY if xp.__name__ == "numpy" else sys.maxsize

    def run(condition: Any, x: Any, y: Any, *, out: Any = None) -> Any:
        shape = condition.shape
        if condition.size >= many and x.dtype.itemsize <= 8 and x.shape in ((), shape) and y.shape in ((), shape):
            return _chosen(xp, condition, x, y, xp.empty(shape, x.dtype) if out is None else out)
        result = plain(condition, x, y)
        if out is None:
            return result
        out[...] = result
        return out

    return run


def _chosen(xp: Any, condition: Any, x: Any, y: Any, out: Any) -> Any:
    """``y ^ ((x ^ y) & mask)`` on the bits, block by block; the mask has all bits set where the condition holds."""
    bits = xp.dtype(f"i{x.dtype.itemsize}")
    holds, result = condition.reshape(-1).view(xp.int8), out.reshape(-1).view(bits)
    left, right = (a.view(bits) if a.ndim == 0 else a.reshape(-1).view(bits) for a in (x, y))
    mask = xp.empty(min(_BLOCK, result.size), bits)
    for start in range(0, result.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        piece = result[part]
        chosen = mask[: piece.size]
        this, other = (a if a.ndim == 0 else a[part] for a in (left, right))
        xp.subtract(0, holds[part], chosen)
        xp.bitwise_xor(this, other, piece)
        xp.bitwise_and(piece, chosen, piece)
        xp.bitwise_xor(piece, other, piece)
    return out


@kernel("nonzero")
def nonzero(xp: Any) -> Any:
    """See the op."""

    def run(x: Any) -> Any:
        holds = x if x.dtype.kind in "biu" else x != 0
        if x.ndim == 1:
            return holds.nonzero()[0].reshape(-1, 1)
        if x.ndim == 0:
            return xp.empty((int(holds), 0), xp.int64)
        return xp.stack(holds.nonzero(), 1)

    return run


def covered(mask: Any, shape: tuple[int, ...], axis: int) -> tuple[int, tuple[int, ...]]:
    """Where a mask begins in a shape, and the shape with the axes that it covers made one.

    Raises:
        ValueError: it does not fit.
    """
    at = axis + len(shape) if axis < 0 else axis
    if mask.ndim == 0 or shape[at : at + mask.ndim] != mask.shape:
        raise ValueError(f"a mask of shape {mask.shape} does not fit a tensor of shape {shape} from axis {at} on")
    return at, (*shape[:at], math.prod(mask.shape), *shape[at + mask.ndim :])


@kernel("boolean_mask")
def boolean_mask(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, mask: Any, *, axis: int) -> Any:
        at, shape = covered(mask, x.shape, axis)
        return x.reshape(shape).take(mask.reshape(-1).nonzero()[0], at)

    return run


@kernel("boolean_mask_grad")
def boolean_mask_grad(xp: Any) -> Any:
    """See the op."""

    def run(g: Any, mask: Any, shape: tuple[int, ...], *, axis: int) -> Any:
        at, merged = covered(mask, shape, axis)
        result = xp.zeros(merged, g.dtype)
        result[(*(slice(None),) * at, mask.reshape(-1).nonzero()[0])] = g
        return result.reshape(shape)

    return run


@kernel("sequence_mask")
def sequence_mask(xp: Any) -> Any:
    """See the op."""

    def run(lengths: Any, maxlen: Any, *, dtype: DType) -> Any:
        if maxlen == ():
            maxlen = max(int(lengths.max()), 0) if lengths.size else 0
        elif isinstance(maxlen, tuple) or maxlen < 0:
            raise ValueError(f"maxlen is {maxlen}; it must be a scalar, 0 or more")
        mask = xp.arange(maxlen, dtype=lengths.dtype if lengths.dtype.itemsize >= 4 else xp.int64) < xp.expand_dims(lengths, -1)
        return mask if dtype.is_bool else mask.astype(dtype.numpy)

    return run
