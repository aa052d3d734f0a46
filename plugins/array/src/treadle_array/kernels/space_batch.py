"""Blocks of space moved into the batch or into the channels, and back: a reshape, a transpose and a reshape."""

from __future__ import annotations

from math import prod
from typing import Any

from treadle.declare import kernel

Pairs = tuple[tuple[int, int], ...]


def _require(x: Any, block: tuple[int, ...], pairs: Pairs) -> None:
    if len(pairs) != len(block) or x.ndim < len(block) + 1:
        raise ValueError(f"block_shape {block} and {pairs} do not fit shape {x.shape}")
    if min(block, default=1) < 1 or any(min(pair) < 0 for pair in pairs):
        raise ValueError(f"block_shape {block} and {pairs} have a number that is too small")


@kernel("space_to_batch_nd")
def space_to_batch_nd(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, block_shape: tuple[int, ...], paddings: Pairs) -> Any:
        _require(x, block_shape, paddings)
        count = len(block_shape)
        rest = x.shape[count + 1 :]
        space = tuple(a + n + b for n, (a, b) in zip(x.shape[1:], paddings, strict=False))
        if any(n % b for n, b in zip(space, block_shape, strict=True)):
            raise ValueError(f"the padded sizes {space} are not multiples of {block_shape}")
        if any(a or b for a, b in paddings):
            padded = xp.zeros((x.shape[0], *space, *rest), x.dtype)
            padded[(slice(None), *(slice(a, n - b) for n, (a, b) in zip(space, paddings, strict=True)))] = x
            x = padded
        small = tuple(n // b for n, b in zip(space, block_shape, strict=True))
        apart = x.reshape((x.shape[0], *(n for pair in zip(small, block_shape, strict=True) for n in pair), *rest))
        blocks, places = range(2, 2 * count + 1, 2), range(1, 2 * count + 1, 2)
        turned = apart.transpose((*blocks, 0, *places, *range(2 * count + 1, apart.ndim)))
        return turned.reshape((prod(block_shape) * x.shape[0], *small, *rest))

    return run


@kernel("batch_to_space")
def batch_to_space(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, block_shape: tuple[int, ...], crops: Pairs) -> Any:
        _require(x, block_shape, crops)
        count = len(block_shape)
        small, rest = x.shape[1 : count + 1], x.shape[count + 1 :]
        space = tuple(n * b for n, b in zip(small, block_shape, strict=True))
        if x.shape[0] % prod(block_shape) or any(a + b > n for n, (a, b) in zip(space, crops, strict=True)):
            raise ValueError(f"block_shape {block_shape} and crops {crops} do not fit shape {x.shape}")
        batch = x.shape[0] // prod(block_shape)
        apart = x.reshape((*block_shape, batch, *small, *rest))
        together = (n for i in range(count) for n in (count + 1 + i, i))
        turned = apart.transpose((count, *together, *range(2 * count + 1, apart.ndim)))
        whole = turned.reshape((batch, *space, *rest))
        return xp.ascontiguousarray(whole[(slice(None), *(slice(a, n - b) for n, (a, b) in zip(space, crops, strict=True)))])

    return run


def _require_image(x: Any, block_size: int) -> None:
    if x.ndim != 4 or block_size < 2:
        raise ValueError(f"block_size {block_size} does not fit shape {x.shape}")


@kernel("depth_to_space")
def depth_to_space(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, block_size: int, data_format: str) -> Any:
        _require_image(x, block_size)
        size = block_size
        if data_format == "NHWC":
            n, h, w, c = x.shape
            depth = _divided(c, size * size)
            return x.reshape((n, h, w, size, size, depth)).transpose((0, 1, 3, 2, 4, 5)).reshape((n, h * size, w * size, depth))
        n, c, h, w = x.shape
        depth = _divided(c, size * size)
        return x.reshape((n, size, size, depth, h, w)).transpose((0, 3, 4, 1, 5, 2)).reshape((n, depth, h * size, w * size))

    return run


@kernel("space_to_depth")
def space_to_depth(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, block_size: int, data_format: str) -> Any:
        _require_image(x, block_size)
        size = block_size
        if data_format == "NHWC":
            n, h, w, c = x.shape
            rows, columns = _divided(h, size), _divided(w, size)
            return x.reshape((n, rows, size, columns, size, c)).transpose((0, 1, 3, 2, 4, 5)).reshape((n, rows, columns, size * size * c))
        n, c, h, w = x.shape
        rows, columns = _divided(h, size), _divided(w, size)
        return x.reshape((n, c, rows, size, columns, size)).transpose((0, 3, 5, 1, 2, 4)).reshape((n, size * size * c, rows, columns))

    return run


def _divided(size: int, by: int) -> int:
    if size % by:
        raise ValueError(f"size {size} is not a multiple of {by}")
    return size // by
