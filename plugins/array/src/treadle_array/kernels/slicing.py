"""Pieces of a tensor by ints and slices. What is contiguous is given back as a view."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


def native(index: tuple[Any, ...], numbers: tuple[int, ...] = ()) -> Any:
    """Python's index for one in canonical form, with numbers in the places of its unknowns (``"?"``)."""
    if numbers:
        supply = iter(numbers)
        index = tuple([tuple([_number(bound, supply) for bound in entry]) if type(entry) is tuple else _number(entry, supply) for entry in index])
    return tuple([slice(*entry) if type(entry) is tuple else ... if entry == "..." else entry for entry in index])


def _number(entry: Any, supply: Any) -> Any:
    return next(supply) if entry == "?" else entry


@kernel("strided_slice")
def strided_slice(xp: Any) -> Any:
    """See the op."""
    contiguous = xp.ascontiguousarray

    def run(x: Any, *, index: tuple[Any, ...]) -> Any:
        if len(index) == 1 and type(index[0]) is int:
            return x[index[0]]
        part = x[native(index)]
        return contiguous(part) if part.ndim else part

    return run


@kernel("dynamic_strided_slice")
def dynamic_strided_slice(xp: Any) -> Any:
    """See the op."""
    contiguous = xp.ascontiguousarray

    def run(x: Any, numbers: tuple[int, ...], *, index: tuple[Any, ...]) -> Any:
        part = x[native(index, numbers)]
        return contiguous(part) if part.ndim else part

    return run


@kernel("strided_slice_grad")
def strided_slice_grad(xp: Any) -> Any:
    """See the op."""

    def run(g: Any, shape: tuple[int, ...], numbers: tuple[int, ...], *, index: tuple[Any, ...]) -> Any:
        result = xp.zeros(shape, g.dtype)
        result[native(index, numbers)] = g
        return result

    return run


@kernel("tensor_strided_slice_update")
def tensor_strided_slice_update(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, numbers: tuple[int, ...], value: Any, *, index: tuple[Any, ...]) -> Any:
        result = x.copy()
        part = result[native(index if "..." in index else (*index, "..."), numbers)]
        if value.ndim > part.ndim:
            raise ValueError(f"a value of shape {value.shape} does not broadcast to shape {part.shape}")
        part[...] = value
        return result

    return run


@kernel("slice")
def slice_(xp: Any) -> Any:
    """See the op."""
    contiguous = xp.ascontiguousarray

    def run(x: Any, begin: tuple[int, ...], size: tuple[int, ...]) -> Any:
        if not len(begin) == len(size) == x.ndim:
            raise ValueError(f"begin {begin} and size {size} do not fit shape {x.shape}; give one number for each axis")
        box = []
        for start, count, whole in zip(begin, size, x.shape, strict=True):
            stop = whole if count == -1 else start + count
            if not 0 <= start <= stop <= whole:
                raise ValueError(f"begin {begin} and size {size} reach out of shape {x.shape}")
            box.append(slice(start, stop))
        return contiguous(x[tuple(box)]) if box else x

    return run


@kernel("slice_grad")
def slice_grad(xp: Any) -> Any:
    """See the op."""

    def run(g: Any, begin: tuple[int, ...], shape: tuple[int, ...]) -> Any:
        result = xp.zeros(shape, g.dtype)
        result[tuple([slice(start, start + count) for start, count in zip(begin, g.shape, strict=True)])] = g
        return result

    return run
