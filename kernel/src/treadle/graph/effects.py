"""The effects of a graph: that of the whole, which is its strongest node's, and the nodes that a result or an effect depends on."""

from __future__ import annotations

from collections.abc import Collection

from treadle.graph.graph import Graph, Node
from treadle.graph.structural import CALL

_ORDER = ("pure", "reads", "random", "writes", "io")


def effect_of(*graphs: Graph) -> str:
    """One of the op contract's effects; ``io`` and ``writes`` include the weaker ones."""
    strongest = 0
    for graph in graphs:
        for node in graph.nodes:
            strongest = max(strongest, _ORDER.index(_effect(node)))
    return _ORDER[strongest]


def needed_nodes(graph: Graph, effects: Collection[str] = ("writes", "io")) -> set[Node]:
    """The nodes that the outputs depend on, and those that have one of the effects, with what they depend on."""
    needed: set[Node] = set()
    waiting = [value.node for value in graph.outputs] + [node for node in graph.nodes if _effect(node) in effects]
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting += [value.node for value in node.inputs]
    return needed


def has_effect(node: Node) -> bool:
    """True for what happens even if nobody reads a result: assignments, assertions, prints, random draws."""
    return _effect(node) in ("random", "writes", "io")


def _effect(node: Node) -> str:
    return effect_of(node.attrs["function"].graph) if node.op is CALL else node.op.effect
