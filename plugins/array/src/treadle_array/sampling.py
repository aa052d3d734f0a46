"""Where along an axis each element of a resized image looks, and with what weights; tables for the kernels that resize.

The tables are computed on the host in float32, step by step as TensorFlow's kernels do, so that the same elements are looked at; bicubic weights
come from its table of 1024 steps. The adjoint of a table serves the gradient.

Sources:
    TensorFlow ``core/kernels/image``: ``resize_bilinear_op``, ``resize_bicubic_op``, ``resize_area_op``, ``resize_nearest_neighbor_op`` and
    ``scale_and_translate_op``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

F = np.float32


class Taps(NamedTuple):
    """For every element of the result, the elements ``(result, taps)`` that it is a sum of, and their weights; None where all are 1."""

    places: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any] | None


@lru_cache(maxsize=512)
def taps(method: str, antialias: bool, size: int, wanted: int) -> Taps | None:
    """The table that resizes an axis from ``size`` to ``wanted``; None if it changes nothing."""
    if method == "nearest":
        found = _nearest(size, wanted)
        same = size == wanted
    else:
        if method == "area":
            found = _area(size, wanted)
        elif antialias or method not in ("bilinear", "bicubic"):
            found = _filtered(*FILTERS[method], antialias, size, wanted)
        else:
            found = _bilinear(size, wanted) if method == "bilinear" else _bicubic(size, wanted)
        weights = found.weights
        assert weights is not None
        own = found.places == np.arange(wanted)[:, None]
        same = size == wanted and bool(((weights * own).sum(1) == 1).all() and ((weights * ~own) == 0).all())
    return None if same else found


@lru_cache(maxsize=512)
def adjoint(method: str, antialias: bool, size: int, wanted: int) -> Taps | None:
    """The table that brings cotangents of the resized axis back; None if it changes nothing."""
    found = taps(method, antialias, size, wanted)
    if found is None:
        return None
    places = found.places.ravel()
    weights = np.ones(places.size, F) if found.weights is None else found.weights.ravel()
    sources = np.repeat(np.arange(wanted), found.places.shape[1])
    used = weights != 0
    order = np.argsort(places[used], kind="stable")
    places, weights, sources = places[used][order], weights[used][order], sources[used][order]
    counts = np.bincount(places, minlength=size)
    rank = np.arange(places.size) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (size, max(int(counts.max(initial=0)), 1))
    back, shares = np.zeros(shape, np.intp), np.zeros(shape, F)
    back[places, rank], shares[places, rank] = sources, weights
    return Taps(back, shares)


def _nearest(size: int, wanted: int) -> Taps:
    scale = F(size) / F(wanted)
    places = np.floor((np.arange(wanted, dtype=F) + F(0.5)) * scale).astype(np.intp)
    return Taps(np.clip(places, 0, size - 1)[:, None], None)


def _centers(size: int, wanted: int) -> np.ndarray[Any, Any]:
    return (np.arange(wanted, dtype=F) + F(0.5)) * (F(size) / F(wanted)) - F(0.5)


def _bilinear(size: int, wanted: int) -> Taps:
    at = _centers(size, wanted)
    low = np.floor(at)
    share = at - low
    places = np.stack([np.maximum(low, 0), np.minimum(np.ceil(at), F(size - 1))], 1).astype(np.intp)
    return Taps(places, np.stack([1 - share, share], 1))


def _keys_table() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Weights of the nearer and of the farther two elements at 1025 distances from 0 to 1."""
    x = np.arange(1025, dtype=F) * F(1 / 1024)
    near = (F(1.5) * x - F(2.5)) * x * x + 1
    x = x + 1
    far = ((F(-0.5) * x + F(2.5)) * x - 4) * x + 2
    return near, far


def _bicubic(size: int, wanted: int) -> Taps:
    at = _centers(size, wanted)
    low = np.floor(at)
    step = np.rint((at - low) * F(1024)).astype(np.intp)
    near, far = _keys_table()
    places = low.astype(np.intp)[:, None] + np.arange(-1, 3)
    weights = np.stack([far[step], near[step], near[1024 - step], far[1024 - step]], 1)
    inside = np.clip(places, 0, size - 1)
    return Taps(inside, _normalized(np.where(inside == places, weights, F(0))))


def _area(size: int, wanted: int) -> Taps:
    scale = F(size) / F(wanted)
    steps = np.arange(wanted, dtype=F)
    begin, end = steps * scale, (steps + 1) * scale
    first, last = np.floor(begin).astype(np.intp), np.ceil(end).astype(np.intp)
    places = first[:, None] + np.arange(max(int((last - first).max(initial=1)), 1))
    overlap = np.minimum((places + 1).astype(F), end[:, None]) - np.maximum(places.astype(F), begin[:, None])
    weights = np.where(places < last[:, None], overlap, F(0)) / scale
    return Taps(np.clip(places, 0, size - 1), weights.astype(F))


def _normalized(weights: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    total = weights.sum(1, dtype=F, keepdims=True)
    return np.where(abs(total) >= 1000 * np.finfo(F).tiny, weights / np.where(total == 0, F(1), total), weights).astype(F)


def _filtered(radius: float, kernel: Callable[[Any], Any], antialias: bool, size: int, wanted: int) -> Taps:
    inverse = F(1.0 / float(F(wanted) / F(size)))
    stretch = max(inverse, F(1)) if antialias else F(1)
    at = (np.arange(wanted, dtype=F) + F(0.5)) * inverse
    reach = F(radius) * stretch
    first = np.clip(np.ceil(at - reach - F(0.5)), 0, size - 1).astype(np.intp)
    last = np.clip(np.floor(at + reach - F(0.5)), 0, size - 1).astype(np.intp)
    places = first[:, None] + np.arange(int((last - first).max(initial=0)) + 1)
    distance = abs((places.astype(F) + F(0.5) - at[:, None]) * (F(1) / stretch))
    weights = np.where(places <= last[:, None], kernel(distance), F(0))
    return Taps(np.minimum(places, last[:, None]), _normalized(weights.astype(F)))


# ---------------------------------------------------------------------- filters over the distance


def _triangle(x: Any) -> Any:
    return np.maximum(1 - x, F(0))


def _lanczos(radius: float) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        turned = F(np.pi) * np.where(x < 1e-3, F(1), x)
        return np.where(x < 1e-3, F(1), np.where(x > radius, F(0), F(radius) * np.sin(turned) * np.sin(turned / F(radius)) / (turned * turned)))

    return kernel


def _gaussian(x: Any) -> Any:
    return np.where(x >= F(1.5), F(0), np.exp(-x * x * F(2)))


def _keys(x: Any) -> Any:
    near = ((F(1.5) * x - F(2.5)) * x) * x + 1
    far = ((F(-0.5) * x + F(2.5)) * x - 4) * x + 2
    return np.where(x >= 2, F(0), np.where(x >= 1, far, near))


def _mitchell(x: Any) -> Any:
    near = ((F(7 / 6) * x - 2) * x) * x + F(8 / 9)
    far = ((F(-7 / 18) * x + 2) * x - F(10 / 3)) * x + F(16 / 9)
    return np.where(x >= 2, F(0), np.where(x >= 1, far, near))


FILTERS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "bilinear": (1.0, _triangle),
    "bicubic": (2.0, _keys),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, _gaussian),
    "mitchellcubic": (2.0, _mitchell),
}
