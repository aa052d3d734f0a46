"""What ``x[index]`` selects: the shape of the result, and its value where that of ``x`` is known.

An index is a tuple in canonical form: ints, ``(start, stop, step)`` for slices, None for new axes, ``"..."``, and ``"?"`` for a number that is known
only when the graph runs. Meaning: NumPy's basic indexing; slices clip, ints must be in range.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.dims import Dim, Size
from treadle.errors import IndexOutOfRangeError, InvalidArgumentError
from treadle_ops.known import carried

ELLIPSIS = "..."
UNKNOWN = "?"


def is_static(index: tuple[Any, ...]) -> bool:
    """True if every number in the index is known."""
    return not any(entry == UNKNOWN or (isinstance(entry, tuple) and UNKNOWN in entry) for entry in index)


def filled(index: tuple[Any, ...], numbers: Iterable[Any]) -> tuple[Any, ...]:
    """The index with numbers in the places of its unknowns, in order."""
    supply = iter(numbers)

    def number(entry: Any) -> Any:
        return next(supply) if entry == UNKNOWN else entry

    try:
        return tuple([tuple([number(bound) for bound in entry]) if isinstance(entry, tuple) else number(entry) for entry in index])
    except StopIteration:
        raise InvalidArgumentError(f"fewer numbers are given than are unknown in the index {shown(index)}") from None


def selected(x: Spec, index: tuple[Any, ...]) -> Spec:
    """The spec of ``x[index]``; numbers may be symbolic.

    Raises:
        IndexOutOfRangeError: an int is out of range.
        InvalidArgumentError: there are more entries than axes, two ``...``, or a step of 0.
    """
    if any(isinstance(entry, tuple) and entry[2] == 0 for entry in index):
        raise InvalidArgumentError(f"the index {shown(index)} has a slice with step 0; a step must not be 0")
    if sum(entry == ELLIPSIS for entry in index) > 1:
        raise InvalidArgumentError(f"the index {shown(index)} has more than one `...`; it stands for all the axes left, so one is enough")
    if x.dims is None:
        return Spec(None, x.dtype)
    entries = _by_axis(x, index)
    dims: list[Size] = []
    axis = 0
    for entry in entries:
        if entry is None:
            dims.append(1)
            continue
        if isinstance(entry, tuple):
            dims.append(slice_size(*entry, x.dims[axis]))
        else:
            _require_in_range(entry, axis, x)
        axis += 1
    return Spec(tuple(dims), x.dtype, None if x.value is None else _value(x, entries))


def _value(x: Spec, entries: list[Any]) -> Any:
    numbers = [bound for entry in entries for bound in (entry if isinstance(entry, tuple) else (entry,))]
    if any(bound is not None and not isinstance(bound, int) for bound in numbers):
        return None
    native = [slice(*entry) if isinstance(entry, tuple) else entry for entry in entries]
    return carried(lambda array: array[(*native, ...)], x)


def _by_axis(x: Spec, index: tuple[Any, ...]) -> list[Any]:
    """The index with an entry for every axis: ``...``, and what is left out at the end, become whole slices."""
    rank = len(x.dims or ())
    used = sum(entry is not None and entry != ELLIPSIS for entry in index)
    if used > rank:
        raise InvalidArgumentError(f"too many indices: {shown(index)} has {used} for a tensor of rank {rank} (shape {x.shape}); give at most {rank}")
    rest = [(None, None, None)] * (rank - used)
    entries: list[Any] = []
    for entry in index:
        entries += rest if entry == ELLIPSIS else [entry]
    return entries if ELLIPSIS in index else entries + rest


def _require_in_range(position: Any, axis: int, x: Spec) -> None:
    size = (x.dims or ())[axis]
    if isinstance(position, int) and isinstance(size, int) and not -size <= position < size:
        bounds = f"expected {-size} to {size - 1}" if size else "the axis is empty"
        raise IndexOutOfRangeError(f"index {position} is out of range for axis {axis} with size {size} (shape {x.shape}); {bounds}")


def shown(index: tuple[Any, ...]) -> str:
    """An index as the user writes it."""
    return f"[{', '.join(_shown_entry(entry) for entry in index)}]"


def _shown_entry(entry: Any) -> str:
    if isinstance(entry, tuple):
        start, stop, step = ("" if bound is None else str(bound) for bound in entry)
        return f"{start}:{stop}" + (f":{step}" if step else "")
    return str(entry)


# ---------------------------------------------------------------------- sizes


def slice_size(start: Any, stop: Any, step: Any, size: Size) -> Size:
    """How many elements ``start:stop:step`` selects of an axis; a new symbol where that cannot be said."""
    step = 1 if step is None else step
    if all(bound is None or isinstance(bound, int) for bound in (start, stop, step, size)):
        return len(range(*slice(start, stop, step).indices(size)))
    if size == 0:
        return 0
    if UNKNOWN in (start, stop) or not isinstance(step, int):
        return Dim.symbol()
    count = _span_forward(start, stop, size) if step > 0 else _span_backward(start, stop, size)
    if count is None:
        return Dim.symbol()
    stride = abs(step)
    count = sizes.maximum(count, 0)
    return count if stride == 1 else sizes.floordiv(sizes.add(count, stride - 1), stride)


def _span_forward(start: Any, stop: Any, size: Size) -> Size | None:
    """The last position less the first one, negative if nothing is selected; None if a sign is not known."""
    if stop is None:
        end = size
    elif _is_negative(stop):
        end = sizes.add(size, stop)
    elif _is_not_negative(stop):
        end = sizes.minimum(stop, size)
    else:
        return None
    if start is None:
        return end
    if _is_negative(start):  # the first position is max(size + start, 0)
        return sizes.minimum(end - sizes.add(size, start), end)
    return end - start if _is_not_negative(start) else None


def _span_backward(start: Any, stop: Any, size: Size) -> Size | None:
    """The same for a negative step; the position before the first is -1."""
    last = sizes.add(size, -1)
    if start is None:
        begin = last
    elif _is_negative(start):
        begin = sizes.add(size, start)
    elif _is_not_negative(start):
        begin = sizes.minimum(start, last)
    else:
        return None
    if stop is None:
        return sizes.add(begin, 1)
    if _is_negative(stop):
        return begin - sizes.maximum(sizes.add(size, stop), -1)
    return begin - stop if _is_not_negative(stop) else None


def _is_not_negative(number: Size) -> bool:
    return sizes.maximum(number, 0) == number


def _is_negative(number: Size) -> bool:
    return sizes.maximum(number, -1) == -1
