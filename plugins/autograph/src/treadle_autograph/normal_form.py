"""A function in fewer forms, before its jumps are lowered: nothing in it is never reached, and no logic is there only for what it calls."""

from __future__ import annotations

import ast
from typing import Any

from treadle_autograph.jumps import blocks, leaves
from treadle_autograph.names import SCOPES
from treadle_autograph.nodes import located


def normalize(function: ast.FunctionDef) -> None:
    """Rewrite a function's body in place."""
    _block(function.body)


def _block(statements: list[Any]) -> None:
    for i, node in enumerate(statements):
        statements[i] = node = _statement(node)
        if not isinstance(node, SCOPES):
            for block in blocks(node):
                _block(block)
        if leaves([node]):
            del statements[i + 1 :]
            return


def _statement(node: Any) -> Any:
    """``a and b`` as ``if a: b``, and other expressions of which nobody sees the value in the same way."""
    value = node.value if isinstance(node, ast.Expr) else None
    if isinstance(value, ast.IfExp):
        return located(ast.If(value.test, [_alone(value.body)], [_alone(value.orelse)]), node)
    if isinstance(value, ast.BoolOp):
        *others, last = value.values
        test = others[0] if len(others) == 1 else located(ast.BoolOp(value.op, others), node)
        if isinstance(value.op, ast.Or):
            test = located(ast.UnaryOp(ast.Not(), test), node)
        return located(ast.If(test, [_alone(last)], []), node)
    return node


def _alone(value: ast.expr) -> ast.Expr:
    return located(ast.Expr(value), value)
