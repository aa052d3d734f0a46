"""The order of elements along the last axis: equal ones in the order of their places, NaN as the largest, -0.0 equal to 0.0.

Elements of up to 32 bits become integers that order as they do, with the place in the low bits: all are different, so that the fastest sort is a stable
one, and a part of the order is found without the rest.
"""

from __future__ import annotations

from typing import Any

_PLACE_BITS = 32


def places_in_order(xp: Any, x: Any, descending: bool = False) -> Any:
    """The places of the elements of ``x``, ``(..., N)``, in their order, int64."""
    keys = sortable_keys(xp, x, descending)
    if keys is not None:
        keys.sort(axis=-1)
        return places_of(xp, keys)
    x = ordered_alike(xp, x)
    if not descending:
        return xp.argsort(x, axis=-1, kind="stable")
    backward = xp.argsort(x[..., ::-1], axis=-1, kind="stable")  # of equal ones the last comes first when all is turned round
    return x.shape[-1] - 1 - backward[..., ::-1]


def first_places_in_order(xp: Any, x: Any, count: int, descending: bool) -> Any:
    """The first ``count`` of ``places_in_order``."""
    if not 0 < count < x.shape[-1]:
        return places_in_order(xp, x, descending)[..., :count]
    keys = sortable_keys(xp, x, descending)
    if keys is None:
        return places_in_order(xp, x, descending)[..., :count]
    first = xp.partition(keys, count - 1, axis=-1)[..., :count]
    first.sort(axis=-1)
    return places_of(xp, first)


def sortable_keys(xp: Any, x: Any, descending: bool = False) -> Any:
    """An int64 per element: how it orders above its place along the last axis; None if the dtype is too wide, or the axis too long."""
    if x.dtype.kind == "c" or x.dtype.itemsize > 4 or x.shape[-1] >> (_PLACE_BITS - 1):
        return None
    x = ordered_alike(xp, x)
    if x.dtype.kind == "f":
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


def ordered_alike(xp: Any, x: Any) -> Any:
    """``x`` with what is equal made the same: no -0.0, one NaN, the largest; short floats in float32, bools as integers."""
    if x.dtype.kind == "b":
        return x.astype(xp.int8)
    if x.dtype.kind in "iu":
        return x
    if x.dtype.itemsize == 2:
        x = x.astype(xp.float32)
    x = x + xp.zeros((), x.dtype)
    return x if x.dtype.kind == "c" else xp.where(x == x, x, xp.full((), xp.nan, x.dtype))


def taken_along(xp: Any, x: Any, places: Any) -> Any:
    """The elements of ``x``, ``(..., N)``, at places along the last axis, ``(..., K)``."""
    if x.ndim == 1:
        return x.take(places)
    rows, length = x.size // max(1, x.shape[-1]), x.shape[-1]
    if not places.size:
        return xp.empty(places.shape, x.dtype)
    starts = xp.arange(rows, dtype=xp.int64).reshape(*x.shape[:-1], 1) * length
    return x.reshape(-1).take(places + starts)
