"""One trace at a time: of the threads that need the same trace, one makes it and the others wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from treadle import state

_MOST_NESTED_TRACES = 24


class _Trace:
    """A trace in progress."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.finished = threading.Event()
        self.depth = 1


_in_progress: dict[Any, _Trace] = {}
_waiting: dict[int, _Trace] = {}
_guard = threading.Lock()


@contextmanager
def one_at_a_time(key: Any) -> Iterator[None]:
    """Let one thread trace a signature; others wait for it, unless that would be a circle."""
    me = threading.get_ident()
    mine: _Trace | None = None
    while True:
        with _guard:
            other = _in_progress.get(key)
            if other is None:
                mine = _in_progress[key] = _Trace()
                break
            if other.thread == me:
                other.depth += 1
                if other.depth > _MOST_NESTED_TRACES:
                    raise RecursionError(
                        "a traced function calls itself with the same signature without an end; let a Python number that is an argument get smaller"
                    )
                break
            if _leads_to(other, me):
                break
            _waiting[me] = other
        other.finished.wait()
        with _guard:
            _waiting.pop(me, None)
    try:
        yield
    finally:
        with _guard:
            if mine is not None:
                _in_progress.pop(key, None)
                mine.finished.set()
            elif other is not None and other.thread == me:
                other.depth -= 1


def _leads_to(trace_: _Trace, thread: int) -> bool:
    """True if the thread of a trace waits, at whatever remove, for ``thread``."""
    current: _Trace | None = trace_
    while current is not None:
        if current.thread == thread:
            return True
        current = _waiting.get(current.thread)
    return False


def _after_fork() -> None:
    global _guard
    _guard = threading.Lock()
    _in_progress.clear()
    _waiting.clear()


state.after_fork(_after_fork)
