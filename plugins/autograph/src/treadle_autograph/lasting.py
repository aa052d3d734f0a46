"""What attributes and items may hold for longer than the graph lives that made it: Python values, objects, and tensors whose value is known.

A branch or loop that makes such an attribute or item does so once, while tracing. So caches are filled, and objects get what belongs to them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from types import FunctionType
from typing import Any

import numpy as np

from treadle.conversion import from_array
from treadle.inspection import get_static_value
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle_autograph.cells import EMPTY, Maybe, Variables
from treadle_autograph.composites import is_composite
from treadle_autograph.outside import around, reached
from treadle_autograph.values import are_same, is_value, take_apart


def lasting(value: Any, known: Iterable[Any] = ()) -> Any:
    """The value with eager tensors in place of constants; ``EMPTY`` if a tensor without a value belongs to it.

    Args:
        value: of an attribute or item.
        known: things that were there before: what they hold does not belong to the value.
    """
    if value is EMPTY or isinstance(value, Maybe):
        return EMPTY
    structure, leaves = take_apart(value)
    kept = [_eager(leaf) for leaf in leaves]
    if any(_holds_tensors(leaf, known) for leaf in kept):
        return EMPTY
    return value if all(a is b for a, b in zip(kept, leaves, strict=True)) else structure.unflatten(kept)


def lasting_of(variables: Variables, values: list[Any]) -> list[Any]:
    """For each variable its value, if it is an attribute or item that was not there before and the value may last; else ``EMPTY``."""
    new = names_of_new(variables)
    return [lasting(value, variables.known) if name in new else EMPTY for name, value in zip(variables.names, values, strict=True)]


def names_of_new(variables: Variables) -> set[str]:
    """The names of the attributes and items that were not there before, but for what a loop around makes, which is traced again."""
    first = zip(variables.names, variables.first, strict=True)
    return {name for name, value in first if is_composite(name) and (value is EMPTY or is_kept(value))}


def is_kept(value: Any) -> bool:
    """True for what a loop around makes, on the turn before."""
    return any(value is kept for before in around() if before.variables is not None for kept in before.variables.kept)


def _eager(leaf: Any) -> Any:
    known = get_static_value(leaf) if isinstance(leaf, SymbolicTensor) else None
    return leaf if known is None else from_array(np.asarray(known))


def _holds_tensors(leaf: Any, known: Iterable[Any]) -> bool:
    if isinstance(leaf, SymbolicTensor):
        return True
    return not is_value(leaf) and any(isinstance(thing, SymbolicTensor) for thing in reached([leaf], known, _own_parts).values())


def _own_parts(thing: Any) -> list[Any]:
    """What belongs to a thing: for a function what it keeps, for others all that they refer to but their class."""
    if isinstance(thing, FunctionType):
        return [*(thing.__closure__ or ()), *(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values()]
    return [] if isinstance(thing, type) else gc.get_referents(thing)


def are_alike(a: Any, b: Any) -> bool:
    """True if a branch or loop that makes the one every time it is traced may as well have made the other."""
    one, other = take_apart(a), take_apart(b)
    return one.structure == other.structure and all(map(_are_alike, one.leaves, other.leaves))


def _are_alike(a: Any, b: Any) -> bool:
    if are_same(a, b):
        return True
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.dtype is b.dtype and np.array_equal(a.numpy(), b.numpy())
    return type(a) is type(b) and not is_value(a) and type(a).__eq__ is object.__eq__
