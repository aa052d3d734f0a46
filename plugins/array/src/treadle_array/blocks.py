"""Chains of elementwise calls, run block by block so that what lies between two calls stays in the processor's cache.

NumPy alone runs in blocks; to another array module the whole tensor is one. An element's result does not depend on the block it is in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from typing import Any

BLOCK = 32_768
"""Elements of a block: four buffers of it in float32 fill half of a second-level cache."""

_SMALL = 512
_MOST_KERNELS = 64


def block_of(xp: Any) -> int:
    """Elements of a block with this array module."""
    return BLOCK if xp.__name__ == "numpy" else sys.maxsize


def is_short(dtype: Any) -> bool:
    """True for float16 and bfloat16, which are computed in float32."""
    return dtype.itemsize == 2 and dtype.kind not in "iu"


def scalars(xp: Any, *values: float) -> Callable[[Any], tuple[Any, ...]]:
    """Numbers as operands of ufuncs: a function from a dtype to arrays of rank 0, which cost half of what a Python number does."""
    known: dict[Any, tuple[Any, ...]] = {}

    def of(dtype: Any) -> tuple[Any, ...]:
        found = known.get(dtype)
        if found is None:
            found = known[dtype] = tuple(xp.full((), value, dtype) for value in values)
        return found

    return of


def bound(xp: Any, value: float) -> Callable[[Any], Any]:
    """A number as the second operand of ``maximum`` and ``minimum``: a function from the first operand.

    NumPy's are four times slower with a scalar than with an array, so the number is repeated over a block, which is kept for all calls.
    """
    limit, single = block_of(xp), scalars(xp, value)
    blocks: dict[Any, Any] = {}

    def of(x: Any) -> Any:
        size = x.size
        if size < _SMALL or size > BLOCK or limit != BLOCK:
            return single(x.dtype)[0]
        known = blocks.get(x.dtype)
        if known is None:
            known = blocks[x.dtype] = xp.full(BLOCK, value, x.dtype)
        return known[:size] if x.ndim == 1 else known[:size].reshape(x.shape)

    return of


def elementwise(xp: Any, steps: Callable[..., Any], *constants: float, scratch: int = 0, widen: bool = True) -> Callable[..., Any]:
    """A kernel that applies ``steps`` to tensors of one shape and dtype, and gives a result of the same.

    Args:
        xp: the array module.
        steps: ``steps(*inputs, out, *scratch, *constants)`` fills ``out``; all are arrays of one dtype, the constants of rank 0 and the others of
            one shape; scratch holds anything.
        *constants: numbers that the steps use.
        scratch: how many arrays of scratch they use.
        widen: compute short floats in float32.
    """
    empty, limit, numbers = xp.empty, block_of(xp), scalars(xp, *constants)

    def run(*inputs: Any, out: Any = None) -> Any:
        first = inputs[0]
        shape, dtype = first.shape, first.dtype
        for other in inputs:
            if other.shape != shape:
                raise ValueError(f"the inputs have the shapes {shape} and {other.shape}")
        result = empty(shape, dtype) if out is None else out
        if widen and is_short(dtype):
            by_block(inputs, result, xp.float32)
        elif first.size > limit:
            by_block(inputs, result, dtype)
        elif scratch:
            steps(*inputs, result, *[empty(shape, dtype) for _ in range(scratch)], *numbers(dtype))
        else:
            steps(*inputs, result, *numbers(dtype))
        return result

    def by_block(inputs: tuple[Any, ...], result: Any, dtype: Any) -> None:
        size, short = result.size, result.dtype != dtype
        length = min(limit, size)
        between = [empty(length, dtype) for _ in range(scratch + short)]
        flat, target = [x.reshape(-1) for x in inputs], result.reshape(-1)
        for start in range(0, size, length or 1):
            part = target[start : start + length]
            parts = [x[start : start + length] for x in flat]
            rest = between if part.size == length else [t[: part.size] for t in between]
            if short:
                steps(*[x.astype(dtype) for x in parts], *rest, *numbers(dtype))
                part[...] = rest[0]
            else:
                steps(*parts, part, *rest, *numbers(dtype))

    return run


def chosen(make: Callable[[Any], Callable[..., Any]]) -> Callable[[Any], Callable[..., Any]]:
    """A function from an attribute to the kernel that ``make`` makes for it, the latest of which are kept."""
    known: dict[Hashable, Callable[..., Any]] = {}

    def of(attribute: Any) -> Callable[..., Any]:
        found = known.get(attribute)
        if found is None:
            if len(known) >= _MOST_KERNELS:
                known.clear()
            found = known[attribute] = make(attribute)
        return found

    return of
