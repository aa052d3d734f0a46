"""Which changes of containers and objects may stand in a branch or loop that depends on a tensor, found by reading."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from treadle_autograph.composites import composites_set
from treadle_autograph.expressions import is_python
from treadle_autograph.jumps import LOOPS, jumps_of
from treadle_autograph.names import COMPREHENSIONS, bound, walk_scope
from treadle_autograph.statements import CHANGING

_TAKING = frozenset({"pop", "popitem", "popleft", "remove", "discard", "clear", "sort", "reverse"})
"""Methods that change a container without putting anything into it."""
_NEW = (ast.List, ast.Dict, ast.Set, ast.Call, ast.BinOp, *COMPREHENSIONS)
"""Expressions that make something."""
_NUMBERS = (ast.Constant, ast.UnaryOp, ast.unaryop)
"""What numbers are made of."""


class Construct(NamedTuple):
    """A branch or loop that may depend on a tensor.

    Attributes:
        kind: what it is.
        bound: the names that it binds.
        made: those of them whose value is made there.
    """

    kind: str
    bound: set[str]
    made: set[str]


def construct_of(node: ast.AST) -> Construct | None:
    """The branch or loop that a statement is; None if it is none, or surely Python's."""
    is_logic = isinstance(node, ast.Expr) and isinstance(node.value, ast.BoolOp | ast.IfExp)
    if not is_logic and not isinstance(node, (ast.If, *LOOPS)):
        return None
    if (isinstance(node, ast.If) and is_python(node.test)) or (isinstance(node, ast.For) and _is_unrolled(node)):
        return None
    made = {
        target.id
        for part in walk_scope(node)
        if isinstance(part, ast.Assign) and isinstance(part.value, _NEW)
        for target in part.targets
        if isinstance(target, ast.Name)
    }
    return Construct("loop" if isinstance(node, LOOPS) else "branch", bound([node]), made)


def _is_unrolled(loop: ast.For) -> bool:
    """True for a loop that Python surely runs to its end, over ``range(3)`` or ``(a, b)``."""
    iterable = loop.iter
    if jumps_of(loop.body):
        return False
    if isinstance(iterable, ast.Tuple | ast.List):
        return True
    is_range = isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "range"
    return is_range and all(isinstance(part, _NUMBERS) for argument in iterable.args for part in ast.walk(argument))


def changes_of(node: Any, around: tuple[Construct, ...], modules: set[str]) -> Iterator[str]:
    """The changes that a node makes to what was there before the branches and loops around it, as they are written.

    Args:
        node: any.
        around: the outermost first; there is at least one.
        modules: names of modules, whose functions are no methods.
    """
    made = around[-1].made | modules
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in CHANGING | _TAKING and _root(node.func) not in made:
            yield ast.unparse(node.func)
    elif isinstance(node, ast.AugAssign):
        if isinstance(node.value, (ast.List, ast.Set, ast.Dict, *COMPREHENSIONS)) and _root(node.target) not in made:
            yield ast.unparse(node)
    elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        outside = [construct for construct in around if _root(node) not in construct.made and not _is_carried(node, construct)]
        if outside:
            yield f"del {ast.unparse(node)}" if isinstance(node.ctx, ast.Del) else f"{ast.unparse(node)} = ..."


def _is_carried(node: Any, construct: Construct) -> bool:
    return any(not part.names & construct.bound for part in composites_set([node]))


def _root(node: Any) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
