"""Indices as CuPy takes them: integers out of range in an index array wrap round in silence."""

from __future__ import annotations

from typing import Any

import numpy as np


def blocks_of(index: Any) -> list[Any]:
    """The memory that an index lies in."""
    entries = index if isinstance(index, tuple) else (index,)
    return [entry._block for entry in entries if hasattr(entry, "_block")]


def on_host(index: Any, shape: tuple[int, ...]) -> Any:
    """An index for a NumPy array of ``shape`` that means what it means to CuPy."""
    from cupy._array import ndarray

    entries = list(index) if isinstance(index, tuple) else [index]
    arrays = [_array(entry, ndarray) for entry in entries]
    taken = sum(
        1 if a is None else a.ndim if a.dtype.kind == "b" else 1 for e, a in zip(entries, arrays, strict=True) if e is not None and e is not Ellipsis
    )
    if taken > len(shape):
        raise IndexError(f"too many indices for array: array is {len(shape)}-dimensional, but {taken} were indexed")
    axis, found = 0, []
    for entry, array in zip(entries, arrays, strict=True):
        if entry is None:
            found.append(None)
        elif entry is Ellipsis:
            axis += len(shape) - taken
            found.append(entry)
        elif array is None:
            if isinstance(entry, slice):
                for bound in (entry.start, entry.stop, entry.step):
                    if isinstance(bound, ndarray):
                        raise TypeError("slice indices must be integers or None or have an __index__ method")
            axis += 1
            found.append(entry)
        elif array.dtype.kind == "b":
            if array.shape != shape[axis : axis + array.ndim]:
                raise IndexError(f"boolean index of shape {array.shape} does not match axes of shape {shape[axis : axis + array.ndim]}")
            axis += array.ndim
            found.append(array)
        elif array.dtype.kind in "iu":
            found.append(array % shape[axis] if shape[axis] else array)
            axis += 1
        else:
            raise IndexError(f"arrays used as indices must be of integer or boolean type. (actual: {array.dtype.type})")
    return tuple(found) if isinstance(index, tuple) else found[0]


def _array(entry: Any, ndarray: type) -> Any:
    """An index array on the host; None for an integer, a slice, None or an ellipsis."""
    if entry is None or entry is Ellipsis or (isinstance(entry, slice | int | np.integer) and not isinstance(entry, bool)):
        return None
    if isinstance(entry, ndarray):
        return entry._host
    array = np.asarray(entry)
    return array.astype(np.int32) if array.size == 0 and isinstance(entry, list | tuple) else array
