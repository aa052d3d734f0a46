"""Whether a graph is whole: every value defined before it is read, uses and specs as the nodes say."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.dims import known_different
from treadle.eager.dispatch import infer
from treadle.errors import GraphError
from treadle.graph.graph import Graph, Node, Value
from treadle.graph.structural import CONST, PLACEHOLDER


def verify(graph: Graph, as_written: Collection[str] = ()) -> None:
    """Check a graph.

    Args:
        graph: the graph.
        as_written: names of nodes that the user's program made. What they are given may turn out not to fit them when more is known of it, as after
            a call was inlined or a constant folded; such a node raises when it runs, if it ever does, and breaks no graph.

    Raises:
        GraphError: it is broken; the message names the node.
    """
    defined: set[Value] = set()
    names: dict[str, Node] = {}
    count = 0
    for node in graph.nodes:
        count += 1
        if not isinstance(node.op, Op):
            raise GraphError(f"{graph.name}: the node with number {node.serial} has {node.op!r} for an op (made at {node.source})")
        if node.graph is not graph:
            raise GraphError(f"{graph.name}: {node!r} belongs to another graph")
        if names.setdefault(node.name, node) is not node:
            raise GraphError(f"{graph.name}: two nodes are called {node.name!r}")
        for value in node.inputs:
            if value not in defined:
                raise GraphError(
                    f"{graph.name}: {node!r} reads {value.name!r} of {value.node.op.name!r}, which is not defined before it (made at {node.source})"
                )
            if node not in value.uses:
                raise GraphError(f"{graph.name}: {node!r} reads {value.name!r}, whose uses do not list it")
        for i, value in enumerate(node.outputs):
            if value.node is not node or value.index != i:
                raise GraphError(f"{graph.name}: output {i} of {node!r} says that it is output {value.index} of {value.node!r}")
            defined.add(value)
        _verify_constant(graph, node)
        _verify_specs(graph, node, as_written)
    if count != len(graph):
        raise GraphError(f"{graph.name}: it has {count} nodes and counts {len(graph)}")
    for value in graph.outputs:
        if value not in defined:
            raise GraphError(f"{graph.name}: it gives back {value.name!r}, which is not one of its values")
    for value in graph.inputs:
        if value not in defined:
            raise GraphError(f"{graph.name}: its input {value.name!r} is not one of its nodes")
    for value in defined:
        for user in value.uses:
            if not any(v is value for v in user.inputs):
                raise GraphError(f"{graph.name}: {value.name!r} lists {user!r} as a use, which does not read it")


def _verify_constant(graph: Graph, node: Node) -> None:
    """A constant or placeholder has what makes it one."""
    if node.op is CONST:
        array, spec = node.attrs.get("value"), node.out.spec
        if not isinstance(array, np.ndarray) or array.dtype != spec.dtype.numpy or array.shape != spec.dims:
            raise GraphError(f"{graph.name}: a constant is declared {spec!r} and has the value {array!r}")
    elif node.op is PLACEHOLDER and (not isinstance(node.attrs.get("name"), str) or not isinstance(node.attrs.get("spec"), Spec)):
        raise GraphError(f"{graph.name}: a placeholder has lost its name or spec; it has {node.attrs!r}")


def _verify_specs(graph: Graph, node: Node, as_written: Collection[str]) -> None:
    if node.op.structural:
        return
    try:
        inferred = infer(node.op, node.grouped([v.spec for v in node.inputs]), node.attrs)
    except Exception as error:
        if node.name in as_written:
            return
        raise GraphError(f"{graph.name}: {node!r} does not fit its inputs: {error}") from error
    if len(inferred) != len(node.outputs):
        raise GraphError(f"{graph.name}: {node!r} has {len(node.outputs)} outputs, and its op makes {len(inferred)}")
    for value, spec in zip(node.outputs, inferred, strict=True):
        if value.spec.dtype is not spec.dtype or _conflict(value.spec.dims, spec.dims):
            raise GraphError(f"{graph.name}: {value.name!r} is declared {value.spec!r}, and its op makes {spec!r}")


def _conflict(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return False
    return len(a) != len(b) or any(known_different(x, y) for x, y in zip(a, b, strict=True))
