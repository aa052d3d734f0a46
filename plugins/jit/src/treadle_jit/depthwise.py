"""Convolution in which every filter sees one channel, by compiled loops; what these do not take goes to ``treadle_array.kernels.depthwise``.

Sums over the taps are those of that module to the last bit.
"""

from __future__ import annotations

from math import prod
from typing import Any

from treadle_array.kernels import depthwise
from treadle_jit import windows


def correlate(xp: Any, x: Any, w: Any, begin: Any, strides: Any, dilations: Any, out: Any) -> None:
    """Fill ``out`` with the products of filters ``(*window, outputs)`` and the windows over ``x``; the outputs of a channel are neighbours."""
    window = w.shape[:-1]
    if windows.takes(window, out.shape[-1], out.size * prod(window), (begin, strides, dilations), x, w, out):
        windows.fill_weighted(_one_each(xp, x, w), w, out, window, begin, strides, dilations)
    else:
        depthwise.correlate(xp, x, w, begin, strides, dilations, out)


def collect(xp: Any, x: Any, g: Any, begin: Any, window: Any, strides: Any, dilations: Any) -> Any:
    """The gradient with respect to the filters, ``(*window, outputs)``."""
    if windows.takes(window, g.shape[-1], g.size * prod(window), (begin, strides, dilations), x, g):
        return windows.products_with(xp, _one_each(xp, x, g), g, window, begin, strides, dilations)
    return depthwise.collect(xp, x, g, begin, window, strides, dilations)


def _one_each(xp: Any, x: Any, outputs: Any) -> Any:
    """The input with one channel for each output."""
    multiplier = outputs.shape[-1] // x.shape[-1]
    return x if multiplier == 1 else depthwise.repeated(xp, x, multiplier)
