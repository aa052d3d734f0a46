"""The matrix of all windows over an array, filled by a compiled loop; what that does not take goes to ``treadle_array.kernels.convolution``."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from treadle_array.kernels import convolution
from treadle_array.kernels.window import BLOCK_BYTES, blocks, scratch
from treadle_jit import windows


def columns(xp: Any, x: Any, begin: Any, counts: Any, window: Any, strides: Any, dilations: Any, groups: int) -> Iterator[tuple[slice, slice, Any]]:
    """Blocks of windows, as ``convolution.columns`` gives them, with the same elements in the same order."""
    channels = x.shape[-1]
    depth = prod(window) * channels
    item_bytes = prod(counts) * depth * x.itemsize
    if (
        groups > 1
        or convolution.is_matrix(x, begin, counts, window, strides)
        or (len(counts) == 1 and item_bytes > BLOCK_BYTES)
        or convolution.is_transposed(counts, window, dilations, channels)
        or not windows.takes(window, channels, len(x) * prod(counts) * depth, (begin, strides, dilations), x)
    ):
        yield from convolution.columns(xp, x, begin, counts, window, strides, dilations, groups)
        return
    memory = None
    try:
        for items, rows in blocks(xp, len(x), counts[0], item_bytes // counts[0]):
            part = x[items]
            number = len(part) * (rows.stop - rows.start) * prod(counts[1:])
            if memory is None:
                memory = scratch(xp).take(number * depth, x.dtype)
            matrix = memory[: number * depth].reshape(number, depth)
            here = slice(0, len(part)) if len(counts) == 1 else slice(rows.start, rows.stop + (len(part) - 1) * counts[0])
            windows.fill_unfolded(part, matrix, counts, window, begin, strides, dilations, here)
            yield items, rows, matrix
    finally:
        if memory is not None:
            scratch(xp).give(memory)
