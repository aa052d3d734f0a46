"""Images resized along height and width, one axis after the other, by tables of what each element of the result is a sum of."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.sampling import Taps, adjoint, taps


def _applied(xp: Any, x: Any, table: Taps | None, axis: int, lerp: bool) -> Any:
    """An axis of ``x`` looked up in a table: one pass over the result per column of it."""
    if table is None:
        return x
    places = xp.asarray(table.places)
    first = xp.take(x, places[:, 0], axis)
    if table.weights is None:
        return first
    weights = xp.asarray(table.weights).reshape((*places.shape, *(1,) * (x.ndim - 1 - axis)))
    weights = weights.astype(x.dtype, copy=False)
    if lerp:
        second = xp.take(x, places[:, 1], axis)
        second -= first
        second *= weights[:, 1]
        second += first
        return second
    first *= weights[:, 0]
    for i in range(1, places.shape[1]):
        more = xp.take(x, places[:, i], axis)
        more *= weights[:, i]
        first += more
    return first


@kernel("resize")
def resize(xp: Any) -> Any:
    """See the op; width first, as it is the axis that TensorFlow interpolates first."""

    def run(images: Any, size: tuple[int, int], *, method: str, antialias: bool) -> Any:
        if images.ndim != 4 or len(size) != 2 or min(size) < 1 or min(images.shape[1:3]) < 1:
            raise ValueError(f"images of shape {images.shape} cannot be resized to {size}")
        lerp = method == "bilinear" and not antialias
        result = images
        for axis in (2, 1):
            result = _applied(xp, result, taps(method, antialias, images.shape[axis], size[axis - 1]), axis, lerp)
        return result.copy() if result is images else result

    return run


@kernel("resize_grad")
def resize_grad(xp: Any) -> Any:
    """See the op."""

    def run(g: Any, size: tuple[int, int], *, method: str, antialias: bool) -> Any:
        if g.ndim != 4 or len(size) != 2 or min(size) < 1 or min(g.shape[1:3]) < 1:
            raise ValueError(f"images of size {size} are not resized to shape {g.shape}")
        wide = g.astype(xp.float32) if g.dtype.itemsize == 2 else g
        result = wide
        for axis in (1, 2):
            result = _applied(xp, result, adjoint(method, antialias, size[axis - 1], g.shape[axis]), axis, False)
        if result is g:
            return g.copy()
        return result if wide is g else result.astype(g.dtype)

    return run
