"""The variables of a user's function as its operators read and set them: cells, globals, and attributes and items of what these hold."""

from __future__ import annotations

from types import CellType, MemberDescriptorType
from typing import Any

from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle_autograph.composites import Step, owner_of, steps
from treadle_autograph.names import HIDDEN


class _Empty:
    """Stands for a variable without a value."""

    def __repr__(self) -> str:
        return "undefined"


EMPTY = _Empty()
NEVER = _Empty()
"""Stands for what a variable is after a way that has no end, as it raises."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


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
        first: what each holds before it.
        kept: values of attributes and items that a loop makes, which it begins a turn with.
        known: what was there before: things that variables hold, and those that attributes and items are of.
    """

    def __init__(self, staged: Any, names: tuple[str, ...], passing: tuple[str, ...], where: str) -> None:
        self._cells = dict(zip(staged.__code__.co_freevars, staged.__closure__ or (), strict=True))
        slots = {name: slot for name in names if (slot := _slot(name, self._cells, staged.__globals__)) is not None}
        self.staged = staged
        self.names = tuple(slots)
        self.where = where
        self._slots: list[Any] = list(slots.values())
        self._passing: list[Any] = [_slot(name, self._cells, staged.__globals__) for name in passing]
        self.first = self.read()
        self._parts = {name: slot for name, slot in slots.items() if isinstance(slot, _Part)}
        self.kept: list[Any] = []
        self.known = [thing for thing in (*self.held(), *(part.owner for part in self._parts.values())) if not isinstance(thing, Tensor)]
        self._made: list[_Part] = []

    def read(self) -> list[Any]:
        """What they hold now; ``EMPTY`` where that is nothing."""
        return [slot.get() for slot in self._slots]

    def write(self, values: list[Any]) -> None:
        """Let them hold these; the passing ones hold nothing then."""
        for slot, value in zip(self._slots, values, strict=True):
            slot.set(value)
        for slot in self._passing:
            slot.set(EMPTY)

    def snapshot(self) -> Snapshot:
        """What they hold now."""
        return Snapshot(dict(zip(self.names, self._slots, strict=True)), self._passing)

    def held(self) -> list[Any]:
        """What all variables that the branch or loop can see hold now."""
        values = [_Cell(cell).get() for cell in self._cells.values()]
        return [value.value if isinstance(value, Maybe) else value for value in values]

    def value_of(self, name: str) -> Any:
        """What one of them holds now."""
        return self._slots[self.names.index(name)].get()

    def has(self, owner: Any, step: Step) -> bool:
        """True if an attribute or item is one of them, under whatever name."""
        return any(part.is_at(owner, step) for part in self._parts.values())

    def makes(self, owner: Any, step: Step, value: Any) -> bool:
        """True if an attribute or item that is none of them was not there before, or is the same Python value; to be called before it is set."""
        part = _Attribute(owner, step.key) if step.kind == "attribute" else _Item(owner, step.key) if isinstance(owner, dict) else None
        if part is None or step.key is EMPTY:
            return False
        now = part.get()
        if now is EMPTY:
            self._made.append(part)
        is_same = type(now) in _PLAIN and type(now) is type(value) and now == value
        return is_same or any(made.is_at(owner, step) for made in self._made)

    def shared(self, values: list[Any]) -> tuple[Any, str, str] | None:
        """A container whose items are among them while one of them leads to it too, with its name there, and the name of that other one.

        Args:
            values: that they hold.
        """
        users = [(name, value) for name, value in zip(self.names, values, strict=True) if not name.startswith(HIDDEN)]
        for name, part in self._parts.items():
            for other, value in users if part.kind == "item" else ():
                if not name.startswith((f"{other}.", f"{other}[")) and _leads_to(value, part.owner):
                    return part.owner, owner_of(name), other
        return None

    def lacks_parts(self) -> bool:
        """True if an attribute or item among them is not there before the branch or loop."""
        return any(name in self._parts and value is EMPTY for name, value in zip(self.names, self.first, strict=True))


class Snapshot:
    """What variables hold at a time, and the lists whose items are among them.

    Args:
        slots: where the variables are kept, by their names.
        passing: where those are kept that do not matter.
    """

    def __init__(self, slots: dict[str, Any], passing: list[Any]) -> None:
        self._before = [(slot, slot.get()) for slot in (*slots.values(), *passing)]
        items = {name: slot for name, slot in slots.items() if isinstance(slot, _Item) and isinstance(slot.owner, list)}
        self._lists = {id(slot.owner): (owner_of(name), slot.owner, list(slot.owner)) for name, slot in items.items()}
        self._carried = {(id(slot.owner), slot.key) for slot in items.values()}

    def moved(self) -> str | None:
        """A list that has lost items, or whose other items are not where they were."""
        return next((name for name, owner, before in self._lists.values() if self._is_moved(owner, before)), None)

    def _is_moved(self, owner: list[Any], before: list[Any]) -> bool:
        return len(owner) < len(before) or any(
            now is not item for i, (now, item) in enumerate(zip(owner, before, strict=False)) if (id(owner), i) not in self._carried
        )

    def restore(self) -> None:
        """Put everything back."""
        for _, owner, before in self._lists.values():
            if self._is_moved(owner, before):
                owner[:] = before
        for slot, value in self._before:
            slot.set(value)


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

    __slots__ = ("key", "owner")
    kind = ""

    def __init__(self, owner: Any, key: Any) -> None:
        self.owner = owner
        self.key = key

    def is_at(self, owner: Any, step: Step) -> bool:
        return self.owner is owner and step.kind == self.kind and step.key == self.key


class _Attribute(_Part):
    __slots__ = ()
    kind = "attribute"

    def get(self) -> Any:
        return _attribute(self.owner, self.key)

    def set(self, value: Any) -> None:
        if value is self.get():
            return
        if value is EMPTY:
            delattr(self.owner, self.key)
        else:
            setattr(self.owner, self.key, value)


class _Item(_Part):
    __slots__ = ()
    kind = "item"

    def get(self) -> Any:
        return _item(self.owner, self.key)

    def set(self, value: Any) -> None:
        if value is self.get():
            return
        if value is not EMPTY:
            self.owner[self.key] = value
        elif isinstance(self.owner, dict):
            del self.owner[self.key]


def _slot(name: str, cells: dict[str, CellType], module: dict[str, Any]) -> Any:
    """Where a variable is kept; None for an attribute or item of what has none, or of what is no list or dict, or that a setter sets."""

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
        thing = _attribute(thing, step.key) if step.kind == "attribute" else _item(thing, step.key)
    last = known[-1]
    if last.kind == "attribute":
        return None if thing is EMPTY or has_setter(thing, last.key) else _Attribute(thing, last.key)
    key = item_key(thing, last.key)
    return None if key is EMPTY or isinstance(thing, tuple) else _Item(thing, key)


def has_setter(owner: Any, name: str) -> bool:
    """True if setting an attribute calls a function of its class, such as a property's."""
    found = next((vars(part)[name] for part in type(owner).__mro__ if name in vars(part)), None)
    return hasattr(type(found), "__set__") and not isinstance(found, MemberDescriptorType)


def _attribute(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name, EMPTY)
    except Exception:  # of the user's, who will see it where the statement runs
        return EMPTY


def _leads_to(value: Any, container: Any) -> bool:
    """True if a value is a container, or has it in it."""
    seen: set[int] = set()
    waiting = [value.value if isinstance(value, Maybe) else value]
    while waiting:
        thing = waiting.pop()
        if thing is container:
            return True
        if isinstance(thing, list | tuple | dict) and id(thing) not in seen:
            seen.add(id(thing))
            waiting += thing.values() if isinstance(thing, dict) else thing
    return False


def item_key(owner: Any, key: Any) -> Any:
    """The key of an item of a list, tuple or dict, counted from the beginning of a list; ``EMPTY`` if it is no Python value of the right kind."""
    if isinstance(key, Tensor | Variable | Maybe) or key is EMPTY:
        return EMPTY
    if isinstance(owner, dict):
        return key if is_hashable(key) else EMPTY
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


def is_hashable(key: Any) -> bool:
    """True if a dict can have it for a key."""
    try:
        hash(key)
    except TypeError:
        return False
    return True
