"""Windows of images in rows, added up again, checked owners of boxes, and glimpses."""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

from treadle.declare import kernel
from treadle.errors import OutOfRangeError
from treadle_array.kernels.window import frame, geometry, seen, valid_windows, windows


@kernel("extract_patches")
def extract_patches(xp: Any) -> Any:
    """See the op; a copy of the view of all windows."""

    def run(images: Any, *, window: tuple[int, ...], strides: tuple[int, ...], rates: tuple[int, ...], padding: str) -> Any:
        if images.ndim != len(window) + 2:
            raise ValueError(f"images of shape {images.shape} need rank {len(window) + 2}")
        counts, before = geometry(images.shape[1:-1], window, strides, rates, padding)
        shape = (images.shape[0], *counts, prod(window) * images.shape[-1])
        if 0 in shape:
            return xp.empty(shape, images.dtype)
        part = frame(xp, images, tuple([-b for b in before]), seen(counts, window, strides, rates))
        return windows(xp, part, counts, window, strides, rates).copy().reshape(shape)

    return run


@kernel("extract_patches_grad")
def extract_patches_grad(xp: Any) -> Any:
    """See the op; one element of all windows at a time."""

    def run(g: Any, shape: tuple[int, ...], *, window: tuple[int, ...], strides: tuple[int, ...], rates: tuple[int, ...], padding: str) -> Any:
        counts, before = geometry(shape[1:-1], window, strides, rates, padding)
        if g.shape != (shape[0], *counts, prod(window) * shape[-1]):
            raise ValueError(f"patches of shape {g.shape} are not those of images of shape {shape}")
        short = g.dtype.itemsize == 2 and g.dtype.kind not in "iu"
        sums = xp.zeros(shape, xp.float32 if short else g.dtype)
        apart = g.reshape((shape[0], *counts, prod(window), shape[-1]))
        for i, tap in enumerate(itertools.product(*map(range, window))):
            pairs = [
                valid_windows(size, count, stride, t * rate - b)
                for size, count, stride, t, rate, b in zip(shape[1:-1], counts, strides, tap, rates, before, strict=True)
            ]
            sums[(slice(None), *(elements for _, elements in pairs))] += apart[(slice(None), *(which for which, _ in pairs), i)]
        return sums.astype(g.dtype) if short else sums

    return run


@kernel("box_batches")
def box_batches(xp: Any) -> Any:
    """See the op."""

    def run(box_indices: Any, images: Any) -> Any:
        if box_indices.ndim != 1:
            raise ValueError(f"box_indices of shape {box_indices.shape}")
        if box_indices.size and not bool(((box_indices >= 0) & (box_indices < images.shape[0])).all()):
            raise OutOfRangeError(f"box_indices has values outside [0, {images.shape[0]}), the number of images")
        return box_indices

    return run


@kernel("extract_glimpse")
def extract_glimpse(xp: Any) -> Any:
    """See the op; where each window begins is computed in float32, and cut toward zero, as TensorFlow does."""

    def run(input: Any, fill: Any, offsets: Any, *, centered: bool, normalized: bool) -> Any:
        if input.ndim != 4 or fill.ndim != 4 or offsets.shape != (input.shape[0], 2) or fill.shape[::3] != input.shape[::3]:
            raise ValueError(f"offsets of shape {offsets.shape} do not fit an input of shape {input.shape}")
        (height, width), (rows, columns) = input.shape[1:3], fill.shape[1:3]
        starts = _starts(xp, offsets.astype(xp.float32), (height, width), (rows, columns), centered, normalized)
        result = xp.array(fill)
        for i, (top, left) in enumerate(starts):
            high, wide = slice(max(top, 0), max(0, min(top + rows, height))), slice(max(left, 0), max(0, min(left + columns, width)))
            if high.start < high.stop and wide.start < wide.stop:
                result[i, high.start - top : high.stop - top, wide.start - left : wide.stop - left] = input[i, high, wide]
        return result

    return run


def _starts(xp: Any, points: Any, image: tuple[int, int], window: tuple[int, int], centered: bool, normalized: bool) -> list[list[int]]:
    columns = []
    for axis, (size, length) in enumerate(zip(image, window, strict=True)):
        at = points[:, axis]
        if normalized:
            at = at * xp.float32(size)
            if centered:
                at = at / xp.float32(2) + xp.float32(size / 2) - xp.float32(length / 2)
        elif centered:
            at = at + xp.float32(size / 2)
        columns.append(at.astype(xp.int64))
    starts: list[list[int]] = xp.stack(columns, axis=1).tolist()
    return starts
