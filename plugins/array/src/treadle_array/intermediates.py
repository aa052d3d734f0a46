"""Kernels of several steps: how exact what lies between the steps is, and where it lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle_array.blocks import block_of, broadcasting


def of_two(xp: Any, steps: Callable[[Any, Any, Any], None]) -> Callable[..., Any]:
    """A kernel of two tensors that broadcast, which runs in blocks if they are large.

    Args:
        xp: the array module.
        steps: ``steps(x, y, out)`` fills ``out``; short floats come in float32.
    """
    limit, empty, blocked = block_of(xp), xp.empty, broadcasting(xp, steps)

    def run(x: Any, y: Any, *, out: Any = None) -> Any:
        if x.shape != y.shape or x.size > limit or x.dtype.itemsize == 2:
            return blocked([x, y], out)
        result = empty(x.shape, x.dtype) if out is None else out
        steps(x, y, result)
        return result

    return run


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
