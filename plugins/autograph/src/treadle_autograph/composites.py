"""Composite symbols: attributes and items that statements set, such as ``self.total``, ``d['k']`` and ``rows[-1].v``.

They begin with a name, and every key is a constant or a name, so that it is known before a branch or loop what they mean. They are written as text.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

from treadle_autograph.names import walk_scope
from treadle_autograph.source import mangled


class Composite(NamedTuple):
    """A composite symbol.

    Attributes:
        text: as it is written, with private names mangled.
        names: that it depends on, the one that it begins with included.
    """

    text: str
    names: frozenset[str]


class Step(NamedTuple):
    """What leads from a thing to a part of it.

    Attributes:
        kind: ``attribute``, ``item``, or ``variable`` for the item whose key is what a variable holds.
        key: the attribute's name, the key, or the variable's name.
    """

    kind: str
    key: Any


def is_composite(name: str) -> bool:
    """True for the name of an attribute or item."""
    return "." in name or "[" in name


def is_item(name: str) -> bool:
    """True for the name of an item."""
    return name.endswith("]")


def owner_of(name: str) -> str:
    """The thing that an attribute or item is of."""
    whole: Any = ast.parse(name, mode="eval").body
    return ast.unparse(whole.value)


def composites_set(nodes: Iterable[ast.AST], class_name: str | None = None) -> list[Composite]:
    """The composite symbols that statements set, in the order of the text.

    Args:
        nodes: the statements.
        class_name: of the class around them, which private names are mangled with.
    """
    targets = [
        part for node in nodes for part in walk_scope(node) if isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store)
    ]
    targets.sort(key=lambda target: (target.lineno, target.col_offset))
    found = {text: Composite(text, frozenset(_names(target))) for target in targets if (text := _text(target, class_name)) is not None}
    return list(found.values())


def _text(node: ast.AST, class_name: str | None) -> str | None:
    if isinstance(node, ast.Name):
        return mangled(node.id, class_name)
    if not isinstance(node, ast.Attribute | ast.Subscript) or (owner := _text(node.value, class_name)) is None:
        return None
    if isinstance(node, ast.Attribute):
        return f"{owner}.{mangled(node.attr, class_name)}"
    if isinstance(node.slice, ast.Name):
        return f"{owner}[{mangled(node.slice.id, class_name)}]"
    return f"{owner}[{ast.unparse(node.slice)}]" if _is_constant(node.slice) else None


def _is_constant(key: ast.AST) -> bool:
    if isinstance(key, ast.UnaryOp):
        return isinstance(key.op, ast.USub) and isinstance(key.operand, ast.Constant)
    return all(_is_constant(part) for part in key.elts) if isinstance(key, ast.Tuple) else isinstance(key, ast.Constant)


def _names(node: Any) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


@functools.lru_cache(maxsize=4096)
def steps(text: str) -> tuple[str, tuple[Step, ...]]:
    """The name that a symbol begins with, and the way from there; a plain name has none."""
    found: list[Step] = []
    node: Any = ast.parse(text, mode="eval").body if is_composite(text) else ast.Name(text)
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            found.append(Step("attribute", node.attr))
        elif isinstance(node.slice, ast.Name):
            found.append(Step("variable", node.slice.id))
        else:
            found.append(Step("item", ast.literal_eval(node.slice)))
        node = node.value
    return node.id, tuple(reversed(found))
