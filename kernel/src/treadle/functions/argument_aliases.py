"""Lists and dicts that are one and the same in several places of a call's arguments: what one place changes, the others see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from treadle import nest


def _children(structure: Any) -> Any:
    """What is in a nested structure, in the order in which leaves are: that of a dict's sorted keys."""
    kind = type(structure)
    return structure if kind is list or kind is tuple else [child for _, child in nest.items(structure)]


def containers(structure: Any) -> Iterator[Any]:
    """The lists and dicts in a nested structure, outer ones first."""
    if isinstance(structure, list | dict):
        yield structure
    if nest.is_nested(structure):
        for child in _children(structure):
            yield from containers(child)


def aliases(structure: Any) -> tuple[tuple[int, int], ...]:
    """Which of the lists and dicts are earlier ones again, as pairs of positions in the order of ``containers``."""
    first: dict[int, int] = {}
    found = []
    for i, thing in enumerate(containers(structure)):
        earlier = first.setdefault(id(thing), i)
        if earlier != i:
            found.append((i, earlier))
    return tuple(found)


def with_aliases(structure: Any, pairs: tuple[tuple[int, int], ...]) -> Any:
    """The structure with the same lists and dicts in several places as ``aliases`` said of another one."""
    if not pairs:
        return structure
    again, count = dict(pairs), 0
    made: dict[int, Any] = {}

    def build(value: Any) -> Any:
        nonlocal count
        if not isinstance(value, list | dict):
            return nest.with_children(value, [build(child) for child in _children(value)]) if nest.is_nested(value) else value
        position, count = count, count + 1
        built = nest.with_children(value, [build(child) for child in _children(value)])
        made[position] = made[again[position]] if position in again else built
        return made[position]

    return build(structure)
