"""Calls replaced by the nodes of what they call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treadle.dims import Dim, Size
from treadle.graph.graph import Graph, Node, Value, inner_graphs
from treadle.graph.structural import CALL, CONDS, CUSTOM, LOOPS


def inlined(graph: Graph, differentiable: bool = False) -> tuple[Graph, dict[Value, Value]]:
    """A copy of a graph with every call inlined, and the graph's values to the copy's.

    Args:
        graph: to copy.
        differentiable: keep the nodes that only say what the user's gradients are.
    """
    twin = Graph(graph.name)
    values = _copy(graph, twin, {}, differentiable, ())
    twin.inputs = [values[v] for v in graph.inputs]
    twin.outputs = [values[v] for v in graph.outputs]
    return twin, values


def _copy(
    graph: Graph,
    target: Graph,
    values: dict[Value, Value],
    differentiable: bool,
    around: tuple[Mapping[Value, Value], ...],
    sizes: dict[Dim, Size] | None = None,
) -> dict[Value, Value]:
    """Copy a graph's nodes; ``around`` is as for ``Graph.copy_node``, ``sizes`` are those that the graph's symbols have where it is called."""
    for node in graph.nodes:
        if node.op is CALL:
            callee: Graph = node.attrs["function"].graph
            given = [values[v] for v in node.inputs]
            bound = dict(zip(callee.inputs, given, strict=True))
            inner = _copy(callee, target, bound, differentiable, (*node.copied, values, *around), caller_sizes(callee, given))
            values.update(zip(node.outputs, [inner[v] for v in callee.outputs], strict=True))
        elif node.op is CUSTOM and not differentiable:
            values.update(zip(node.outputs, [values[v] for v in node.inputs[: node.attrs["count"]]], strict=True))
        else:
            graph.copy_node(node, target, values, around=around)
            if not differentiable and node.op in CONDS | LOOPS:
                copy = values[node.outputs[0]].node if node.outputs else target.last
                copy.attrs = {name: _bare(value) for name, value in copy.attrs.items()}
            if sizes:
                for value in node.outputs:
                    values[value].spec = values[value].spec.substitute(sizes)
    return values


def _bare(value: Any) -> Any:
    """The functions in the attributes of a branch or loop as graphs without calls."""
    if isinstance(value, tuple):
        return tuple(_bare(v) for v in value)
    return inlined(value.graph)[0] if hasattr(value, "graph") else value


def splice(inner: Graph, inputs: list[Value], before: Node) -> list[Value]:
    """Put the nodes of a graph into that of a node, in front of it.

    Args:
        inner: the graph, without calls.
        inputs: what its inputs are there.
        before: the node.

    Returns:
        What its outputs are there.
    """
    target, values = before.graph, dict(zip(inner.inputs, inputs, strict=True))
    for node in inner.nodes:
        inner.copy_node(node, target, values, before)
    return [values[v] for v in inner.outputs]


def specialise(node: Node) -> None:
    """Put the constants that a branch or loop reads, and does not change, into its graphs."""
    first = node.attrs["carried"] if node.op in LOOPS else 0
    given = node.inputs[1:] if node.op in CONDS else node.inputs
    for graph in inner_graphs(node.attrs):
        for value, placeholder in zip(given[first:], graph.inputs[first:], strict=False):
            if value.constant is not None and placeholder.uses:
                graph.replace(placeholder, graph.adopt_constant(value.constant))


def caller_sizes(callee: Graph, given: list[Value]) -> dict[Dim, Size]:
    """The callee's symbols in terms of the caller's sizes."""
    binding: dict[Dim, Size] = {}
    for mine, theirs in zip(callee.inputs, given, strict=True):
        pairs = zip(mine.spec.dims or (), theirs.spec.dims or (), strict=False)
        binding.update({symbol: size for symbol, size in pairs if isinstance(symbol, Dim) and symbol.name is not None})
    return binding
