"""Chains of elementwise calls, run block by block so that what lies between two calls stays in the processor's cache, on several cores.

NumPy alone runs in blocks; to another array module the whole tensor is one. An element's result does not depend on the block it is in.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

from treadle.runtime import workers

BLOCK = 32_768
"""Elements of a block: four buffers of it in float32 fill half of a second-level cache."""

CALLS = 4
"""Calls per element that a chain has, about: for how many threads are worth it."""

_BROADCAST = 4
"""Blocks that are taken together where arrays broadcast: NumPy pays for each row, and there is little scratch."""

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


def elementwise(
    xp: Any, steps: Callable[..., Any], *constants: float, scratch: int = 0, widen: bool = True, is_heavy: bool = False
) -> Callable[..., Any]:
    """A kernel that applies ``steps`` to tensors of one shape and dtype, and gives a result of the same.

    Args:
        xp: the array module.
        steps: ``steps(*inputs, out, *scratch, *constants)`` fills ``out``; all are arrays of one dtype, the constants of rank 0 and the others of
            one shape; scratch holds anything.
        *constants: numbers that the steps use.
        scratch: how many arrays of scratch they use.
        widen: compute short floats in float32.
        is_heavy: whether the steps compute so much (exponentials, logarithms) that cores do not just wait for memory side by side.
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
        length = min(limit, size) or 1
        flat, target = [x.reshape(-1) for x in inputs], result.reshape(-1)

        def fill(starts: range) -> None:
            between = [empty(length, dtype) for _ in range(scratch + short)]
            for start in starts:
                part = target[start : start + length]
                parts = [x[start : start + length] for x in flat]
                rest = between if part.size == length else [t[: part.size] for t in between]
                if short:
                    steps(*[x.astype(dtype) for x in parts], *rest, *numbers(dtype))
                    part[...] = rest[0]
                else:
                    steps(*parts, part, *rest, *numbers(dtype))

        workers.together(fill, workers.starts(size, length, CALLS * size if is_heavy else 0))

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


def broadcasting(xp: Any, steps: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that broadcast, which runs over blocks of the first axis of the result.

    Args:
        xp: the array module.
        steps: ``steps(*inputs, out)`` on arrays that broadcast to the shape of ``out``; short floats come in float32.

    Returns:
        ``(inputs, out=None) -> the result``, of the dtype of the inputs.
    """
    limit = _BROADCAST * block_of(xp)

    def run(inputs: list[Any], out: Any = None) -> Any:
        dtype = inputs[0].dtype
        shape, merged, shapes = _merged(*[x.shape for x in inputs])
        result = xp.empty(shape, dtype) if out is None else out
        short = is_short(dtype)
        if not short and result.size <= limit:
            steps(*inputs, result)
            return result
        parts = [x.reshape(s) for x, s in zip(inputs, shapes, strict=True)]
        target = result.reshape(merged)
        count = merged[0]
        rows = _rows_of_block(xp, merged)
        parts = _repeated(xp, parts, merged, rows)

        def fill(starts: range) -> None:
            between = xp.empty((rows, *merged[1:]), xp.float32) if short else None
            for start in starts:
                here = slice(start, start + rows)
                size = min(rows, count - start)
                pieces = [x[here] if x.shape[0] == count else x[:size] for x in parts]
                if between is None:
                    steps(*pieces, target[here])
                else:
                    wide = between[:size]
                    steps(*[x.astype(xp.float32) for x in pieces], wide)
                    target[here] = wide

        workers.together(fill, workers.starts(count, rows, CALLS * result.size))
        return result

    return run


def _rows_of_block(xp: Any, shape: tuple[int, ...]) -> int:
    """How many rows of the first axis make a block; no more than there are, and 1 at least."""
    return max(1, min(shape[0], _BROADCAST * block_of(xp) // max(1, math.prod(shape[1:]))))


def _repeated(xp: Any, parts: list[Any], shape: tuple[int, ...], rows: int) -> list[Any]:
    """Arrays that broadcast, those that are the same in every block repeated for one: NumPy is slow at broadcasting short rows."""
    if rows >= shape[0]:
        return parts
    inner = shape[1:]
    return [xp.ascontiguousarray(xp.broadcast_to(x, (rows, *inner))) if x.shape == (1, *inner) else x for x in parts]


@lru_cache(1024)
def _merged(*shapes: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...], list[tuple[int, ...]]]:
    """The broadcast shape; the same with neighbouring axes merged wherever all inputs allow it; and what each input is reshaped to for that.

    Raises:
        ValueError: the shapes do not broadcast.
    """
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    columns = list(zip(*padded, strict=True))
    shape = tuple([next((n for n in column if n != 1), 1) for column in columns])
    if any(n not in (1, whole) for column, whole in zip(columns, shape, strict=True) for n in column):
        raise ValueError(f"the shapes {', '.join(map(str, shapes))} do not broadcast")
    merged: list[int] = [1]
    kept: list[list[int]] = [[1] for _ in shapes]
    pattern: tuple[bool, ...] | None = None
    for column, whole in zip(columns, shape, strict=True):
        if whole == 1:
            continue
        own = tuple([n == 1 for n in column])
        if pattern in (None, own):
            merged[-1] *= whole
        else:
            merged.append(whole)
        for sizes, n in zip(kept, column, strict=True):
            if pattern in (None, own):
                sizes[-1] *= n
            else:
                sizes.append(n)
        pattern = own
    return shape, tuple(merged), [tuple(sizes) for sizes in kept]
