"""How values are shown by ``td.print``, and in errors of assertions: TensorFlow's own format."""

from __future__ import annotations

import pprint
import re
from typing import Any

import numpy as np


class Placeholder(int):
    """Stands among printed pieces for the tensor of that number."""


class _Slot:
    """Stands in a structure for a tensor; its text is found again in that of the structure."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __repr__(self) -> str:
        return f"\0{self._number:02}\0"


_SLOT = re.compile("\0(\\d+)\0")


def slot(number: int) -> Any:
    """What to put in a structure in the place of its tensor of that number."""
    return _Slot(number)


def pieces_of(structure: Any) -> list[Any]:
    """The text of a structure with slots in it, cut into strings and placeholders."""
    parts = _SLOT.split(pprint.pformat(structure))
    return [Placeholder(int(part)) if i % 2 else part for i, part in enumerate(parts) if part]


def render(pieces: Any, arrays: list[Any], summarize: int) -> str:
    """The pieces as one text."""
    return "".join([array_text(arrays[p], summarize) if isinstance(p, Placeholder) else p for p in pieces])


def array_text(array: np.ndarray[Any, Any], summarize: int) -> str:
    """An array as TensorFlow prints it: brackets and spaces, rows on lines of their own, long axes cut in the middle."""
    array = np.asarray(array)
    return _rows(array, summarize, 0)


def _rows(array: np.ndarray[Any, Any], summarize: int, depth: int) -> str:
    if array.ndim == 0:
        return _number(array[()])
    count = array.shape[0]
    cut = summarize >= 0 and count > 2 * summarize
    shown = [*range(summarize), *range(count - summarize, count)] if cut else range(count)
    pieces = [_rows(array[i], summarize, depth + 1) for i in shown]
    if cut:
        pieces.insert(summarize, "...")
    separator = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    return "[" + separator.join(pieces) + "]"


def _number(value: Any) -> str:
    dtype = value.dtype
    if dtype.kind in "biu":
        return str(int(value))
    if dtype.kind == "c":
        single = dtype.itemsize == 8
        return f"({_float(float(value.real), single)},{_float(float(value.imag), single)})"
    return _float(float(value), dtype.itemsize < 8)


def _float(value: float, single: bool) -> str:
    """C's ``%g`` with 6 digits (15 for float64) if that reads back as the same number, else with 9 (17)."""
    short = f"{value:.6g}" if single else f"{value:.15g}"
    same = np.float32(short) == np.float32(value) if single else float(short) == value
    if same:
        return short
    if value != value:
        return "-nan" if np.signbit(value) else "nan"
    return f"{value:.9g}" if single else f"{value:.17g}"
