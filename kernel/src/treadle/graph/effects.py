"""The effect of a whole graph: that of its strongest node."""

from __future__ import annotations

from treadle.graph.graph import Graph
from treadle.graph.structural import CALL

_ORDER = ("pure", "reads", "random", "writes", "io")


def effect_of(*graphs: Graph) -> str:
    """One of the op contract's effects; ``io`` and ``writes`` include the weaker ones."""
    strongest = 0
    for graph in graphs:
        for node in graph.nodes:
            effect = effect_of(node.attrs["function"].graph) if node.op is CALL else node.op.effect
            strongest = max(strongest, _ORDER.index(effect))
    return _ORDER[strongest]
