"""Making syntax nodes that stand at the place of the user's, so that tracebacks and graphs show the user's lines."""

from __future__ import annotations

import ast
import copy
from typing import Any

from treadle_autograph.names import HIDDEN, children

OPERATORS = HIDDEN
"""The name under which converted code finds the operators."""
LAZY = f"{HIDDEN}lazy"
"""The only parameter of a generated lambda, which tells it from the user's."""


def replaced(node: Any, **fields: Any) -> Any:
    """A shallow copy of a node with some fields changed."""
    twin = copy.copy(node)
    for name, value in fields.items():
        setattr(twin, name, value)
    return twin


def located(node: Any, where: Any) -> Any:
    """A new node, and what is new in it, at the place of another."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if "lineno" in part._attributes:
            if hasattr(part, "lineno"):
                continue
            part.lineno, part.col_offset = where.lineno, where.col_offset
            part.end_lineno, part.end_col_offset = where.end_lineno, where.end_col_offset
        waiting += children(part)
    return node


def load(name: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(name, ast.Load())


def assigned(name: str, value: ast.expr, where: Any) -> ast.Assign:
    """``name = value``."""
    return located(ast.Assign([ast.Name(name, ast.Store())], value), where)


def keep(name: str, value: ast.expr) -> ast.NamedExpr:
    """``(name := value)``."""
    return ast.NamedExpr(ast.Name(name, ast.Store()), value)


def is_(value: ast.expr, constant: bool) -> ast.Compare:
    """``value is True`` or ``value is False``."""
    return ast.Compare(value, [ast.Is()], [ast.Constant(constant)])


def is_not(value: ast.expr, constant: bool) -> ast.Compare:
    """``value is not True`` or ``value is not False``."""
    return ast.Compare(value, [ast.IsNot()], [ast.Constant(constant)])


def call(operator: str, *arguments: ast.expr, at: Any) -> ast.Call:
    """A call of an operator."""
    function = located(ast.Attribute(load(OPERATORS), operator, ast.Load()), at)
    function.end_lineno, function.end_col_offset = at.lineno, at.col_offset  # else Python takes the last line for that of the call
    return located(ast.Call(function, list(arguments), []), at)


def run(operator: str, *arguments: ast.expr, at: Any) -> ast.Expr:
    """A call of an operator as a statement."""
    return located(ast.Expr(call(operator, *arguments, at=at)), at)


def lazy(body: ast.expr) -> ast.Lambda:
    """A lambda that computes an operand when it is wanted."""
    parameters = ast.arguments(posonlyargs=[], args=[located(ast.arg(LAZY), body)], kwonlyargs=[], kw_defaults=[], defaults=[])
    return located(ast.Lambda(parameters, body), body)


def function(name: str, parameters: list[str], body: list[Any], where: Any) -> ast.FunctionDef:
    """A function with positional parameters."""
    arguments = ast.arguments(posonlyargs=[], args=[ast.arg(p) for p in parameters], kwonlyargs=[], kw_defaults=[], defaults=[])
    made = ast.FunctionDef(name, arguments, body, [])
    if "type_params" in ast.FunctionDef._fields:
        made.type_params = []
    return located(made, where)
