"""Where in the user's program a node was made."""

from __future__ import annotations

import linecache
import sys
from functools import lru_cache
from types import FrameType
from typing import NamedTuple

from treadle.state import own_packages


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
    """The innermost line on the stack that is neither treadle's nor a plugin's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in own_packages:
            code = frame.f_code
            return _of(code.co_filename, frame.f_lineno, code.co_name)
        frame = frame.f_back
    return UNKNOWN


@lru_cache(4096)
def _of(file: str, line: int, function: str) -> Source:
    """The one object for a line, as a loop makes many nodes by the same."""
    return Source(file, line, function)
