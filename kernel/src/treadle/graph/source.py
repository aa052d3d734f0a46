"""Where in the user's program a node was made."""

from __future__ import annotations

import linecache
import sys
from typing import NamedTuple


class Source(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int
    function: str

    @property
    def text(self) -> str:
        """The line itself, or an empty text if it cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        text = self.text
        return f"{self.file}:{self.line}" + (f" `{text}`" if text else "")


UNKNOWN = Source("<unknown>", 0, "?")


def caller() -> Source:
    """The innermost line on the stack that is not treadle's own."""
    frame = sys._getframe(1)
    while frame is not None:
        if not frame.f_globals.get("__name__", "").startswith("treadle"):
            code = frame.f_code
            return Source(code.co_filename, frame.f_lineno, code.co_name)
        frame = frame.f_back  # type: ignore[assignment]
    return UNKNOWN
