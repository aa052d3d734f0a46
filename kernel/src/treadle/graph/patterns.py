"""Patterns over values, and the rewriting of a graph by rows of pattern and replacement.

A row is ``(pattern, replacement)``: ``(call("multiply", x, Const(1)), lambda graph, node, x: x)``. The replacement gets the graph, the node matched
and the captures by name, and gives a value or None. It is used only if its dtype and dims are provably those of what it replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from treadle.graph.graph import Graph, Node, Value

Captures = dict[str, Value]


class Pattern:
    """Something that a value may match."""

    def match(self, value: Value, captures: Captures) -> bool:
        """Whether it matches; captures are added."""
        raise NotImplementedError


class Any_(Pattern):
    """Any value, captured by a name; the same name again matches only the same value."""

    def __init__(self, name: str) -> None:
        self.name = name

    def match(self, value: Value, captures: Captures) -> bool:
        """See the base."""
        return captures.setdefault(self.name, value) is value


class Const(Pattern):
    """A constant all of whose elements are a number, to the sign of zero."""

    def __init__(self, number: float, kinds: str = "fiucb") -> None:
        self._number = number
        self._kinds = kinds

    def match(self, value: Value, captures: Captures) -> bool:
        """See the base."""
        array = value.constant
        if array is None or array.size == 0 or value.spec.dtype.kind not in self._kinds:
            return False
        if not bool(np.all(array == self._number)):
            return False
        if self._number == 0 and value.spec.dtype.kind in "fc":
            wide = array.astype(np.complex128)
            sign = np.copysign(1.0, self._number)
            return bool(np.all(np.copysign(1.0, wide.real) == sign) and (value.spec.dtype.kind == "f" or np.all(np.copysign(1.0, wide.imag) == sign)))
        return True


class Call(Pattern):
    """A call of an op whose inputs match; of a commutative op in either order."""

    def __init__(self, op: str, *inputs: Pattern, kinds: str = "fiucb", name: str | None = None) -> None:
        self.op = op
        self._inputs = inputs
        self._kinds = kinds
        self._name = name

    def match(self, value: Value, captures: Captures) -> bool:
        """See the base."""
        node = value.node
        if node.op.name != self.op or len(node.inputs) != len(self._inputs) or node.op.structural or value.spec.dtype.kind not in self._kinds:
            return False
        orders = [node.inputs, node.inputs[::-1]] if node.op.commutative and len(node.inputs) == 2 else [node.inputs]
        for order in orders:
            tried = dict(captures)
            if all(p.match(v, tried) for p, v in zip(self._inputs, order, strict=True)):
                captures.update(tried)
                if self._name is not None:
                    captures[self._name] = value
                return True
        return False


def call(op: str, *inputs: Pattern, kinds: str = "fiucb", name: str | None = None) -> Call:
    """A pattern for a call of an op.

    Args:
        op: the op's name.
        *inputs: a pattern per input.
        kinds: of the result's dtype.
        name: captures the result of the call too.
    """
    return Call(op, *inputs, kinds=kinds, name=name)


def capture(name: str) -> Any_:
    """A pattern for any value, handed to the replacement by this name."""
    return Any_(name)


class Rule:
    """A named row."""

    def __init__(self, name: str, pattern: Call, replacement: Callable[..., Value | None]) -> None:
        self.name = name
        self.pattern = pattern
        self.replacement = replacement


class Rewriter:
    """Applies rules to graphs, in one sweep in the order of the nodes.

    Args:
        rules: rows, looked up by the op they start with.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_op: dict[str, list[Rule]] = {}
        for rule in rules:
            self._by_op.setdefault(rule.pattern.op, []).append(rule)

    def run(self, graph: Graph, context: Any) -> bool:
        """Rewrite; whether anything changed."""
        changed = False
        for node in graph.nodes:
            for rule in self._by_op.get(node.op.name, ()):
                if len(node.outputs) != 1 or not node.out.uses:
                    break
                captures: Captures = {}
                if not rule.pattern.match(node.out, captures):
                    continue
                replacement = rule.replacement(graph, node, **captures)
                if replacement is None or replacement is node.out or not _interchangeable(node, replacement):
                    continue
                graph.replace(node.out, replacement)
                context.rewrote(rule.name, node)
                changed = True
                break
        return changed


def _interchangeable(node: Node, replacement: Value) -> bool:
    mine, theirs = node.out.spec, replacement.spec
    return mine.dtype is theirs.dtype and mine.dims is not None and mine.dims == theirs.dims and replacement.node.device == node.device
