"""``raise`` in an arm that depends on a tensor: the exception is raised when the graph runs and gets there, as in Python.

Only what the user's own ``raise`` or ``assert`` statement raises is put off; what ops refuse while tracing is refused at once.
"""

from __future__ import annotations

import copy
import linecache
import opcode
from types import TracebackType
from typing import Any

from treadle import plugins
from treadle.declare import kernel, op
from treadle.state import own_packages
from treadle_autograph.convert import is_library

_RECORDED = "__treadle_recorded__"
_RAISE = opcode.opmap["RAISE_VARARGS"]


def place_of_raise(error: Exception) -> str | None:
    """The line of the user's ``raise`` or ``assert`` that an exception comes from; None if it comes from elsewhere."""
    entry: TracebackType | None = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    if entry is None or entry.tb_frame.f_globals.get("__name__", "").partition(".")[0] in own_packages:
        return None
    code = entry.tb_frame.f_code
    if code.co_code[entry.tb_lasti] != _RAISE or is_library(code.co_filename):
        return None
    text = linecache.getline(code.co_filename, entry.tb_lineno).strip()
    return f"{code.co_filename}:{entry.tb_lineno} `{text}`"


def is_put_off(error: Exception, graph: Any) -> bool:
    """True if an exception is raised by the graph instead, which is recorded if it is not yet."""
    if getattr(error, _RECORDED, None) is graph:
        return True
    where = place_of_raise(error)
    if where is None:
        return False
    plugins.host.load_ops("autograph")
    raise_op(error=error.with_traceback(None), where=where)
    return True


def recorded_in(graph: Any, error: Exception) -> Exception:
    """The exception, marked as one that a graph raises already."""
    setattr(error, _RECORDED, graph)
    return error


@op("autograph.raise", effect="io", can_fail=True)
def raise_op(*, error: Any, where: str) -> None:
    """Raise a Python exception."""


@kernel("autograph.raise")
def _(xp: Any) -> Any:
    def run(*, error: Exception, where: str) -> None:
        raised = copy.copy(error)
        vars(raised).pop(_RECORDED, None)
        raised.add_note(f"raised by a traced function at {where}")
        raise raised

    return run
