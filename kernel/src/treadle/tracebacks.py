"""Tracebacks as the user sees them: his own lines, and none of treadle's and its plugins'.

Where the user's program enters ours and an exception passes out, ``show_users_lines`` takes our frames out of its traceback, and out of those of the
exceptions that led to it. The exceptions stay what they are, with causes, contexts and notes. Nothing happens on the way in.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import TracebackType
from typing import Any

from treadle.state import own_packages

Entries = list[TracebackType]


class _Switch:
    """Whether tracebacks are filtered."""

    is_on = True


_switch = _Switch()


def set_filtering(is_on: bool) -> None:
    """Switch it on or off, for all threads."""
    _switch.is_on = is_on


def is_filtering() -> bool:
    """Whether tracebacks are filtered; they are until that is switched off."""
    return _switch.is_on


def show_users_lines(error: BaseException, merge: Callable[[Entries], Entries] = list) -> None:
    """Take the frames that are not the user's out of the tracebacks of an exception and of those that led to it.

    To be called while the exception is handled, in the frame that it leaves next by a bare ``raise``: that frame is left out too.

    Args:
        error: the exception.
        merge: leaves out more of the user's entries, where several stand for one line of his.
    """
    if not _switch.is_on:
        return
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        entries: list[Any] = merge([entry for entry in _entries(current.__traceback__) if _is_users(entry)])
        for entry, following in pairwise([*entries, None]):
            entry.tb_next = following
        current.__traceback__ = entries[0] if entries else None
        waiting += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions


def _entries(entry: TracebackType | None) -> Entries:
    found = []
    while entry is not None:
        found.append(entry)
        entry = entry.tb_next
    return found


def _is_users(entry: TracebackType) -> bool:
    return str(entry.tb_frame.f_globals.get("__name__", "")).partition(".")[0] not in own_packages
