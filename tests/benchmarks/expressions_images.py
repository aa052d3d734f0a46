"""The best plain expressions of ops with windows: convolution, pooling, morphology, and what is done with images.

Convolutions are held to the matrix product that does the same multiplications, or to copies of what goes in and out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from expressions import Array, Line, f, g, line, lines

import treadle as td

IMAGE = (8, 32, 32, 32)
LARGE = (8, 64, 64, 32)
SAME = {"padding": "SAME", "dilations": (1, 1)}
CONV = {"strides": (1, 1), **SAME}
POOL = {"window": (2, 2), "strides": (2, 2), **SAME}
WIDE_POOL = {"window": (3, 3), "strides": (1, 1), **SAME}


def padded(x: Array) -> Array:
    """One element of zeros around the spatial axes."""
    return np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))


def taps(x: Array) -> list[Array]:
    """What each tap of a 3x3 window meets."""
    whole = padded(x)
    return [whole[:, a : a + x.shape[1], b : b + x.shape[2]] for a, b in itertools.product(range(3), repeat=2)]


def columns(x: Array) -> Array:
    """The windows of 3x3 as rows of a matrix."""
    return np.stack(taps(x), 3).reshape(-1, 9 * x.shape[-1])


def conv(x: Array, w: Array) -> Array:
    """Copy the windows, then one product."""
    return (columns(x) @ w.reshape(-1, w.shape[-1])).reshape(*x.shape[:-1], -1)


def turned(w: Array) -> Array:
    """Filters of the gradient of the input."""
    return w[::-1, ::-1].swapaxes(2, 3)


def depthwise(x: Array, w: Array) -> Array:
    """Nine multiply-adds."""
    total = np.zeros_like(x)
    for tap, factor in zip(taps(x), w.reshape(9, -1), strict=True):
        total += tap * factor
    return total


def depthwise_filters(x: Array, sizes: Any, g: Array) -> Array:
    """Nine sums of products."""
    return np.stack([np.einsum("bhwc,bhwc->c", tap, g) for tap in taps(x)]).reshape(sizes)


def product(m: int, k: int, n: int) -> Callable[..., Any]:
    """A matrix product of these sizes, as a yardstick."""
    a, b = f(m, k), g(k, n)
    return lambda *_: a @ b


def copies(*arrays: Array) -> Callable[..., Any]:
    """Copies, as a yardstick."""
    return lambda *_: [x.copy() for x in arrays]


@lines("conv", "conv_backprop_input", "conv_backprop_filter")
def _(name: str) -> list[Line]:
    x, w, y = f(*IMAGE), f(3, 3, 32, 64) * np.float32(0.1), g(8, 32, 32, 64)
    d = f(3, 3, 1, 32)
    d = np.ascontiguousarray(d.reshape(3, 3, 1, 32))
    e = g(*IMAGE)
    narrow = f(1, 1, 32, 64)
    gemm = {"limit": 1.5, **CONV}
    slim = {"limit": 6.0, "yardstick": copies(x, e), **CONV}
    if name == "conv":
        return [
            line(x, w, numpy=conv, what="3x3 against its product", rtol=1e-3, yardstick=product(8192, 288, 64), **gemm),
            line(x, narrow, numpy=lambda x, w: (x.reshape(-1, 32) @ w.reshape(32, 64)).reshape(8, 32, 32, 64), what="1x1", rtol=1e-3, **CONV),
            line(x, d, numpy=depthwise, what="depthwise 3x3 against copies", **slim),
            line(x, d, numpy=depthwise, what="depthwise 3x3", **CONV),
        ]
    if name == "conv_backprop_input":
        return [
            line(
                IMAGE,
                w,
                y,
                numpy=lambda s, w, g: conv(g, turned(w)),
                what="3x3 against its product",
                rtol=1e-3,
                yardstick=product(8192, 576, 32),
                **gemm,
            ),
            line(IMAGE, d, e, numpy=lambda s, w, g: depthwise(g, w[::-1, ::-1]), what="depthwise 3x3 against copies", **slim),
            line(IMAGE, d, e, numpy=lambda s, w, g: depthwise(g, w[::-1, ::-1]), what="depthwise 3x3", **CONV),
        ]
    full = lambda x, s, g: (columns(x).T @ g.reshape(-1, g.shape[-1])).reshape(s)  # noqa: E731 - one of two expressions side by side
    return [
        line(x, w.shape, y, numpy=full, what="3x3 against its product", rtol=1e-2, yardstick=product(288, 8192, 64), **gemm),
        line(x, d.shape, e, numpy=depthwise_filters, what="depthwise 3x3 against copies", rtol=1e-2, **slim),
        line(x, d.shape, e, numpy=depthwise_filters, what="depthwise 3x3", rtol=1e-2, **CONV),
    ]


def quarters(x: Array) -> list[Array]:
    """What each tap of a 2x2 window meets that moves by two."""
    return [x[:, a::2, b::2] for a, b in itertools.product(range(2), repeat=2)]


def max_pool(x: Array) -> Array:
    """2x2."""
    a, b, c, d = quarters(x)
    return np.maximum(np.maximum(a, b), np.maximum(c, d))


def wide_max_pool(x: Array) -> Array:
    """3x3 moving by one: rows, then columns."""
    for axis in (1, 2):
        y = x.copy()
        first, last = (slice(None),) * axis + (slice(1, None),), (slice(None),) * axis + (slice(None, -1),)
        np.maximum(y[last], x[first], out=y[last])
        np.maximum(y[first], x[last], out=y[first])
        x = y
    return x


@lines("max_pool")
def _(name: str) -> list[Line]:
    x = f(*LARGE)
    return [line(x, numpy=max_pool, what="2x2 by 2", **POOL), line(x, numpy=wide_max_pool, what="3x3 by 1", **WIDE_POOL)]


@lines("avg_pool")
def _(name: str) -> list[Line]:
    def by(x: Array) -> Array:
        a, b, c, d = quarters(x)
        total = a + b
        total += c
        total += d
        total *= np.float32(0.25)
        return total

    return [line(f(*LARGE), numpy=(by, lambda x: x.reshape(8, 32, 2, 32, 2, 32).mean((2, 4))), what="2x2 by 2", **POOL)]


@lines("avg_pool_grad")
def _(name: str) -> list[Line]:
    def by(sizes: Any, g: Array) -> Array:
        result = np.empty((8, 32, 2, 32, 2, 32), np.float32)
        result[...] = (g * np.float32(0.25))[:, :, None, :, None]
        return result.reshape(sizes)

    return [line(LARGE, g(8, 32, 32, 32), numpy=by, what="2x2 by 2", **POOL)]


def first_of(x: Array, y: Array) -> Array:
    """The number of the first tap of a 2x2 window that is its maximum."""
    a, b, c, _ = quarters(x)
    return np.where(a == y, 0, np.where(b == y, 1, np.where(c == y, 2, 3)))


@lines("max_pool_grad")
def _(name: str) -> list[Line]:
    def by(x: Array, y: Array, g: Array) -> Array:
        result = np.zeros_like(x)
        left = np.ones(y.shape, bool)
        for tap, place in zip(quarters(x), quarters(result), strict=True):
            hit = tap == y
            hit &= left
            left &= ~hit
            np.multiply(g, hit, out=place)
        return result

    x = f(*LARGE)
    return [line(x, max_pool(x), g(8, 32, 32, 32), numpy=by, what="2x2 by 2", **POOL)]


@lines("max_pool_pick")
def _(name: str) -> list[Line]:
    def by(x: Array, y: Array, t: Array) -> Array:
        return np.choose(first_of(x, y), quarters(t))

    def by_where(x: Array, y: Array, t: Array) -> Array:
        (a, b, c, _), (p, q, r, s) = quarters(x), quarters(t)
        return np.where(a == y, p, np.where(b == y, q, np.where(c == y, r, s)))

    x = f(*LARGE)
    return [line(x, max_pool(x), g(*LARGE), numpy=(by, by_where), what="2x2 by 2", **POOL)]


@lines("max_pool_with_argmax")
def _(name: str) -> list[Line]:
    def by(x: Array) -> tuple[Array, Array]:
        y = max_pool(x)
        offsets = np.array([0, 32, 64 * 32, 65 * 32])[first_of(x, y)]
        offsets += (np.arange(32)[:, None, None] * 128 * 32 + np.arange(32)[:, None] * 64) + np.arange(32)
        return y, offsets

    attrs = {k: v for k, v in POOL.items() if k != "dilations"}
    return [line(f(*LARGE), numpy=by, what="2x2 by 2", output_dtype=td.int64, include_batch_in_index=False, **attrs)]


@lines("dilation2d")
def _(name: str) -> list[Line]:
    def by(x: Array, w: Array) -> Array:
        whole = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=np.finfo(np.float32).min)
        total = whole[:, :64, :64] + w[0, 0]
        for a, b in list(itertools.product(range(3), repeat=2))[1:]:
            np.maximum(total, whole[:, a : a + 64, b : b + 64] + w[a, b], out=total)
        return total

    return [line(f(*LARGE), f(3, 3, 32), numpy=by, strides=(1, 1), **SAME)]


@lines("extract_patches")
def _(name: str) -> list[Line]:
    attrs: dict[str, Any] = {"window": (3, 3), "strides": (1, 1), "rates": (1, 1), "padding": "SAME"}
    view = np.lib.stride_tricks.sliding_window_view

    def by(x: Array) -> Array:
        return view(padded(x), (3, 3), (1, 2)).transpose(0, 1, 2, 4, 5, 3).reshape(8, 64, 64, -1)

    return [line(f(*LARGE), numpy=(lambda x: columns(x).reshape(8, 64, 64, -1), by), **attrs)]


@lines("extract_patches_grad")
def _(name: str) -> list[Line]:
    attrs: dict[str, Any] = {"window": (3, 3), "strides": (1, 1), "rates": (1, 1), "padding": "SAME"}

    def by(g: Array, shape: Any) -> Array:
        whole = np.zeros((8, 66, 66, 32), np.float32)
        parts = g.reshape(8, 64, 64, 3, 3, 32)
        for a, b in itertools.product(range(3), repeat=2):
            whole[:, a : a + 64, b : b + 64] += parts[:, :, :, a, b]
        return whole[:, 1:-1, 1:-1].copy()

    return [line(g(8, 64, 64, 288), LARGE, numpy=by, **attrs)]


def weights(size: int, new: int) -> Array:
    """Linear interpolation at the centres of pixels as a matrix ``(new, size)``."""
    at = np.clip((np.arange(new) + 0.5) * size / new - 0.5, 0, size - 1)
    low = np.minimum(at.astype(int), size - 2)
    result = np.zeros((new, size), np.float32)
    result[np.arange(new), low] = 1 - (at - low)
    result[np.arange(new), low + 1] = at - low
    return result


@lines("resize")
def _(name: str) -> list[Line]:
    def linear(x: Array, size: Any) -> Array:
        rows = np.matmul(weights(64, 128), x.reshape(8, 64, -1)).reshape(8 * 128, 64, 32)
        return np.matmul(weights(64, 128), rows).reshape(8, 128, 128, 32)

    def nearest(x: Array, size: Any) -> Array:
        return x.repeat(2, 1).repeat(2, 2)

    return [
        line(f(*LARGE), (128, 128), numpy=linear, what="bilinear", method="bilinear", antialias=False),
        line(f(*LARGE), (128, 128), numpy=nearest, what="nearest", method="nearest", antialias=False),
    ]
