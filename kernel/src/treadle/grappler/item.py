"""What the optimizer works on: one graph, for one device, with all calls inlined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.contracts.passes import PassContext
from treadle.conversion import from_array, host_value
from treadle.eager.dispatch import find_kernel, quietly
from treadle.graph.graph import Graph
from treadle.graph.structural import CONST


class GrapplerItem:
    """A graph to optimise.

    Attributes:
        name: of the function.
        graph: what passes rewrite.
        device: that it will run on.
        again: makes the graph anew as it was at first, to begin again from.
    """

    def __init__(self, name: str, graph: Graph, device: Any, again: Callable[[], Graph] | None = None) -> None:
        self.name = name
        self.graph = graph
        self.device = device
        if again is None:
            kept, _ = graph.copy()
            self.again: Callable[[], Graph] = lambda: kept.copy()[0]
        else:
            self.again = again


class Context(PassContext):
    """A pass context that can run kernels."""

    def evaluate(self, node: Any) -> list[Any] | None:
        """See ``PassContext.evaluate``."""
        op, device = node.op, self.device
        if op.structural or not op.pure or any(v.node.op is not CONST for v in node.inputs):
            return None
        arguments: list[Any] = []
        dtype = None
        for declared, given in zip(op.inputs, node.grouped([v.constant for v in node.inputs]), strict=True):
            if declared.kind == "host":
                arguments.append(host_value(given))
                continue
            buffers = [device.copy_in(a) for a in given] if isinstance(given, list) else device.copy_in(given)
            first = given[0] if isinstance(given, list) and given else given
            dtype = dtype or from_array(first[()] if first.ndim == 0 else first[:0]).dtype
            arguments.append(buffers)
        if dtype is None:
            dtype = next((node.attrs[a] for a in op.dtype_attrs), None)
        try:
            result = quietly(find_kernel(op, device, dtype), *arguments, **node.attrs)
        except Exception:
            return None  # it fails: then it must fail when the function runs, not while it is optimised
        results = [result] if op.outputs == "one" else list(result)
        return [device.copy_out(device.normalize(r)) for r in results]
