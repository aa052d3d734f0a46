"""Gradients that the user wrote, as graphs of one element of what is run on many."""

from __future__ import annotations

from typing import NamedTuple

from treadle import state
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Node
from treadle.symbolic import SymbolicTensor


class OwnGradient(NamedTuple):
    """What the user's gradient of a node does.

    Attributes:
        graph: takes a cotangent per output of the node, and captures values of the node's graph; gives the gradients that there are.
        is_there: per source whether it has a gradient.
    """

    graph: FuncGraph
    is_there: list[bool]


def own_gradient(node: Node) -> OwnGradient:
    """Trace the gradient of a node that says what the user's is."""
    graph = FuncGraph("gradient", node.graph)  # type: ignore[arg-type]  # it was traced
    with state.recording(graph):
        cotangents = [SymbolicTensor(graph.placeholder(v.spec, "cotangent")) for v in node.outputs]
        given = node.attrs["pull"](cotangents)
        graph.outputs = [graph.value_of(g) for g in given if g is not None]
    return OwnGradient(graph, [g is not None for g in given])
