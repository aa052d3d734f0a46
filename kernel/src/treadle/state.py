"""What a thread is doing: running at once, recording a graph, being watched by tapes, inside a device scope.

``STATE.busy`` counts, over all threads, the reasons why an op cannot take the fast path. Every entry point reads it first; only when it is
not zero is the thread's own state (``LOCAL``) looked at. NumPy's error state is the user's own: kernels run through ``LOCAL.run``, inside
a context of the thread's in which NumPy's floating-point warnings are off.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any

import numpy as np


class Shared:
    """What all threads share.

    Attributes:
        busy: the reasons of all threads together.
        held: those of them that concern every thread.
    """

    __slots__ = ("busy", "held")

    def __init__(self) -> None:
        self.busy = 0
        self.held = 0


class Local(threading.local):
    """One thread's state.

    Attributes:
        run: calls a function inside the thread's quiet context; cannot be entered twice.
        graph: the graph that records this thread's ops, or None.
        tapes: gradient tapes that watch this thread, the outermost first.
        device: the device of the innermost ``td.device`` scope, or None for the default.
        name_scope: of the innermost ``td.name_scope``.
        control: nodes that every new node of their graph must follow (``td.control_dependencies``).
        session: the default session, which ``tensor.eval()`` asks, or None.
        entered: contexts of graphs and sessions that ``with`` is inside of, the innermost last.
        depth: how often this thread is counted in ``STATE.busy``.
    """

    run: Callable[..., Any]

    def __init__(self) -> None:
        self.run = quiet_context().run
        self.graph: Any = None
        self.tapes: tuple[Any, ...] = ()
        self.device: Any = None
        self.name_scope = ""
        self.depth = 0
        self.control: tuple[Any, ...] = ()
        self.session: Any = None
        self.entered: list[Any] = []


def quiet_context() -> Context:
    """A new context in which NumPy raises no floating-point warning."""
    context = Context()
    context.run(np.seterr, all="ignore")
    return context


own_packages: set[str] = {"treadle"}
"""Packages whose lines are not the user's: the kernel, every plugin found, and where these have their kernels."""


def is_reentry(error: BaseException) -> bool:
    """True for the error of entering the thread's quiet context while a kernel of the thread is running."""
    return type(error) is RuntimeError and str(error).startswith("cannot enter context")


STATE = Shared()
LOCAL = Local()
_lock = threading.Lock()


def enter() -> None:
    """Count this thread as one that the fast path must ask first."""
    with _lock:
        STATE.busy += 1
    LOCAL.depth += 1


def leave() -> None:
    """Take back one ``enter`` of this thread."""
    LOCAL.depth -= 1
    with _lock:
        STATE.busy -= 1


def hold(is_held: bool) -> None:
    """Send every thread's calls by the way that asks first, or no more: for a switch that concerns the whole process."""
    with _lock:
        change = int(is_held) - STATE.held
        STATE.held += change
        STATE.busy += change


@contextmanager
def recording(graph: Any) -> Iterator[None]:
    """Let ``graph`` record this thread's ops (None: run them at once), hidden from the tapes outside."""
    outer_graph, outer_tapes, outer_device = LOCAL.graph, LOCAL.tapes, LOCAL.device
    enter()
    LOCAL.graph, LOCAL.tapes = graph, ()
    try:
        yield
    finally:
        LOCAL.graph, LOCAL.tapes, LOCAL.device = outer_graph, outer_tapes, outer_device
        leave()


@contextmanager
def untaped() -> Iterator[None]:
    """Hide this thread's ops from all tapes."""
    outer = LOCAL.tapes
    LOCAL.tapes = ()
    try:
        yield
    finally:
        LOCAL.tapes = outer


@contextmanager
def observed_only() -> Iterator[None]:
    """Hide this thread's ops from tapes, but not from what looks at every op (it has an ``instrument``)."""
    outer = LOCAL.tapes
    LOCAL.tapes = tuple(t for t in outer if t.instrument is not None)
    try:
        yield
    finally:
        LOCAL.tapes = outer


_fork_callbacks: list[Callable[[], None]] = []


def after_fork(callback: Callable[[], None]) -> None:
    """Have ``callback`` called in the child of every fork, to renew locks that another thread may have held."""
    _fork_callbacks.append(callback)


def _after_fork_in_child() -> None:
    """Only the forking thread lives on in the child: its own count is the whole count, and locks are new."""
    global _lock
    _lock = threading.Lock()
    STATE.busy = LOCAL.depth + STATE.held
    for callback in _fork_callbacks:
        callback()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
