"""Calls replaced by the nodes of what they call."""

from __future__ import annotations

from treadle.graph.graph import Graph, Value
from treadle.graph.structural import CALL, CUSTOM


def inlined(graph: Graph, differentiable: bool = False) -> tuple[Graph, dict[Value, Value]]:
    """A copy of a graph with every call inlined, and the graph's values to the copy's.

    Args:
        graph: to copy.
        differentiable: keep the nodes that only say what the user's gradients are.
    """
    twin = Graph(graph.name)
    values = _copy(graph, twin, {}, differentiable)
    twin.outputs = [values[v] for v in graph.outputs]
    return twin, values


def _copy(graph: Graph, target: Graph, values: dict[Value, Value], differentiable: bool) -> dict[Value, Value]:
    for node in graph.nodes:
        if node.op is CALL:
            callee: Graph = node.attrs["function"].graph
            inner = _copy(callee, target, dict(zip(callee.inputs, [values[v] for v in node.inputs], strict=True)), differentiable)
            values.update(zip(node.outputs, [inner[v] for v in callee.outputs], strict=True))
        elif node.op is CUSTOM and not differentiable:
            values.update(zip(node.outputs, [values[v] for v in node.inputs[: node.attrs["count"]]], strict=True))
        else:
            graph.copy_node(node, target, values)
    return values
