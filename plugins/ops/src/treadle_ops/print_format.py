"""How ``td.print`` shows values: TensorFlow's own format."""

from __future__ import annotations

from typing import Any

import numpy as np


def render(value: Any, arrays: list[Any], summarize: int) -> str:
    """A printed piece: text as it is, placeholders by their tensors, structures in Python's notation."""
    from treadle_ops.printing import Placeholder

    if isinstance(value, Placeholder):
        return array_text(arrays[value], summarize)
    if isinstance(value, str):
        return value
    return _nested(value, arrays, summarize)


def _nested(value: Any, arrays: list[Any], summarize: int) -> str:
    from treadle_ops.printing import Placeholder

    if isinstance(value, Placeholder):
        return array_text(arrays[value], summarize)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_nested(v, arrays, summarize)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return f"{type(value).__name__}({', '.join(f'{k}={_nested(v, arrays, summarize)}' for k, v in value._asdict().items())})"
    if isinstance(value, list | tuple):
        inner = ", ".join(_nested(v, arrays, summarize) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    return repr(value) if isinstance(value, str) else str(value)


def array_text(array: np.ndarray[Any, Any], summarize: int) -> str:
    """An array as TensorFlow prints it: brackets and spaces, rows on lines of their own, long axes cut in the middle."""
    array = np.asarray(array)
    return _rows(array, summarize, 0)


def _rows(array: np.ndarray[Any, Any], summarize: int, depth: int) -> str:
    if array.ndim == 0:
        return _number(array[()])
    count = array.shape[0]
    shown = range(count)
    cut = 0 <= summarize and count > 2 * summarize
    pieces = [_rows(array[i], summarize, depth + 1) for i in (shown if not cut else [*range(summarize), *range(count - summarize, count)])]
    if cut:
        pieces.insert(summarize, "...")
    separator = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    return "[" + separator.join(pieces) + "]"


def _number(value: Any) -> str:
    kind = value.dtype.kind
    if kind == "b":
        return str(int(value))
    if kind in "iu":
        return str(int(value))
    if kind == "c":
        return f"({_float(value.real)},{_float(value.imag)})"
    return _float(value)


def _float(value: Any) -> str:
    """The shortest text that reads back as the same float, without a trailing ``.0`` (the stream format of C++)."""
    if np.isnan(value):
        return "-nan" if np.signbit(value) else "nan"
    text = repr(float(str(value)))
    if text.endswith(".0"):
        text = text[:-2]
    mantissa, _, exponent = text.partition("e")
    if exponent:
        sign = "-" if exponent.startswith("-") else "+"
        return f"{mantissa.removesuffix('.0')}e{sign}{exponent.lstrip('+-').zfill(2)}"
    return text
