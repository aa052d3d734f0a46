"""Python's builtins that tensors need: the same for Python values, ops for tensors of a trace.

``print`` is not among them: it prints once, while tracing; ``td.print`` prints at every call.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable
from typing import Any

from treadle import dtypes
from treadle.registry import registry
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle_autograph.conditions import and_, or_, symbolic, truth
from treadle_autograph.convert import convert
from treadle_autograph.iteration import Numbered, Zipped, items_of


def _td() -> Any:
    import treadle

    return treadle


def _cast(value: Any, dtype: Any, is_already: bool) -> Any:
    return value if is_already else registry.role("cast")(value, dtype)


def range_(*arguments: Any) -> Any:
    """``range``, or ``td.range`` if an argument is a tensor."""
    if any(symbolic(a) is not None for a in arguments):
        return _td().range(*arguments)
    return range(*arguments)


def len_(value: Any) -> Any:
    """``len``; a tensor where it depends on a size that is not known."""
    if isinstance(value, SymbolicTensor) and not (value.dims and isinstance(value.dims[0], int)):
        if value.shape.rank == 0:
            raise TypeError("scalar tensor has no len()")
        return _td().shape(value)[0]
    return len(value)


def int_(*arguments: Any, **keywords: Any) -> Any:
    """``int``, or a cast."""
    tensor = symbolic(arguments[0]) if len(arguments) == 1 else None
    return int(*arguments, **keywords) if tensor is None else _cast(tensor, dtypes.int32, tensor.dtype.is_integer)


def float_(*arguments: Any) -> Any:
    """``float``, or a cast."""
    tensor = symbolic(arguments[0]) if len(arguments) == 1 else None
    return float(*arguments) if tensor is None else _cast(tensor, dtypes.float32, tensor.dtype.is_floating)


def bool_(*arguments: Any) -> Any:
    """``bool``, or whether a tensor is true."""
    return bool(*arguments) if len(arguments) != 1 or symbolic(arguments[0]) is None else truth(arguments[0])


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    """``enumerate``, also over a tensor."""
    items = items_of(iterable)
    return enumerate(iterable, start) if items is None else Numbered(items, start)


def zip_(*iterables: Any, **keywords: Any) -> Any:
    """``zip``, also over tensors if all are."""
    is_plain = not keywords or (len(keywords) == 1 and keywords.get("strict") is False)
    parts = [items_of(i) for i in iterables] if LOCAL.graph is not None and iterables and is_plain else [None]
    return zip(*iterables, **keywords) if any(p is None for p in parts) else Zipped([p for p in parts if p is not None])  # noqa: B905


def map_(function: Any, *iterables: Any) -> Any:
    """``map`` with the function converted."""
    return map(convert(function), *iterables)


def filter_(function: Any, iterable: Any) -> Any:
    """``filter`` with the function converted."""
    return filter(None if function is None else convert(function), iterable)


def reduce_(function: Any, *arguments: Any) -> Any:
    """``functools.reduce`` with the function converted."""
    return functools.reduce(convert(function), *arguments)


def sorted_(iterable: Any, **keywords: Any) -> Any:
    """``sorted``, or ``td.sort``."""
    if symbolic(iterable) is not None and set(keywords) <= {"reverse"}:
        return _td().sort(iterable, direction="DESCENDING" if keywords.get("reverse") else "ASCENDING")
    return sorted(iterable, **keywords)


def sum_(iterable: Any, *start: Any, **keywords: Any) -> Any:
    """``sum``, or the sum of a tensor along its first axis."""
    if symbolic(iterable) is not None and not start and not keywords:
        return _td().reduce_sum(iterable, 0)
    return sum(iterable, *start, **keywords)


def any_(iterable: Iterable[Any]) -> Any:
    """``any``, also of tensors."""
    if symbolic(iterable) is not None:
        return _td().reduce_any(registry.role("cast")(iterable, dtypes.bool), 0)
    return _fold(iterable, False, or_)


def all_(iterable: Iterable[Any]) -> Any:
    """``all``, also of tensors."""
    if symbolic(iterable) is not None:
        return _td().reduce_all(registry.role("cast")(iterable, dtypes.bool), 0)
    return _fold(iterable, True, and_)


def _fold(iterable: Iterable[Any], nothing: bool, operator: Callable[..., Any]) -> Any:
    result: Any = nothing
    for item in iterable:
        known = truth(item)
        result = operator(result, lambda _, known=known: known)
        if result is not nothing and isinstance(result, bool):
            return result
    return result


def min_(*arguments: Any, **keywords: Any) -> Any:
    """``min``, also of tensors."""
    return _extreme(min, "minimum", "reduce_min", arguments, keywords)


def max_(*arguments: Any, **keywords: Any) -> Any:
    """``max``, also of tensors."""
    return _extreme(max, "maximum", "reduce_max", arguments, keywords)


def _extreme(builtin: Any, binary: str, reduction: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if set(keywords) <= {"default"} and arguments and LOCAL.graph is not None:
        if len(arguments) == 1 and symbolic(arguments[0]) is not None and not keywords:
            return getattr(_td(), reduction)(arguments[0], 0)
        if len(arguments) > 1 and keywords:
            return builtin(*arguments, **keywords)  # Python says what is wrong with that
        items = list(arguments[0]) if len(arguments) == 1 else list(arguments)
        if any(symbolic(item) is not None for item in items):
            return functools.reduce(getattr(_td(), binary), items)
        return builtin(items, **keywords)
    return builtin(*arguments, **keywords)


def least(numbers: list[Any]) -> Any:
    """The least of ints and integer tensors."""
    return functools.reduce(_td().minimum, numbers)


OVERLOADS: dict[Any, Any] = {
    getattr(builtins, name): globals()[f"{name}_"]
    for name in ["range", "len", "int", "float", "bool", "enumerate", "zip", "map", "filter", "sorted", "sum", "any", "all", "min", "max"]
} | {functools.reduce: reduce_}
"""Builtin to what stands for it in converted code."""
