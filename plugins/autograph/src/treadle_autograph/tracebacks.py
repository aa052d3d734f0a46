"""Tracebacks through converted functions: one entry for each line of the user's.

A converted function cleans what passes through it. Where the body of a branch or loop runs as a function of its own, its line stands for the line of
the ``if`` or loop, as it does in plain Python.
"""

from __future__ import annotations

import sys

from treadle.tracebacks import Entries, show_users_lines
from treadle_autograph.convert import parts


def clean() -> None:
    """Filter the traceback of the exception being handled."""
    error = sys.exc_info()[1]
    if error is not None:
        show_users_lines(error, _merged)


def _merged(entries: Entries) -> Entries:
    kept: Entries = []
    for entry in entries:
        part = parts.get(id(entry.tb_frame.f_code))
        if part is not None and part.is_generated and kept:
            above = parts.get(id(kept[-1].tb_frame.f_code))
            if above is not None and above.host is part.host:
                kept.pop()
        kept.append(entry)
    return kept
