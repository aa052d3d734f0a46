"""Changes to containers and objects in branches and loops that depend on tensors.

An attribute or item that is one of the variables of the branch or loop is set as they are. Any other of a thing that was there before would change
once, while tracing, so it is refused, unless it is new and its value may last; things made inside are free.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from treadle import nest
from treadle.state import own_packages
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle_autograph.calls import converted
from treadle_autograph.cells import EMPTY, has_setter, is_hashable, item_key
from treadle_autograph.composites import Step
from treadle_autograph.errors import ChangedContainerError
from treadle_autograph.lasting import lasting
from treadle_autograph.outside import Before, around
from treadle_autograph.values import described, is_value

CONTAINERS = (list, dict, set, deque)
_WITH_ITEMS = (*CONTAINERS, np.ndarray, bytearray)


def changing(owner: Any, method: str, text: str, is_global: bool) -> Any:
    """A method of a container that puts something into it.

    Args:
        owner: the container.
        method: its name.
        text: the container as it is written.
        is_global: it is reached from a global.
    """
    bound = getattr(owner, method)
    if not isinstance(owner, CONTAINERS):
        return converted(bound)

    def checked(*arguments: Any, **keywords: Any) -> Any:
        _attach([*arguments, *keywords.values()], owner, is_global, f"{text}.{method}(...)", text)
        return bound(*arguments, **keywords)

    return checked if around() else bound


def added(owner: Any, value: Any, text: str, is_global: bool) -> Any:
    """What an augmented assignment adds to a container in place."""
    if isinstance(owner, CONTAINERS):
        _attach([value], owner, is_global, f"{text} += ...", text)
    return value


def _attach(values: list[Any], owner: Any, is_global: bool, change: str, text: str) -> None:
    """Refuse tensors that a container from outside gets."""
    if any(isinstance(leaf, SymbolicTensor) for leaf in nest.flatten(values)):
        if any(is_global or before.had(owner) for before in around()):
            raise ChangedContainerError(
                f"{change} puts a tensor into {text!r}, a Python {type(owner).__name__} from outside the branch or loop that depends on a tensor: "
                f"it would happen once, while tracing. Use a td.TensorArray or td.map_fn instead of {text!r}"
            )
    else:
        _remember(values)


def _remember(values: list[Any]) -> None:
    """Let branches and loops remember what was there, before new containers and objects become a part of that."""
    if not all(is_value(value) or isinstance(value, str) for value in values):
        for before in around():
            before.remember()


def target(owner: Any, text: str, whole: str, staged: Any, is_global: bool) -> Any:
    """What a statement sets or deletes an attribute or item of: the thing itself, or one that refuses what cannot go through the graph.

    Args:
        owner: the thing.
        text: the thing as it is written.
        whole: the attribute or item as it is written.
        staged: of the function that the statement stands in.
        is_global: the thing is reached from a global.
    """
    mine = [before for before in around() if before.variables is not None and before.variables.staged is staged]
    return _Target(owner, text, whole, mine, is_global) if mine and not isinstance(owner, Tensor | Variable) else owner


class _Target:
    """A thing whose attributes and items are looked after when they are set."""

    __slots__ = ("_ag",)

    def __init__(self, owner: Any, text: str, whole: str, mine: list[Before], is_global: bool) -> None:
        object.__setattr__(self, "_ag", (owner, text, whole, mine, is_global))

    def __getattribute__(self, name: str) -> Any:
        return getattr(_owner(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        owner, value = _checked(self, Step("attribute", name), value)
        setattr(owner, name, value)

    def __delattr__(self, name: str) -> None:
        owner, _ = _checked(self, Step("attribute", name))
        delattr(owner, name)

    def __getitem__(self, key: Any) -> Any:
        return _owner(self)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        owner, value = _checked(self, Step("item", key), value)
        owner[key] = value

    def __delitem__(self, key: Any) -> None:
        owner, _ = _checked(self, Step("item", key))
        del owner[key]


def _owner(wrapped: _Target) -> Any:
    return object.__getattribute__(wrapped, "_ag")[0]


def _checked(wrapped: _Target, step: Step, value: Any = EMPTY) -> tuple[Any, Any]:
    """What was wrapped and what it is given, if that part of it may be set."""
    owner, text, whole, mine, is_global = object.__getattribute__(wrapped, "_ag")
    if _is_left_to_python(owner, step, value):
        return owner, value
    place = step if step.kind == "attribute" else Step("item", item_key(owner, step.key))
    for before in mine:
        variables = before.variables
        if not variables.has(owner, place) and (is_global or before.had(owner)):
            kept = lasting(value, variables.known)
            if kept is EMPTY or not (_is_users(owner, step) or variables.makes(owner, place, kept)):
                raise _refused(owner, text, whole, step, value is EMPTY, variables.where)
            value = kept
            break
    _remember([value])
    return owner, value


def _is_left_to_python(owner: Any, step: Step, value: Any) -> bool:
    """True for what runs as it is written: setters of classes, items of what is ours, and keys that Python refuses."""
    if step.kind == "attribute":
        return has_setter(owner, step.key)
    if isinstance(owner, _WITH_ITEMS):
        return _is_refused_by_python(owner, step.key)
    return value is EMPTY or type(owner).__module__.partition(".")[0] in own_packages


def _is_refused_by_python(owner: Any, key: Any) -> bool:
    if isinstance(key, Tensor | Variable):
        return False
    if isinstance(owner, dict):
        return not is_hashable(key)
    return isinstance(owner, list) and not (isinstance(key, slice) or hasattr(key, "__index__"))


def _is_users(owner: Any, step: Step) -> bool:
    """True for an item of a class with a ``__setitem__`` of its own."""
    return step.kind == "item" and not isinstance(owner, _WITH_ITEMS)


def _refused(owner: Any, text: str, whole: str, step: Step, is_deletion: bool, where: str) -> ChangedContainerError:
    change = f"del {whole}" if is_deletion else f"{whole} = ..."
    key = f", by a key that is {described(step.key)}" if isinstance(step.key, Tensor | Variable) else ""
    instead = "Reach it from a variable that is not set there, by keys that are constants or such variables"
    if step.kind == "attribute" or _is_users(owner, step):
        kind = f"an object of class {type(owner).__name__}"
        instead = instead if step.kind == "attribute" else "Use a dict or a list, or a td.TensorArray"
    elif isinstance(owner, np.ndarray):
        kind, instead = "a NumPy array", "Use a tensor instead, with td.where or td.tensor_scatter_nd_update"
    else:
        kind = f"a Python {type(owner).__name__}"
        instead += f"; use a td.TensorArray; or make a new {type(owner).__name__} and assign it to a variable"
    return ChangedContainerError(
        f"{change} changes {text!r}, {kind} from outside the branch or loop at {where} that depends on a tensor{key}: the statement would happen "
        f"once, while tracing. {instead}"
    )
