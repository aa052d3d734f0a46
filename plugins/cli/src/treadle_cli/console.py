"""The look of what the command prints: one kind of table, one way to write times, sizes and places."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text


def console(stderr: bool = False) -> Console:
    """Standard output (or error) as it is now; numbers and paths are not coloured on their own."""
    return Console(stderr=stderr, highlight=False)


def table(*columns: str, title: str = "", right: Iterable[str] = ()) -> Table:
    """An empty table.

    Args:
        *columns: their headers; a trailing ``~`` lets a column wrap where the terminal is too narrow, the others keep their width.
        title: printed above it.
        right: the columns of numbers.
    """
    made = Table(box=SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold", pad_edge=False, header_style="bold")
    for column in columns:
        name = column.removesuffix("~")
        made.add_column(name, no_wrap=name == column, justify="right" if name in right else "left", overflow="fold")
    return made


def plain(text: Any, style: str = "") -> Text:
    """Text in which nothing is markup: signatures and causes are full of square brackets."""
    return Text(str(text), style=style)


def duration(seconds: float) -> str:
    """A time with the unit that suits it."""
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}" if seconds * factor < 100 else f"{seconds * factor:.0f} {unit}"
    return f"{seconds:.1f} s"


def size(number: float) -> str:
    """A number of bytes in binary units."""
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 100 else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GiB"


def plural(count: int, word: str) -> str:
    """``1 node``, ``2 nodes``, ``2 passes``."""
    ending = "es" if word.endswith("s") else "s"
    return f"{count} {word}{'' if count == 1 else ending}"


def place(origin: str) -> str:
    """Where a setting comes from; a path below the current folder as a relative one, one below the home folder with ``~``."""
    if not os.path.isabs(origin):
        return origin
    try:
        relative = os.path.relpath(origin)
    except (OSError, ValueError):  # the folder is gone, or on another drive
        return origin
    home = os.path.expanduser("~")
    tilde = f"~{origin.removeprefix(home)}" if origin.startswith(home + os.sep) else origin
    return min(relative, tilde, key=len) if not relative.startswith(os.path.join("..", "..")) else tilde


def rewrites_text(rewrites: Mapping[str, int]) -> str:
    """How often each rule was applied, the most frequent first: ``4x fold, 1x merge``."""
    return ", ".join(f"{count}\N{MULTIPLICATION SIGN} {rule}" for rule, count in sorted(rewrites.items(), key=lambda item: (-item[1], item[0])))
