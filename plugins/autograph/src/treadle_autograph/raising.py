"""``raise`` in a branch or loop that depends on a tensor: the exception is raised when the graph runs and gets there, as in Python.

Only what the user's own ``raise`` or ``assert`` statement raises is put off, and that a variable has no value yet; what ops refuse while tracing is
refused at once.
"""

from __future__ import annotations

import copy
import opcode
from functools import partial
from types import TracebackType
from typing import Any

from treadle import plugins
from treadle.declare import kernel, op
from treadle.graph.source import Source, in_place_of
from treadle.state import own_packages
from treadle_autograph.convert import is_library
from treadle_autograph.errors import UndefinedVariableError

_RECORDED = "__treadle_recorded__"
_RAISE = opcode.opmap["RAISE_VARARGS"]


def place_of_raise(error: Exception) -> Source | None:
    """The line of the user's that an exception comes from, if it raises, asserts or reads a variable; None if it comes from elsewhere."""
    entries = []
    entry: TracebackType | None = error.__traceback__
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    is_read = isinstance(error, UndefinedVariableError)
    if is_read:
        entries = [entry for entry in entries if not _is_ours(entry)]
    if not entries or _is_ours(entries[-1]):
        return None
    last = entries[-1]
    code = last.tb_frame.f_code
    if is_library(code.co_filename) or not (is_read or code.co_code[last.tb_lasti] == _RAISE):
        return None
    return Source(code.co_filename, last.tb_lineno, code.co_name)


def _is_ours(entry: TracebackType) -> bool:
    return entry.tb_frame.f_globals.get("__name__", "").partition(".")[0] in own_packages


def is_put_off(error: Exception, graph: Any) -> bool:
    """True if an exception is raised by the graph instead, which is recorded if it is not yet."""
    if getattr(error, _RECORDED, None) is graph:
        return True
    source = place_of_raise(error)
    if source is None:
        return False
    plugins.host.load_ops("autograph")
    in_place_of(source, partial(raise_op, error=error.with_traceback(None), where=str(source)))
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
