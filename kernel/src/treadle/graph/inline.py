"""Calls replaced by the nodes of what they call."""

from __future__ import annotations

from treadle.dims import Dim, Size
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


def _copy(graph: Graph, target: Graph, values: dict[Value, Value], differentiable: bool, sizes: dict[Dim, Size] | None = None) -> dict[Value, Value]:
    """Copy a graph's nodes; ``sizes`` are those that the graph's symbols have where it is called."""
    for node in graph.nodes:
        if node.op is CALL:
            callee: Graph = node.attrs["function"].graph
            given = [values[v] for v in node.inputs]
            inner = _copy(callee, target, dict(zip(callee.inputs, given, strict=True)), differentiable, caller_sizes(callee, given))
            values.update(zip(node.outputs, [inner[v] for v in callee.outputs], strict=True))
        elif node.op is CUSTOM and not differentiable:
            values.update(zip(node.outputs, [values[v] for v in node.inputs[: node.attrs["count"]]], strict=True))
        else:
            graph.copy_node(node, target, values)
            if sizes:
                for value in node.outputs:
                    values[value].spec = values[value].spec.substitute(sizes)
    return values


def caller_sizes(callee: Graph, given: list[Value]) -> dict[Dim, Size]:
    """The callee's symbols in terms of the caller's sizes."""
    binding: dict[Dim, Size] = {}
    for mine, theirs in zip(callee.inputs, given, strict=True):
        for symbol, size in zip(mine.spec.dims or (), theirs.spec.dims or (), strict=False):
            if isinstance(symbol, Dim) and symbol.name is not None:
                binding[symbol] = size
    return binding
