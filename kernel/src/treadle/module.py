"""``td.Module``: an object that finds the Variables and the modules it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from treadle.scopes import name_scope
from treadle.variable import Variable


class Module:
    """A base class for things with Variables (TensorFlow's ``tf.Module``).

    Attributes may hold Variables, modules, and lists, tuples and dictionaries of them, at any depth.

    Args:
        name: a valid Python name; by default the class's in snake_case.
    """

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        elif not name.isidentifier():
            raise ValueError(f"{name!r} is not a valid module name: it must be a valid Python identifier (e.g. `my_module`)")
        self._name = name

    @property
    def name(self) -> str:
        """The module's name."""
        return getattr(self, "_name", None) or _snake_case(type(self).__name__)

    @property
    def name_scope(self) -> name_scope:
        """A ``td.name_scope`` of the module's name."""
        return name_scope(self.name)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Every Variable of this module and its submodules, attributes by name."""
        return tuple(_unique(v for v in self._walk() if isinstance(v, Variable)))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those of them that are trainable."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """Those of them that are not."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """Every module below this one."""
        return tuple(_unique(m for m in self._walk() if isinstance(m, Module)))

    def _walk(self) -> Iterator[Any]:
        """Variables and modules below, breadth first within a module, each module's before its submodules'."""
        seen = {id(self)}
        waiting: list[Module] = [self]
        while waiting:
            module = waiting.pop(0)
            for name in sorted(vars(module)):
                for leaf in _leaves(getattr(module, name), seen):
                    yield leaf
                    if isinstance(leaf, Module):
                        waiting.append(leaf)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a method to run inside the module's name scope."""
        import functools

        @functools.wraps(method)
        def scoped(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _leaves(value: Any, seen: set[int]) -> Iterator[Any]:
    if isinstance(value, Variable):
        yield value
    elif isinstance(value, Module):
        if id(value) not in seen:
            seen.add(id(value))
            yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, seen)
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from _leaves(value[key], seen)


def _unique(things: Iterator[Any]) -> Iterator[Any]:
    seen: set[int] = set()
    for thing in things:
        if id(thing) not in seen:
            seen.add(id(thing))
            yield thing


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
