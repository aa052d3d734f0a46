"""What in a function AutoGraph cannot do for tensors, found by reading it."""

from __future__ import annotations

import ast
import functools
from types import CellType, FunctionType, ModuleType
from typing import Any, NamedTuple

from treadle_autograph.changes import Construct, changes_of, construct_of
from treadle_autograph.convert import python_function, why_not
from treadle_autograph.jumps import jumps_of
from treadle_autograph.names import COMPREHENSIONS, FUNCTIONS, bound, children, sometimes_bound
from treadle_autograph.source import SourceError, class_of, find
from treadle_autograph.statements import is_left_alone


class Finding(NamedTuple):
    """One construct that does not work, or not as in Python, when it depends on a tensor."""

    line: int
    construct: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.construct}: {self.reason}"


def check_entity(entity: Any) -> list[Finding]:
    """The findings of a function, a method, or all functions of a class, by line."""
    if not isinstance(entity, type):
        return _check_function(python_function(entity), type(getattr(entity, "__self__", None)))
    found: list[Finding] = []
    for name, member in vars(entity).items():
        member = getattr(member, "__func__", getattr(member, "func", member))  # of class and static methods, and cached properties
        for function in (member.fget, member.fset, member.fdel) if isinstance(member, property) else (member,):
            if isinstance(function, FunctionType) and not why_not(function.__code__, function.__globals__):
                found += _check_function(function, entity)
                if _is_property(vars(entity)[name]) and _decides(function):
                    found.append(Finding(function.__code__.co_firstlineno, f"the property {name!r}", _UNSEEN))
    return sorted(set(found))


def _is_property(member: Any) -> bool:
    return isinstance(member, property | functools.cached_property)


def _decides(function: Any) -> bool:
    """True if there is a condition or loop in a function."""
    try:
        node = find(function.__code__, function.__globals__)
    except SourceError:
        return False
    return any(isinstance(part, _DECIDING) for part in ast.walk(node))


def _check_function(function: Any, owner: type) -> list[Finding]:
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
    modules = _modules(function, node)
    for part in [node.body] if isinstance(node, ast.Lambda) else node.body:
        _look(part, (), modules, found)
    name = code.co_name
    if class_of(code) is not None and name.startswith("__") and name.endswith("__") and name not in _CALLED and _decides(function):
        found.append(Finding(line, f"the special method {name!r}", _UNSEEN))
    found += [
        Finding(part.lineno, f"the property `{ast.unparse(part)}`", _UNSEEN)
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in code.co_varnames[:1]
        if _is_deciding_property(getattr(owner, part.attr, None))
    ]
    return sorted(set(found))


def _is_deciding_property(member: Any) -> bool:
    function = member.fget if isinstance(member, property) else member.func if isinstance(member, functools.cached_property) else None
    return isinstance(function, FunctionType) and not why_not(function.__code__, function.__globals__) and _decides(function)


def _modules(function: FunctionType, node: ast.AST) -> set[str]:
    """The names by which a function reaches modules and what it imports itself."""
    code = function.__code__
    held = {name: function.__globals__.get(name) for name in code.co_names}
    held |= {name: cell.cell_contents for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True) if _is_set(cell)}
    imports = [alias for part in ast.walk(node) if isinstance(part, ast.Import | ast.ImportFrom) for alias in part.names]
    return {name for name, value in held.items() if isinstance(value, ModuleType)} | bound(imports)


def _is_set(cell: CellType) -> bool:
    return cell != CellType()


def _look(node: ast.AST, around: tuple[Construct, ...], modules: set[str], found: list[Finding]) -> None:
    line = getattr(node, "lineno", 0)
    if isinstance(node, FUNCTIONS):
        around = ()
        if is_left_alone(node):
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
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "filter":
        found.append(Finding(line, "`filter`", _FILTER))
    if around:
        found += [Finding(line, f"`{change}` in a {around[-1].kind}", _CHANGING) for change in changes_of(node, around, modules)]
    construct = construct_of(node)
    inside = around if construct is None else (*around, construct)
    for child in children(node):
        _look(child, inside, modules, found)


_TRY = "it catches what happens while tracing, not the errors of ops when the graph runs"
_FINALLY = "the function runs as it is written"
_MATCH = "it chooses while tracing; its subject and guards must not depend on tensors"
_COMPREHENSION = "over a tensor it needs a first size that is known, and its filter must not depend on a tensor; use td.map_fn"
_WALRUS = "what decides must not depend on a tensor; use a function"
_FILTER = "what it goes by must not depend on a tensor; use td.boolean_mask"
_CHANGING = "if that depends on a tensor, it is refused or happens once, while tracing; use constant keys, a td.TensorArray or td.map_fn"
_UNSEEN = "Python calls it where no call is written, so it runs as it is written: its conditions must not depend on tensors; use a method"
_CALLED = frozenset({"__init__", "__new__", "__call__"})
"""Special methods that are called by a call."""
_DECIDING = (ast.If, ast.IfExp, ast.While, ast.For, ast.BoolOp, ast.Assert)
