"""The order of elements along the last axis: equal ones in the order of their places, NaN as the largest, -0.0 equal to 0.0.

Elements of up to 32 bits become integers that order as they do, with the place in the low bits: all are different, so that the fastest sort is a
stable one, and a part of the order is found without the rest.
"""

from __future__ import annotations

from typing import Any

from treadle_array.axis_sums import widened

_PLACE_BITS = 32
_LONG = 32
_MANY = 2048


def places_in_order(xp: Any, x: Any, descending: bool = False) -> Any:
    """The places of the elements of ``x``, ``(..., N)``, in their order, integers."""
    if x.size >= _MANY and x.shape[-1] >= _LONG and has_keys(x):
        keys = sortable_keys(xp, x, descending)
        keys.sort(axis=-1)
        return places_of(xp, keys)
    x = widened(xp, x)
    if not descending:
        return xp.argsort(x, axis=-1, kind="stable")
    backward = xp.argsort(x[..., ::-1], axis=-1, kind="stable")  # of equal ones the last comes first when all is turned round
    return x.shape[-1] - 1 - backward[..., ::-1]


def first_places_in_order(xp: Any, x: Any, count: int, descending: bool) -> Any:
    """The first ``count`` of ``places_in_order``."""
    if not 0 < count < x.shape[-1] or x.size < _MANY or not has_keys(x):
        return places_in_order(xp, x, descending)[..., :count]
    found = _places_above(xp, x, count) if descending else None
    if found is not None:
        return found
    first = xp.partition(sortable_keys(xp, x, descending), count - 1, axis=-1)[..., :count]
    return places_of(xp, xp.sort(xp.ascontiguousarray(first), axis=-1))


def _places_above(xp: Any, x: Any, count: int) -> Any | None:
    """The places of the ``count`` largest elements, in their order; None where the elements leave a choice, or NaN is among them."""
    wide, length = widened(xp, x), x.shape[-1]
    least = xp.partition(wide, length - count, axis=-1)[..., length - count, None]
    above = wide >= least
    if bool((xp.count_nonzero(above, axis=-1) != count).any()):
        return None
    places = (xp.flatnonzero(above) % length).reshape(*x.shape[:-1], count)
    return taken_along(xp, places, places_in_order(xp, taken_along(xp, wide, places), True))


def has_keys(x: Any) -> bool:
    """True if the elements are narrow enough, and the last axis short enough, for sortable keys."""
    return x.dtype.kind != "c" and x.dtype.itemsize <= 4 and not x.shape[-1] >> (_PLACE_BITS - 1)


def sortable_keys(xp: Any, x: Any, descending: bool = False) -> Any:
    """An int64 per element: how it orders, above its place along the last axis."""
    x = widened(xp, x)
    if x.dtype.kind == "f":
        x = xp.where(x == x, x + xp.zeros((), x.dtype), xp.full((), xp.nan, x.dtype))  # no -0.0, and one NaN
        bits = x.view(xp.int32)
        x = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # of negative floats the larger bits are the smaller number
    keys = x.astype(xp.int64)
    if x.dtype.kind == "u" and x.dtype.itemsize == 4:
        keys -= 1 << 31
    if descending:
        keys = ~keys
    return (keys << _PLACE_BITS) | xp.arange(x.shape[-1], dtype=xp.int64)


def places_of(xp: Any, keys: Any) -> Any:
    """The places in sortable keys."""
    return keys & ((1 << _PLACE_BITS) - 1)


def taken_along(xp: Any, x: Any, places: Any) -> Any:
    """The elements of ``x``, ``(..., N)``, at places along the last axis, ``(..., K)``."""
    if x.ndim == 1:
        return x.take(places)
    rows, length = x.size // max(1, x.shape[-1]), x.shape[-1]
    if not places.size:
        return xp.empty(places.shape, x.dtype)
    starts = xp.arange(rows, dtype=xp.int64).reshape(*x.shape[:-1], 1) * length
    return x.reshape(-1).take(places + starts)
