"""The variables of a user's function as its operators read and set them: cells, globals, and attributes of what these hold."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CellType
from typing import Any


class _Empty:
    """Stands for a variable without a value."""

    def __repr__(self) -> str:
        return "undefined"


EMPTY = _Empty()
NEVER = _Empty()
"""Stands for what a variable is after a way that has no end, as it raises."""

CONTAINERS = (list, dict, set, deque)


class _Outside(threading.local):
    """What variables held before each branch or loop that this thread traces, the outermost first."""

    stack: tuple[list[Any], ...] = ()


_outside = _Outside()


@contextmanager
def inside(held: list[Any]) -> Iterator[None]:
    """Trace a branch or loop before which variables held these things."""
    before = _outside.stack
    _outside.stack = (*before, held)
    try:
        yield
    finally:
        _outside.stack = before


def is_outside(thing: Any) -> bool:
    """True if a thing was there before a branch or loop being traced; a global, given as None, was."""
    stack = _outside.stack
    return bool(stack) and (thing is None or any(thing is held for things in stack for held in things))


class Variables:
    """The variables that a branch or loop binds.

    Args:
        staged: the function whose closure holds them.
        names: of those that matter afterwards; ``self.x`` is an attribute.
        passing: names of the others, which have no value afterwards.

    Attributes:
        names: of those that matter.
        where: the line of the branch or loop.
    """

    def __init__(self, staged: Any, names: tuple[str, ...], passing: tuple[str, ...], where: str) -> None:
        cells = dict(zip(staged.__code__.co_freevars, staged.__closure__ or (), strict=True))
        self.names = names
        self.where = where
        self._cells = cells
        self._slots: list[Any] = [_slot(name, cells, staged.__globals__) for name in names]
        self._passing: list[Any] = [_slot(name, cells, staged.__globals__) for name in passing]

    def read(self) -> list[Any]:
        """What they hold now; ``EMPTY`` where that is nothing."""
        return [slot.get() for slot in self._slots]

    def write(self, values: list[Any]) -> None:
        """Let them hold these; the passing ones hold nothing then."""
        for slot, value in zip(self._slots, values, strict=True):
            slot.set(value)
        for slot in self._passing:
            slot.set(EMPTY)

    def snapshot(self) -> Callable[[], None]:
        """Gives a function that puts everything back as it is now."""
        before = [(slot, slot.get()) for slot in (*self._slots, *self._passing)]

        def restore() -> None:
            for slot, value in before:
                slot.set(value)

        return restore

    def held(self) -> list[Any]:
        """What all variables that the branch or loop can see hold now."""
        return [_Cell(cell).get() for cell in self._cells.values()]

    def value_of(self, name: str) -> Any:
        """What one of them holds now."""
        return self._slots[self.names.index(name)].get()


class _Cell:
    __slots__ = ("_cell",)

    def __init__(self, cell: CellType) -> None:
        self._cell = cell

    def get(self) -> Any:
        try:
            return self._cell.cell_contents
        except ValueError:
            return EMPTY

    def set(self, value: Any) -> None:
        if value is not EMPTY:
            self._cell.cell_contents = value
        elif self.get() is not EMPTY:
            del self._cell.cell_contents


class _Global:
    __slots__ = ("_module", "_name")

    def __init__(self, module: dict[str, Any], name: str) -> None:
        self._module = module
        self._name = name

    def get(self) -> Any:
        return self._module.get(self._name, EMPTY)

    def set(self, value: Any) -> None:
        if value is EMPTY:
            self._module.pop(self._name, None)
        else:
            self._module[self._name] = value


class _Attribute:
    __slots__ = ("_name", "_owner", "_path")

    def __init__(self, owner: _Cell | _Global, path: list[str]) -> None:
        self._owner = owner
        self._path = path[:-1]
        self._name = path[-1]

    def _holder(self) -> Any:
        thing = self._owner.get()
        for part in self._path:
            thing = getattr(thing, part, EMPTY)
        return thing

    def get(self) -> Any:
        return getattr(self._holder(), self._name, EMPTY)

    def set(self, value: Any) -> None:
        holder = self._holder()
        if value is self.get():
            return
        if value is EMPTY:
            delattr(holder, self._name)
        else:
            setattr(holder, self._name, value)


def _slot(name: str, cells: dict[str, CellType], module: dict[str, Any]) -> Any:
    root, *path = name.split(".")
    owner = _Cell(cells[root]) if root in cells else _Global(module, root)
    return _Attribute(owner, path) if path else owner
