"""Where in the user's program a node was made."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import FrameType
from typing import Any, NamedTuple

from treadle.state import own_packages


class Source(NamedTuple):
    """A line of the user's program.

    Attributes:
        file: of the program.
        line: its number.
        function: that the line is in.
        gradient: the op of that line whose gradient made the node; empty if the line made it itself.
    """

    file: str
    line: int
    function: str
    gradient: str = ""

    @property
    def text(self) -> str:
        """The line itself, or an empty text if it cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        text = self.text
        return f"{self.file}:{self.line}" + (f" `{text}`" if text else "") + (f" (gradient of op {self.gradient!r})" if self.gradient else "")


UNKNOWN = Source("<unknown>", 0, "?")


def caller() -> Source:
    """The innermost line on the stack that is neither treadle's nor a plugin's; in the gradient of an op, the line that called the op.

    In what is done in the place of a node, it is the line that made the node.
    """
    for frame in _frames():
        code = frame.f_code
        if code is _IN_PLACE_OF:
            source: Source = frame.f_locals["source"]
            return source
        if code is not _BACK:
            return _of(code.co_filename, frame.f_lineno, code.co_name)
        record = frame.f_locals["record"]
        if record.source is not None:
            return _of(*record.source[:3], record.source.gradient or record.name)
    return UNKNOWN


def in_place_of(source: Source, run: Callable[..., Any], *args: Any) -> Any:
    """Call what stands for a node that a line made; whoever asks for the `caller` inside gets that line."""
    return run(*args)


_IN_PLACE_OF = in_place_of.__code__


def back(record: Any, pull: Callable[[Any], Any], cotangents: Any) -> Any:
    """Pull cotangents back through a record; whoever asks for the `caller` or the `differentiated` inside learns of it."""
    return pull(cotangents)


_BACK = back.__code__


def differentiated() -> Any:
    """The record whose gradient is computed, unless the user's own code computes it; None outside of gradients."""
    frame = next(_frames(), None)
    return frame.f_locals["record"] if frame is not None and frame.f_code is _BACK else None


def _frames() -> Iterator[FrameType]:
    """The frames of the stack that are the user's, or those of `back` and `in_place_of`; the innermost first."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code is _BACK or frame.f_code is _IN_PLACE_OF or frame.f_globals.get("__name__", "").partition(".")[0] not in own_packages:
            yield frame
        frame = frame.f_back


@lru_cache(4096)
def _of(file: str, line: int, function: str, gradient: str = "") -> Source:
    """The one object for a line, as a loop makes many nodes by the same."""
    return Source(file, line, function, gradient)
