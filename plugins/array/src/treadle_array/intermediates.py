"""Intermediate results of kernels of several steps: how exact they are, and where they lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def in_float32(xp: Any, compute: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that computes floats of 16 bits or fewer in float32 and rounds once.

    Args:
        xp: the array module.
        compute: of arrays of one dtype, of ``out`` and of attributes.
    """

    def run(*inputs: Any, out: Any = None, **attrs: Any) -> Any:
        dtype = inputs[0].dtype
        if dtype.itemsize >= 4:
            return compute(*inputs, out=out, **attrs)
        result = compute(*[x.astype(xp.float32) for x in inputs], out=None, **attrs).astype(dtype)
        if out is None:
            return result
        out[...] = result
        return out

    return run


def reused(intermediate: Any) -> Any:
    """An intermediate result as the ``out`` of the next step; None for the scalars that NumPy makes of rank 0."""
    return intermediate if intermediate.ndim else None
