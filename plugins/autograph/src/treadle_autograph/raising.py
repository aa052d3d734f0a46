"""``raise`` in a branch or loop that depends on a tensor: the exception is raised when the graph runs and gets there, as in Python.

Only what the user's own ``raise`` or ``assert`` statement raises is put off, and that a variable has no value yet; what ops refuse while tracing is
refused at once.
"""

from __future__ import annotations

import copy
import opcode
from collections.abc import Sequence
from functools import partial
from types import FunctionType, TracebackType
from typing import Any, NamedTuple

import numpy as np

from treadle import plugins
from treadle.conversion import from_array
from treadle.declare import FreeSpec, kernel, op
from treadle.graph.source import Source, in_place_of
from treadle.state import own_packages
from treadle_autograph.convert import is_library
from treadle_autograph.errors import UndefinedVariableError
from treadle_autograph.fstrings import Text, formatted
from treadle_autograph.symbols import symbolic

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
    tensors: list[Any] = []
    args = tuple([_template(value, tensors) for value in error.args])
    state = {name: _template(value, tensors) for name, value in vars(error).items()}
    in_place_of(source, partial(raise_op, tensors, error=error.with_traceback(None), args=args, state=state, where=str(source)))
    return True


def recorded_in(graph: Any, error: Exception) -> Exception:
    """The exception, marked as one that a graph raises already."""
    setattr(error, _RECORDED, graph)
    return error


class _Place(NamedTuple):
    """Where a tensor stands in what an exception holds."""

    number: int


class _Pieces(NamedTuple):
    """Where a text with tensors in it stands."""

    pieces: tuple[Any, ...]


def _template(value: Any, tensors: list[Any]) -> Any:
    """What an exception holds, with places for the tensors that have no value yet, which are noted."""
    if isinstance(value, Text):
        return _Pieces(tuple([p if isinstance(p, str) else (_template(p[0], tensors), *p[1:]) for p in value.pieces]))
    tensor = symbolic(value)
    if tensor is None:
        return value
    tensors.append(tensor)
    return _Place(len(tensors) - 1)


def _filled(template: Any, values: list[Any]) -> Any:
    if isinstance(template, _Place):
        return values[template.number]
    if isinstance(template, _Pieces):
        return "".join([p if isinstance(p, str) else formatted(_filled(p[0], values), *p[1:]) for p in template.pieces])
    return template


@op("autograph.raise", effect="io", can_fail=True)
def raise_op(tensors: Sequence[FreeSpec], *, error: Any, args: Any, state: Any, where: str) -> None:
    """Raise a Python exception like ``error``, with the values that the tensors have in ``args`` and ``state``."""


@kernel("autograph.raise")
def _(xp: Any) -> Any:
    to_host = getattr(xp, "asnumpy", np.asarray)

    def run(tensors: Any, *, error: Exception, args: Any, state: Any, where: str) -> None:
        values = [from_array(np.asarray(to_host(x))) for x in tensors]
        raised = _like(error)
        raised.args = tuple([_filled(value, values) for value in args])
        vars(raised).update({name: _filled(value, values) for name, value in state.items() if name != _RECORDED})
        raised.__notes__ = list(getattr(error, "__notes__", ()))
        raised.__cause__, raised.__context__ = error.__cause__, error.__context__
        raised.__suppress_context__ = error.__suppress_context__
        raised.add_note(f"raised by a traced function at {where}")
        raise raised

    return run


def _like(error: Exception) -> Any:
    """Another exception of the class; the user's ``__init__`` does not run again, which may want other arguments than it passes on."""
    kind = type(error)
    return kind.__new__(kind, *error.args) if isinstance(kind.__init__, FunctionType) else copy.copy(error)
