"""Python's builtins that tensors need: the same for Python values, ops for tensors of a trace.

``print`` is not among them: it prints once, while tracing; ``td.print`` prints at every call.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable
from typing import Any

from treadle import dtypes
from treadle.graph.source import caller
from treadle.registry import registry
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle_autograph.conditions import and_, decided, or_, truth
from treadle_autograph.convert import convert
from treadle_autograph.errors import NotStagedError
from treadle_autograph.iteration import Numbered, Reversed, Zipped, beside, items_of
from treadle_autograph.staging import branch
from treadle_autograph.symbols import symbolic


def _td() -> Any:
    import treadle

    return treadle


def _cast(value: Any, dtype: Any, is_already: bool) -> Any:
    return value if is_already else registry.role("cast")(value, dtype)


def range_(*arguments: Any) -> Any:
    """``range``, or its integers as a tensor if an argument is one."""
    if all(symbolic(a) is None for a in arguments):
        return range(*arguments)
    range(*(a if symbolic(a) is None else 1 for a in arguments))  # Python says what is wrong with the others
    tensors = [a for a in arguments if isinstance(a, Tensor | Variable)]
    for tensor in tensors:
        if not tensor.dtype.is_integer or tensor.shape.rank not in (0, None):
            raise TypeError(f"range() takes integer scalar tensors; this one has dtype {tensor.dtype.name} and shape {tensor.shape}; use td.range")
    td = _td()
    if len({tensor.dtype for tensor in tensors}) > 1:
        arguments = tuple(td.cast(a, dtypes.int64) for a in arguments)
    start, limit, step = (0, *arguments, 1)[:3] if len(arguments) == 1 else (*arguments, 1)[:3]
    upward, downward = (lambda: td.maximum(limit, start)), (lambda: td.minimum(limit, start))  # a limit on the other side is reached at once
    if symbolic(step) is None:
        return td.range(start, upward() if step > 0 else downward(), step)
    return td.range(start, td.where(step > 0, upward(), downward()), step)


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
    """``zip``, by position if all are tensors, or one whose size is not known is."""
    is_plain = not keywords or (len(keywords) == 1 and keywords.get("strict") is False)
    parts = [items_of(i) for i in iterables] if LOCAL.graph is not None and is_plain else []
    found = [p for p in parts if p is not None]
    if not found or (len(found) < len(parts) and all(isinstance(p.length, int) for p in found)):
        return zip(*iterables, **keywords)  # noqa: B905
    return Zipped([beside(i) if p is None else p for i, p in zip(iterables, parts, strict=True)])


def reversed_(sequence: Any) -> Any:
    """``reversed``, by position of a tensor whose size is not known."""
    items = items_of(sequence)
    return reversed(sequence) if items is None or items is sequence or isinstance(items.length, int) else Reversed(items)


def map_(function: Any, *iterables: Any) -> Any:
    """``map`` with the function converted."""
    return map(convert(function), *iterables)


def filter_(function: Any, iterable: Any) -> Any:
    """``filter`` with the function converted."""
    if LOCAL.graph is None:
        return filter(None if function is None else convert(function), iterable)
    accepts = (lambda item: item) if function is None else convert(function)
    return filter(lambda item: decided(accepts(item)), iterable)


def reduce_(function: Any, *arguments: Any) -> Any:
    """``functools.reduce`` with the function converted."""
    return functools.reduce(convert(function), *arguments)


def sorted_(iterable: Any, **keywords: Any) -> Any:
    """``sorted``, or ``td.sort``."""
    if symbolic(iterable) is not None and set(keywords) <= {"reverse"}:
        return _td().sort(iterable, direction="DESCENDING" if keywords.get("reverse") else "ASCENDING")
    if LOCAL.graph is None:
        return sorted(iterable, **keywords)
    items, key = list(iterable), keywords.pop("key", None)
    ranks = items if key is None else [convert(key)(item) for item in items]
    if any(symbolic(rank) is not None for rank in ranks):
        raise NotStagedError(
            "sorted: the items of a Python list cannot be put in order by tensors that have no value while tracing; use td.sort, or td.argsort and "
            "td.gather"
        )
    return [items[i] for i in sorted(range(len(items)), key=ranks.__getitem__, **keywords)]


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
    if LOCAL.graph is None or not arguments or not set(keywords) <= {"default", "key"} or (len(arguments) > 1 and "default" in keywords):
        return builtin(*arguments, **keywords)  # Python says what is wrong with that
    key = keywords.get("key")
    if len(arguments) == 1 and symbolic(arguments[0]) is not None and not keywords:
        return getattr(_td(), reduction)(arguments[0], 0)
    items = list(arguments[0]) if len(arguments) == 1 else list(arguments)
    if key is not None:
        return _extreme_by(builtin, items, convert(key), keywords)
    if any(symbolic(item) is not None for item in items):
        return functools.reduce(getattr(_td(), binary), items)
    return builtin(items, **keywords)


def _extreme_by(builtin: Any, items: list[Any], key: Callable[[Any], Any], keywords: dict[str, Any]) -> Any:
    ranks = [key(item) for item in items]
    if not any(symbolic(rank) is not None for rank in ranks):
        position = builtin(range(len(items)), **(keywords | {"key": ranks.__getitem__, "default": None}))
        return builtin((), **keywords) if position is None else items[position]
    found = (items[0], ranks[0])
    for other in zip(items[1:], ranks[1:], strict=True):
        is_better = truth(other[1] > found[1] if builtin is max else other[1] < found[1])
        found = _chosen(is_better, other, found, f"the value of `{builtin.__name__}`")
    return found[0]


def _chosen(condition: Any, first: Any, second: Any, what: str) -> Any:
    if condition is True or condition is False:
        return first if condition else second
    source = caller()
    return branch(condition, (lambda: first, lambda: second), None, what, f"{source.file}:{source.line}")


def least(numbers: list[Any]) -> Any:
    """The least of ints and integer tensors."""
    return functools.reduce(_td().minimum, numbers)


OVERLOADS: dict[Any, Any] = {
    getattr(builtins, name): globals()[f"{name}_"]
    for name in ["range", "len", "int", "float", "bool", "enumerate", "zip", "reversed", "map", "filter", "sorted", "sum", "any", "all", "min", "max"]
} | {functools.reduce: reduce_}
"""Builtin to what stands for it in converted code."""
