"""What in a function AutoGraph cannot do for tensors, found by reading it."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from treadle_autograph.convert import why_not
from treadle_autograph.jumps import LOOPS, jumps_of
from treadle_autograph.names import COMPREHENSIONS, FUNCTIONS, sometimes_bound
from treadle_autograph.source import SourceError, find
from treadle_autograph.statements import CHANGING, is_left_alone


class Finding(NamedTuple):
    """One construct that does not work, or not as in Python, when it depends on a tensor."""

    line: int
    construct: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.construct}: {self.reason}"


def check_function(function: Any) -> list[Finding]:
    """The findings of one function, by line."""
    code = getattr(function, "__code__", None)
    if code is None:
        return [Finding(0, repr(function), "it is no function written in Python")]
    line = code.co_firstlineno
    if reason := why_not(code, function.__globals__):
        return [Finding(line, code.co_qualname, f"{reason}: it runs as it is written")]
    try:
        node = find(code, function.__globals__)
    except SourceError as error:
        return [Finding(line, code.co_qualname, f"{error}: it runs as it is written")]
    found: list[Finding] = []
    for part in [node.body] if isinstance(node, ast.Lambda) else node.body:
        _look(part, False, found)
    return sorted(set(found))


def _look(node: ast.AST, is_in_loop: bool, found: list[Finding]) -> None:
    line = getattr(node, "lineno", 0)
    if isinstance(node, FUNCTIONS) and is_left_alone(node):
        found.append(Finding(line, f"the function {getattr(node, 'name', '<lambda>')!r}", "a generator or coroutine runs as it is written"))
        return
    if isinstance(node, ast.Try | ast.TryStar):
        found.append(Finding(line, "`try`", _TRY))
        if jumps_of(node.finalbody):
            found.append(Finding(node.finalbody[0].lineno, "`return`, `break` or `continue` in `finally`", _FINALLY))
    elif isinstance(node, ast.Match):
        found.append(Finding(line, "`match`", _MATCH))
    elif isinstance(node, COMPREHENSIONS):
        found.append(Finding(line, "a comprehension", _COMPREHENSION))
    elif isinstance(node, ast.Lambda) and sometimes_bound([node.body]):
        found.append(Finding(line, "`:=` in an operand that may not be computed, in a lambda", _WALRUS))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING and is_in_loop:
        found.append(Finding(line, f"`{ast.unparse(node.func)}` in a loop", _CHANGING))
    inside = is_in_loop or isinstance(node, LOOPS)
    for child in ast.iter_child_nodes(node):
        _look(child, inside, found)


_TRY = "it catches what happens while tracing, not the errors of ops when the graph runs"
_FINALLY = "the function runs as it is written"
_MATCH = "it chooses while tracing; its subject and guards must not depend on tensors"
_COMPREHENSION = "over a tensor it needs a first size that is known, and its filter must not depend on a tensor; use td.map_fn"
_WALRUS = "what decides must not depend on a tensor; use a function"
_CHANGING = "in a loop over a tensor it happens once, while tracing; use a td.TensorArray or td.map_fn"
