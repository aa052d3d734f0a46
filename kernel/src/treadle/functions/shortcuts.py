"""Shortcuts: code generated for calls of one structure, from nested and Python arguments straight to what serves them.

A shortcut checks that a call has its structure (classes, lengths, keys, Python values), picks the tensors out and looks up what was found for their
dtypes and shapes before. Anything else it does not serve, and the signature of the call decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from treadle.functions.argument_aliases import aliases
from treadle.state import LOCAL
from treadle.tensor import Tensor

MISS = object()
"""A call that a shortcut does not serve."""

MOST = 4
"""Shortcuts of one function; more would be tried in vain too often."""

_MOST_ENTRIES = 1024


class Shortcut:
    """Calls of one structure.

    Attributes:
        run: ``(args, kwargs) -> (entry, buffer of the result)``, or ``MISS``; an entry starts with what to run.
        pick: ``(args, kwargs) -> (key, tensors)`` in the order of the graph's inputs, or ``MISS``.
        table: key of the tensors' dtypes and shapes to what was found for them.
    """

    def __init__(self, pick: Callable[..., Any], run: Callable[..., Any], table: dict[Any, Any]) -> None:
        self.pick = pick
        self.run = run
        self.table = table

    def add(self, args: tuple[Any, ...], kwargs: dict[str, Any], entry: Any) -> None:
        """Remember what serves calls like this one."""
        picked = self.pick(args, kwargs)
        if picked is not MISS:
            if len(self.table) >= _MOST_ENTRIES:
                self.table.clear()
            self.table[picked[0]] = entry


def shortcut(args: tuple[Any, ...], kwargs: dict[str, Any], inputs: list[Any]) -> Shortcut | None:
    """A shortcut for calls like this one.

    Args:
        args: of the call.
        kwargs: of the call.
        inputs: what the graph gets of it, in order.

    Returns:
        The shortcut; None for arguments other than tensors, plain numbers, texts, None, and lists, tuples and dicts (with texts for keys) of these,
        and where a tensor is given twice, so that which is which cannot be told.
    """
    writer = _Writer()
    if aliases((args, kwargs)) or not writer.write("args", args) or not writer.write("kwargs", kwargs):
        return None
    by_identity = {id(tensor): name for tensor, name in writer.tensors}
    if len(by_identity) != len(writer.tensors) or len(inputs) != len(by_identity) or any(id(i) not in by_identity for i in inputs):
        return None
    names = [by_identity[id(i)] for i in inputs]
    if not names:
        return None
    checks = [f"    if not ({' and '.join(f'type({name}) is TENSOR' for name in names)}): return MISS"]
    key = "(" + ", ".join(f"{name}._key, {name}._buffer.shape" for name in names) + ")"
    buffers = ", ".join(f"{name}._buffer" for name in names)
    head = ["    try:", *["    " + line for line in writer.lines], "    except (KeyError, ValueError): return MISS", *checks]
    text = "\n".join(
        [
            "def pick(args, kwargs):",
            *head,
            f"    return {key}, [{', '.join(names)}]",
            "def run(args, kwargs):",
            *head,
            f"    entry = FIND({key})",
            "    if entry is None: return MISS",
            f"    return entry, LOCAL.run(entry[0], {buffers})",
        ]
    )
    table: dict[Any, Any] = {}
    namespace = {**writer.constants, "TENSOR": Tensor, "MISS": MISS, "LOCAL": LOCAL, "FIND": table.get}
    exec(compile(text, "<shortcut>", "exec"), namespace)
    return Shortcut(namespace["pick"], namespace["run"], table)


def with_shortcut(ways: tuple[Shortcut, ...], args: tuple[Any, ...], kwargs: dict[str, Any], inputs: list[Any], entry: Any) -> tuple[Shortcut, ...]:
    """Shortcuts with what was found for a call: in the one of its structure, or in one more while there are few."""
    for way in ways:
        if way.pick(args, kwargs) is not MISS:
            way.add(args, kwargs, entry)
            return ways
    made = shortcut(args, kwargs, inputs) if len(ways) < MOST else None
    if made is None:
        return ways
    made.add(args, kwargs, entry)
    return (*ways, made)


class _Writer:
    """Writes the checks of a structure, and gives its tensors names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tensors: list[tuple[Any, str]] = []
        self.constants: dict[str, Any] = {}
        self._count = 0
        self._containers: list[str] = []

    def _contains(self, name: str) -> None:
        """A list or dict: none may be given in two places, which is another signature."""
        self.lines += [f"    if {name} is {other}: return MISS" for other in self._containers]
        self._containers.append(name)

    def _name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _constant(self, value: Any) -> str:
        name = self._name("C")
        self.constants[name] = value
        return name

    def write(self, name: str, value: Any) -> bool:
        """Write the checks of what stands under a name; False for what a shortcut cannot tell apart."""
        kind = type(value)
        if kind is Tensor:
            self.tensors.append((value, name))
            return True
        if kind is dict and all(type(key) is str for key in value):
            self.lines.append(f"    if type({name}) is not dict or len({name}) != {len(value)}: return MISS")
            self._contains(name)
            children = [(self._name("x"), key, item) for key, item in value.items()]
            self.lines += [f"    {child} = {name}[{self._constant(key)}]" for child, key, _ in children]
            return all(self.write(child, item) for child, _, item in children)
        if kind in (list, tuple):
            self.lines.append(f"    if type({name}) is not {kind.__name__}: return MISS")
            if kind is list:
                self._contains(name)
            names = [self._name("x") for _ in value]
            self.lines.append(f"    {', '.join(names)}, = {name}" if names else f"    if {name}: return MISS")
            return all(self.write(child, item) for child, item in zip(names, value, strict=True))
        if value is None or kind is bool:
            self.lines.append(f"    if {name} is not {value}: return MISS")
            return True
        if kind in (int, str) or (kind is float and value and math.isfinite(value)):
            self.lines.append(f"    if type({name}) is not {kind.__name__} or {name} != {self._constant(value)}: return MISS")
            return True
        return False
