"""The variables of a user's function as its operators read and set them: cells, globals, and attributes and items of what these hold."""

from __future__ import annotations

from collections.abc import Callable
from types import CellType
from typing import Any

from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle_autograph.composites import Step, is_composite, steps


class _Empty:
    """Stands for a variable without a value."""

    def __repr__(self) -> str:
        return "undefined"


EMPTY = _Empty()
NEVER = _Empty()
"""Stands for what a variable is after a way that has no end, as it raises."""


class Maybe:
    """A value that is there only if a tensor holds; ``defined`` reads it.

    Attributes:
        value: the value, of no meaning if it is not there.
        is_there: a bool scalar tensor.
        name: of the variable.
        where: the branch or loop that may have left it undefined.
    """

    __slots__ = ("is_there", "name", "value", "where")

    def __init__(self, value: Any, is_there: Any, name: str, where: str) -> None:
        self.value = value
        self.is_there = is_there
        self.name = name
        self.where = where


class Variables:
    """The variables that a branch or loop binds.

    Args:
        staged: the function whose closure holds them.
        names: of those that matter afterwards; ``self.x`` and ``d['k']`` are an attribute and an item. What cannot be such is left out.
        passing: names of the others, which have no value afterwards.

    Attributes:
        staged: the function.
        names: of those that matter.
        where: the line of the branch or loop.
    """

    def __init__(self, staged: Any, names: tuple[str, ...], passing: tuple[str, ...], where: str) -> None:
        self._cells = dict(zip(staged.__code__.co_freevars, staged.__closure__ or (), strict=True))
        slots = {name: slot for name in names if (slot := _slot(name, self._cells, staged.__globals__)) is not None}
        self.staged = staged
        self.names = tuple(slots)
        self.where = where
        self._slots: list[Any] = list(slots.values())
        self._passing: list[Any] = [_slot(name, self._cells, staged.__globals__) for name in passing]

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
        values = [_Cell(cell).get() for cell in self._cells.values()]
        return [value.value if isinstance(value, Maybe) else value for value in values]

    def value_of(self, name: str) -> Any:
        """What one of them holds now."""
        return self._slots[self.names.index(name)].get()

    def has(self, owner: Any, step: Step) -> bool:
        """True if an attribute or item is one of them, under whatever name."""
        return any(isinstance(slot, _Part) and slot.is_at(owner, step) for slot in self._slots)

    def lacks_parts(self) -> bool:
        """True if an attribute or item among them does not exist."""
        return any(is_composite(name) and slot.get() is EMPTY for name, slot in zip(self.names, self._slots, strict=True))


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


class _Part:
    """An attribute or item of the thing that a name led to before the branch or loop, whatever the name leads to later."""

    __slots__ = ("_key", "_owner")
    kind = ""

    def __init__(self, owner: Any, key: Any) -> None:
        self._owner = owner
        self._key = key

    def is_at(self, owner: Any, step: Step) -> bool:
        return self._owner is owner and step.kind == self.kind and step.key == self._key


class _Attribute(_Part):
    __slots__ = ()
    kind = "attribute"

    def get(self) -> Any:
        return getattr(self._owner, self._key, EMPTY)

    def set(self, value: Any) -> None:
        if value is self.get():
            return
        if value is EMPTY:
            delattr(self._owner, self._key)
        else:
            setattr(self._owner, self._key, value)


class _Item(_Part):
    __slots__ = ()
    kind = "item"

    def get(self) -> Any:
        return _item(self._owner, self._key)

    def set(self, value: Any) -> None:
        if value is self.get():
            return
        if value is not EMPTY:
            self._owner[self._key] = value
        elif isinstance(self._owner, dict):
            del self._owner[self._key]


def _slot(name: str, cells: dict[str, CellType], module: dict[str, Any]) -> Any:
    """Where a variable is kept; None for an attribute or item of what has none, or of what is no list or dict."""

    def variable(name: str) -> Any:
        return _Cell(cells[name]) if name in cells else _Global(module, name)

    root, way = steps(name)
    if not way:
        return variable(root)
    thing = variable(root).get()
    if isinstance(thing, Maybe):
        thing = thing.value
    known = [Step("item", variable(step.key).get()) if step.kind == "variable" else step for step in way]
    for step in known[:-1]:
        thing = getattr(thing, step.key, EMPTY) if step.kind == "attribute" else _item(thing, step.key)
    last = known[-1]
    if last.kind == "attribute":
        return None if thing is EMPTY else _Attribute(thing, last.key)
    key = item_key(thing, last.key)
    return None if key is EMPTY or isinstance(thing, tuple) else _Item(thing, key)


def item_key(owner: Any, key: Any) -> Any:
    """The key of an item of a list, tuple or dict, counted from the beginning of a list; ``EMPTY`` if it is no Python value of the right kind."""
    if isinstance(key, Tensor | Variable | Maybe) or key is EMPTY:
        return EMPTY
    if isinstance(owner, dict):
        return key if _is_hashable(key) else EMPTY
    if not isinstance(owner, list | tuple) or not hasattr(key, "__index__"):
        return EMPTY
    position = key.__index__()
    return position if position >= 0 else position + len(owner)


def _item(owner: Any, key: Any) -> Any:
    key = item_key(owner, key)
    if key is EMPTY:
        return EMPTY
    is_there = key in owner if isinstance(owner, dict) else 0 <= key < len(owner)
    return owner[key] if is_there else EMPTY


def _is_hashable(key: Any) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True
