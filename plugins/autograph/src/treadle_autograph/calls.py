"""Calls in converted code: what is called is converted first, builtins have their overloads, and functions handed to treadle are converted too."""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from treadle import nest
from treadle.state import LOCAL, own_packages
from treadle_autograph.convert import KEPT, convert
from treadle_autograph.definedness import defined
from treadle_autograph.overloads import OVERLOADS

CALLERS = frozenset({"cond", "case", "switch_case", "while_loop", "map_fn", "scan", "foldl", "foldr", "vectorized_map", "recompute_grad"})
"""Functions of treadle that call functions handed to them while tracing."""


def converted(function: Any) -> Any:
    """What a call calls: the converted function, or the thing itself."""
    kind = type(function)
    if kind is FunctionType:
        kept = function.__dict__.get(KEPT)
        if kept is not None and kept[0] is function.__code__ and kept[1] is function.__closure__:
            return kept[2]
        if function.__name__ in CALLERS and function.__module__.partition(".")[0] in own_packages:
            return _calling(function)
        return convert(function)
    if kind is MethodType:
        inner = converted(function.__func__)
        return function if inner is function.__func__ else MethodType(inner, function.__self__)
    if kind is BuiltinFunctionType:
        return OVERLOADS.get(function, function)
    if isinstance(function, type):
        return (OVERLOADS.get(function) if kind is type else None) or _constructing(function)
    return convert(function)


def _constructing(kind: type) -> Any:
    """A class with its ``__new__`` and ``__init__`` converted; itself if these are not the user's, or outside a trace."""
    if LOCAL.graph is None or type(kind).__call__ is not type.__call__:
        return kind
    new, start = kind.__new__, kind.__init__
    if not any(type(f) is FunctionType and convert(f) is not f for f in (new, start)):
        return kind

    def construct(*arguments: Any, **keywords: Any) -> Any:
        made = converted(new)(kind, *arguments, **keywords)
        if kind in type(made).__mro__:
            nothing = converted(type(made).__init__)(made, *arguments, **keywords)
            if nothing is not None:
                raise TypeError(f"__init__() should return None, not '{type(nothing).__name__}'")
        return made

    return construct


def _calling(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **keywords: Any) -> Any:
        return function(*_converted_inside(arguments), **_converted_inside(keywords))

    return call


def _converted_inside(structure: Any) -> Any:
    return nest.map_structure(lambda leaf: convert(leaf) if isinstance(leaf, FunctionType | MethodType) else leaf, structure)


def frame_reader(function: Any, names: tuple[tuple[str, Callable[[Any], Any]], ...]) -> Any:
    """``locals``, ``vars``, ``dir``, ``eval`` or ``exec`` as it would be without conversion: with the user's names only."""
    import builtins

    if function not in (builtins.locals, builtins.vars, builtins.dir, builtins.eval, builtins.exec):
        return converted(function)

    def present() -> dict[str, Any]:
        found = {}
        for name, value in names:
            try:
                found[name] = defined(value(None))
            except NameError:
                continue
        return found

    if function in (builtins.locals, builtins.vars):
        return present
    if function is builtins.dir:
        return lambda: sorted(present())
    module = names[0][1].__globals__ if names else {}
    return lambda source: function(source, module, present())
