"""Which names statements bind and read, in the scope that they stand in.

Scopes inside (functions, lambdas, classes) count as reads of what is free in them. A comprehension runs at once, so what it reads is read here; its
own targets are its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*FUNCTIONS, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
HIDDEN = "ag\uff3f\uff3f"
"""What every generated name begins with. No name of the user's does: these underscores are wide, and Python's parser makes plain ones of such."""
SHOWN = "ag__"
"""The same in text for people."""
FRAME_READERS = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""Builtins that see all names of the function that calls them."""


_MARKS = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)


def children(node: ast.AST) -> list[Any]:
    """The nodes right below one, those left out that only say which operator or use it is; twice as fast as ``ast.iter_child_nodes``."""
    found = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, _MARKS):
            found.append(value)
    return found


def bound(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that statements bind."""
    found: set[str] = set()
    for node in nodes:
        _bound(node, found)
    return found


def _bound(node: ast.AST, found: set[str]) -> None:
    kind = type(node)
    if kind is ast.Name:
        if not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        return
    if kind is ast.Constant:
        return
    if isinstance(node, SCOPES):
        if not isinstance(node, ast.Lambda):
            found.add(node.name)
        return
    if isinstance(node, COMPREHENSIONS):
        found.update(n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr) and isinstance(n.target, ast.Name))
        return
    if isinstance(node, ast.alias):
        found.add(node.asname or node.name.partition(".")[0])
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        found.add(node.name)
    elif isinstance(node, ast.MatchMapping) and node.rest:
        found.add(node.rest)
    for child in children(node):
        _bound(child, found)


def walk_scope(node: ast.AST) -> Iterable[ast.AST]:
    """A node and what is inside it, without the bodies of functions and classes."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, SCOPES):
            waiting += children(node)


def reads(node: ast.AST | None) -> set[str]:
    """The names that an expression or statement reads, those free in scopes inside it included."""
    found: set[str] = set()
    if node is not None:
        _reads(node, found)
    return found


def _reads(node: ast.AST, found: set[str]) -> None:
    kind = type(node)
    if kind is ast.Name:
        if isinstance(node.ctx, ast.Load):
            found.add(node.id)
    elif isinstance(node, SCOPES):
        found.update(free(node))
        for part in outside(node):
            _reads(part, found)
    elif isinstance(node, COMPREHENSIONS):
        inner: set[str] = set()
        own: set[str] = set()
        for child in children(node):
            _reads(child, inner)
        for generator in node.generators:
            _bound(generator.target, own)
        found.update(inner - own)
    elif kind is not ast.Constant:
        for child in children(node):
            _reads(child, found)


def outside(node: Any) -> list[ast.AST]:
    """The parts of a function or class that are evaluated where it stands: decorators, defaults, annotations, bases."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]
    args = node.args
    parts = [*args.defaults, *(d for d in args.kw_defaults if d is not None)]
    if not isinstance(node, ast.Lambda):
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *(a for a in (args.vararg, args.kwarg) if a is not None)]
        parts += [*node.decorator_list, *(a.annotation for a in every if a.annotation is not None), *([node.returns] if node.returns else [])]
    return parts


def parameters(node: Any) -> set[str]:
    """The names of a function's parameters."""
    args = node.args
    found = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    return found | {a.arg for a in (args.vararg, args.kwarg) if a is not None}


def body_of(node: Any) -> list[Any]:
    """The statements of a function or class; a lambda's expression."""
    return [node.body] if isinstance(node, ast.Lambda) else node.body


def sometimes_bound(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that ``:=`` binds in operands that may not be computed."""
    found: set[str] = set()
    for top in nodes:
        for node in walk_scope(top):
            operands: list[ast.AST] = []
            if isinstance(node, ast.BoolOp):
                operands = list(node.values[1:])
            elif isinstance(node, ast.IfExp):
                operands = [node.body, node.orelse]
            elif isinstance(node, ast.Compare):
                operands = list(node.comparators[1:])
            found |= {n.target.id for o in operands for n in walk_scope(o) if isinstance(n, ast.NamedExpr) and isinstance(n.target, ast.Name)}
    return found


def declared(nodes: Iterable[ast.AST], kind: type) -> set[str]:
    """The names of ``global`` or ``nonlocal`` statements."""
    return {name for top in nodes for node in walk_scope(top) if isinstance(node, kind) for name in node.names}


def free(node: Any) -> set[str]:
    """The names that a function or class takes from outside."""
    inside = body_of(node)
    used: set[str] = set()
    for part in inside:
        _reads(part, used)
    nonlocals = declared(inside, ast.Nonlocal)
    own = set() if isinstance(node, ast.ClassDef) else bound(inside) | parameters(node)  # methods do not see the names of their class
    return (used | nonlocals) - (own - nonlocals) - declared(inside, ast.Global)


class Scope:
    """The names of one function.

    Args:
        node: the function.
        rebound: names from outside that a call may bind, as functions around it have functions that do.

    Attributes:
        local: names that are its own.
        global_: names that it declares global.
        shared: names that functions inside it use too; they may be read at any time.
        sometimes: names that ``:=`` binds in operands that may not be computed.
        rebound: these, and its own and outer names that functions inside it or around it bind: calling one binds them anywhere.
    """

    def __init__(self, node: Any, rebound: Iterable[str] = ()) -> None:
        body = body_of(node)
        self.global_ = declared(body, ast.Global)
        self.outer = declared(body, ast.Nonlocal)
        self.params = parameters(node)
        self.local = (bound(body) | self.params) - self.global_ - self.outer
        self.shared: set[str] = set()
        self.sometimes = set() if isinstance(node, ast.Lambda) else sometimes_bound(body) & (self.local | self.outer)
        self.rebound = self.sometimes | (set(rebound) - self.local - self.global_)
        mine = self.local | self.outer
        for top in body:
            for inner in walk_scope(top):
                if isinstance(inner, SCOPES):
                    taken = free(inner)
                    self.shared |= taken & mine
                    for deeper in ast.walk(inner):
                        if isinstance(deeper, ast.Nonlocal):
                            self.rebound |= set(deeper.names) & taken
                elif isinstance(inner, ast.Name) and inner.id in FRAME_READERS:
                    self.shared |= mine
