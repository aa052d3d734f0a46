"""Images resized along height and width, one axis after the other, by tables of what each element of the result is a sum of."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel
from treadle_array.kernels.window import for_batches
from treadle_array.sampling import Taps, adjoint, taps


def _applied(xp: Any, x: Any, table: Taps | None, axis: int, lerp: bool, out: Any = None) -> Any:
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
        return xp.add(second, first, out=second if out is None else out)
    first *= weights[:, 0]
    for i in range(1, places.shape[1]):
        more = xp.take(x, places[:, i], axis)
        more *= weights[:, i]
        xp.add(first, more, out=first)
    return first


def _both(xp: Any, images: Any, shape: tuple[int, ...], tables: list[tuple[int, Taps | None]], lerp: bool) -> Any:
    """Two axes looked up in their tables, one after the other."""
    tables = [(axis, table) for axis, table in tables if table is not None]
    result = xp.empty(shape, images.dtype)
    if not result.size:
        return result
    if not tables:
        result[...] = images
        return result

    def fill(items: slice) -> None:
        x = images[items]
        for number, (axis, table) in enumerate(tables):
            x = _applied(xp, x, table, axis, lerp, result[items] if number == len(tables) - 1 else None)
        if x.base is not result:
            result[items] = x

    for_batches(xp, images if images.size > result.size else result, 8, fill)
    return result


@kernel("resize")
def resize(xp: Any) -> Any:
    """See the op; width first, as it is the axis that TensorFlow interpolates first."""

    def run(images: Any, size: tuple[int, int], *, method: str, antialias: bool) -> Any:
        if images.ndim != 4 or len(size) != 2 or min(size) < 1 or min(images.shape[1:3]) < 1:
            raise ValueError(f"images of shape {images.shape} cannot be resized to {size}")
        shape = (images.shape[0], *size, images.shape[3])
        tables = [(axis, taps(method, antialias, images.shape[axis], size[axis - 1])) for axis in (2, 1)]
        return _both(xp, images, shape, tables, method == "bilinear" and not antialias)

    return run


@kernel("resize_grad")
def resize_grad(xp: Any) -> Any:
    """See the op."""

    def run(g: Any, size: tuple[int, int], *, method: str, antialias: bool) -> Any:
        if g.ndim != 4 or len(size) != 2 or min(size) < 1 or min(g.shape[1:3]) < 1:
            raise ValueError(f"images of size {size} are not resized to shape {g.shape}")
        wide = g.astype(xp.float32) if g.dtype.itemsize == 2 else g
        shape = (g.shape[0], *size, g.shape[3])
        result = _both(xp, wide, shape, [(axis, adjoint(method, antialias, size[axis - 1], g.shape[axis])) for axis in (1, 2)], False)
        return result if wide is g else result.astype(g.dtype)

    return run
