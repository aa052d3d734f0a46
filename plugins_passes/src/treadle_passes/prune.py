"""Take out nodes whose results nobody reads.

Nodes with effects stay, random draws among them. A dead pure node goes even if it could fail.
"""

from __future__ import annotations

from dataclasses import dataclass

from treadle.contracts.passes import Pass, PassContext
from treadle.graph.structural import PLACEHOLDER
from treadle.grappler.item import GrapplerItem


@dataclass(frozen=True)
class Prune(Pass):
    """Removes dead nodes."""

    name = "prune"
    ensures = "every pure node's result is read"

    def run(self, item: GrapplerItem, context: PassContext) -> bool:
        """See the module."""
        graph, changed = item.graph, False
        for node in reversed(list(graph.nodes)):  # readers before what they read, so one sweep takes whole chains
            if node.op is PLACEHOLDER or node.op.effect not in ("pure", "reads") or any(value.uses for value in node.outputs):
                continue
            graph.remove(node)
            context.rewrote("dead", node)
            changed = True
        return changed
