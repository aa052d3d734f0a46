"""Compute once what is computed twice: merge nodes with the same op, attributes and inputs.

Only pure nodes merge; reads of a Variable do while nothing is assigned between them. Constants merge by their bits, so that 0.0 and -0.0 stay apart.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from treadle.contracts.passes import Pass, PassContext
from treadle.graph.graph import Graph, Node
from treadle.graph.structural import CONST, READ
from treadle.grappler.item import GrapplerItem


@dataclass(frozen=True)
class CommonSubexpression(Pass):
    """Merges equal nodes."""

    name = "common-subexpression"
    ensures = "no two pure nodes are equal"

    def run(self, item: GrapplerItem, context: PassContext) -> bool:
        """See the module."""
        graph, changed = item.graph, False
        seen: dict[Hashable, Node] = {}
        writes = 0
        for node in graph.nodes:
            if node.op.effect in ("writes", "io"):
                writes += 1
                continue
            if not (node.op.pure or node.op is READ) or not node.outputs or (node.op.structural and node.op not in (CONST, READ)):
                continue
            key = _key(node, writes)
            if key is None:
                continue
            first = seen.setdefault(key, node)
            if first is node or first.device != node.device:
                continue
            if any(value.uses for value in node.outputs):
                self._merge(graph, node, first)
                context.rewrote("merge", node)
                changed = True
        return changed

    def _merge(self, graph: Graph, node: Node, first: Node) -> None:
        for value, kept in zip(node.outputs, first.outputs, strict=True):
            graph.replace(value, kept)


def _key(node: Node, writes: int) -> Hashable | None:
    if node.op is CONST:
        array = node.attrs["value"]
        return ("const", array.dtype.name, array.shape, array.tobytes()) if array.nbytes <= 65_536 else None
    inputs = tuple([id(value) for value in node.inputs])
    if node.op is READ:
        return ("read", inputs, writes)
    attrs = tuple([_exact(value) for value in node.attrs.values()])
    try:
        hash(attrs)
    except TypeError:
        return None
    return (node.op.name, inputs, attrs, node.splits)


def _exact(value: Any) -> Any:
    """An attribute such that equal means interchangeable: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    if isinstance(value, float):
        return ("float", value.hex())
    if isinstance(value, tuple):
        return tuple([_exact(v) for v in value])
    return (type(value), value)
