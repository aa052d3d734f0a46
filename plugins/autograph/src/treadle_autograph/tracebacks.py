"""Tracebacks without frames that are not the user's: those of the operators, of treadle and of its plugins.

A converted function cleans what passes through it. Where the body of a branch or loop runs as a function of its own, its line stands for the line of
the ``if`` or loop, as it does in plain Python.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from treadle.state import own_packages
from treadle_autograph.convert import parts


def is_filtering() -> bool:
    """Whether ``td.debugging.disable_traceback_filtering`` was not called."""
    import treadle as td

    try:
        return bool(td.debugging.is_traceback_filtering_enabled())
    except AttributeError:
        return True


def filter_traceback(error: BaseException) -> BaseException:
    """Take the frames that are not the user's out of an exception's traceback, and out of those that led to it; the exception itself."""
    seen: set[int] = set()
    waiting: list[Any] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        entries = _users_entries(current.__traceback__)
        if entries:
            for entry, following in zip(entries, [*entries[1:], None], strict=True):
                entry.tb_next = following
            current.__traceback__ = entries[0]
        waiting += [current.__cause__, current.__context__]
    return error


def _users_entries(entry: TracebackType | None) -> list[TracebackType]:
    kept: list[TracebackType] = []
    while entry is not None:
        frame = entry.tb_frame
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] not in own_packages:
            part = parts.get(id(frame.f_code))
            if part is not None and part.is_generated and kept:
                above = parts.get(id(kept[-1].tb_frame.f_code))
                if above is not None and above.host is part.host:
                    kept.pop()
            kept.append(entry)
        entry = entry.tb_next
    return kept


def clean() -> None:
    """Filter the traceback of the exception being handled."""
    error = sys.exc_info()[1]
    if error is not None and is_filtering():
        filter_traceback(error)
