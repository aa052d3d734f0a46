"""Convolution: what ``treadle_array`` does, with compiled loops where filters see one channel, and where the gradient of the input is summed up."""

from __future__ import annotations

from math import prod
from typing import Any

from treadle.declare import kernel
from treadle_array.kernels import convolution
from treadle_array.kernels.window import BLOCK_BYTES, geometry, items_in, scratch
from treadle_jit import columns, depthwise, windows

PARTS = convolution.Parts(columns.columns, depthwise.correlate, depthwise.collect)

_WIDER = 2
"""Input channels per output channel up to which the planes of the taps are smaller than what the windows of a cotangent hold, or not much larger."""


@kernel("conv", out=True)
def conv(xp: Any) -> Any:
    """See the op."""
    return convolution.conv(xp, PARTS)


@kernel("conv_backprop_filter", out=True)
def conv_backprop_filter(xp: Any) -> Any:
    """See the op."""
    return convolution.conv_backprop_filter(xp, PARTS)


@kernel("conv_backprop_input", out=True)
def conv_backprop_input(xp: Any) -> Any:
    """See the op; one product gives what every tap hands to the input, and a compiled loop adds that up."""
    otherwise = convolution.conv_backprop_input(xp, PARTS)

    def run(input_sizes: Any, filters: Any, g: Any, *, strides: Any, padding: Any, dilations: Any, out: Any = None) -> Any:
        sizes = tuple(input_sizes)
        if len(sizes) == filters.ndim == g.ndim == len(strides) + 2 and sizes[-1] == filters.shape[-2]:
            counts, before = geometry(sizes[1:-1], filters.shape[:-2], strides, dilations, padding)
            arrays = (g, filters) if out is None else (g, filters, out)
            if g.shape == (sizes[0], *counts, filters.shape[-1]) and _is_summed(arrays, strides, (before, dilations)):
                result = xp.empty(sizes, g.dtype) if out is None else out
                _sum_planes(xp, g, filters, before, dilations, result)
                return result
        return otherwise(input_sizes, filters, g, strides=strides, padding=padding, dilations=dilations, out=out)

    return run


def _is_summed(arrays: tuple[Any, ...], strides: Any, steps: Any) -> bool:
    """Whether planes are added up, which is for windows that move by one, over all channels; the first arrays are the cotangents and the filters."""
    g, filters = arrays[:2]
    *window, inner, outer = filters.shape
    plane = g[:1].size // max(1, outer) * inner
    return (
        max(strides) == 1
        and inner <= _WIDER * outer
        and prod(window) > 1
        and plane * prod(window) * g.itemsize <= BLOCK_BYTES
        and windows.takes(window, inner, len(g) * plane * prod(window), steps, *arrays)
    )


def _sum_planes(xp: Any, g: Any, filters: Any, before: Any, dilations: Any, out: Any) -> None:
    """Fill ``out`` with the sum of what each window hands to its elements."""
    *window, inner, outer = filters.shape
    matrix = filters.reshape(-1, outer).T
    width = matrix.shape[1]
    batch, positions = len(g), prod(g.shape[1:-1])
    step = min(batch, items_in(xp, BLOCK_BYTES, positions * width * g.itemsize))
    memory = scratch(xp).take(step * positions * width, g.dtype)
    for start in range(0, batch, step):
        part = g[start : start + step]
        planes = memory[: len(part) * positions * width]
        xp.matmul(part.reshape(-1, outer), matrix, out=planes.reshape(-1, width))
        planes = planes.reshape(*part.shape[:-1], prod(window), inner)
        windows.fill_from_planes(planes, out[start : start + step], window, before, [-d for d in dilations])
    scratch(xp).give(memory)
