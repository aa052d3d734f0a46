"""What was there before the branches and loops that a thread is tracing: what they do to it must go through the graph."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from treadle.state import own_packages
from treadle_autograph.cells import Variables

_HOLDS_NOTHING = (ModuleType, FunctionType, BuiltinFunctionType, CodeType, FrameType, str, bytes, int, float, complex, type(None))
"""Types of what is not searched: all that is reached from here is no part of the user's data."""


class Before:
    """What a branch or loop found when its tracing began.

    Attributes:
        variables: that it binds; None if it binds none.
        missed: names of variables that it read before they had a value.
    """

    def __init__(self, variables: Variables | None) -> None:
        self.variables = variables
        self.missed: set[str] = set()
        self._held = [] if variables is None else variables.held()
        self._things: dict[int, Any] | None = None

    def remember(self) -> dict[int, Any]:
        """All that could be reached from a variable, by its id; to be called before something new is attached to it."""
        if self._things is None:
            self._things = reached(self._held)
        return self._things

    def had(self, thing: Any) -> bool:
        """True if a thing could be reached from a variable."""
        return id(thing) in self.remember()


class _Tracing(threading.local):
    """The branches and loops that a thread is tracing, the outermost first."""

    stack: tuple[Before, ...] = ()


_tracing = _Tracing()


@contextmanager
def inside(variables: Variables | None) -> Iterator[Before]:
    """Trace a branch or loop."""
    outer = _tracing.stack
    before = Before(variables)
    _tracing.stack = (*outer, before)
    try:
        yield before
    finally:
        _tracing.stack = outer


def around() -> tuple[Before, ...]:
    """The branches and loops being traced, the outermost first."""
    return _tracing.stack


def reached(things: list[Any], known: Iterable[Any] = (), parts: Callable[[Any], list[Any]] | None = None) -> dict[int, Any]:
    """All that can be reached from some things, by its id.

    Args:
        things: any.
        known: things where the search ends.
        parts: gives what a thing leads to, functions included; by default all that it refers to, and nothing for functions.
    """
    found: dict[int, Any] = {}
    ends = {id(thing) for thing in known}
    waiting = list(things)
    while waiting:
        thing = waiting.pop()
        if id(thing) in found or id(thing) in ends or (isinstance(thing, _HOLDS_NOTHING) and (parts is None or not isinstance(thing, FunctionType))):
            continue
        found[id(thing)] = thing
        if type(thing).__module__.partition(".")[0] not in own_packages:
            waiting += (parts or gc.get_referents)(thing)
    return found
