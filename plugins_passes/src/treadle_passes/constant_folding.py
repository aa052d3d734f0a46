"""Evaluate at trace time what does not depend on any input of the graph.

Folds a node when it is pure, all its inputs are constants, the device it would run on has a kernel for it that does not raise, and the
result is small enough to keep inside the graph. A branch on a constant gives way to the nodes of the arm that is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treadle.contracts.passes import Pass, PassContext
from treadle.contracts.spec import is_concrete
from treadle.graph.graph import Node
from treadle.graph.inline import splice
from treadle.graph.structural import CONDS, CONST
from treadle.grappler.item import GrapplerItem


@dataclass(frozen=True)
class ConstantFolding(Pass):
    """Replaces what is computed from constants by constants."""

    name = "constant-folding"
    ensures = "no small pure node reads constants only"

    max_bytes: int = 1_000_000
    """Larger results stay computed: folding ``ones((8192, 8192))`` would embed 256 MB."""

    def run(self, item: GrapplerItem, context: PassContext) -> bool:
        """See the module."""
        graph, changed = item.graph, False
        for node in graph.nodes:  # topological order, so one sweep folds whole chains
            if node.op in CONDS and node.inputs[0].constant is not None:
                changed = self._take_branch(node, context) or changed
                continue
            if not self._is_foldable(node):
                continue
            results = self._values(node, context)
            if results is None:
                continue
            for value, result in zip(node.outputs, results, strict=True):
                graph.replace(value, graph.constant(result, before=node))
            context.rewrote("fold", node)
            changed = True
        return changed

    def _take_branch(self, node: Node, context: PassContext) -> bool:
        """Put the arm that a constant chooses in the place of a branch."""
        if node.op.pure and not any(value.uses for value in node.outputs):
            return False
        chosen = node.attrs["branches"][0 if bool(node.inputs[0].constant) else 1]
        graph = node.graph
        for value, result in zip(node.outputs, splice(chosen, node.inputs[1:], before=node), strict=True):
            graph.replace(value, result)
        if not node.op.pure:
            graph.remove(node)
        context.rewrote("branch on a constant", node)
        return True

    def _is_foldable(self, node: Node) -> bool:
        if node.op.structural or not node.op.pure or not any(value.uses for value in node.outputs):
            return False
        if not all(value.spec.nbytes <= self.max_bytes for value in node.outputs):
            return False
        return _is_known(node) or all(value.node.op is CONST for value in node.inputs)

    def _values(self, node: Node, context: PassContext) -> list[np.ndarray] | None:
        if _is_known(node):
            spec = node.out.spec
            return [np.asarray(spec.value, spec.dtype.numpy)]
        return context.evaluate(node)


def _is_known(node: Node) -> bool:
    """Shape arithmetic: inference knows the value already, and the node cannot fail."""
    return len(node.outputs) == 1 and not node.op.can_fail and is_concrete(node.out.spec.value)
