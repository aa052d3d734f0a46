"""Passes are tested text in, text out: ``rewrite`` runs one pass over a graph given as text, verifying before and after."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from treadle import devices, plugins
from treadle.graph.text import from_text, to_text
from treadle.graph.verify import verify
from treadle.grappler.item import Context, GrapplerItem
from treadle.runtime.plan import Plan


class Rewritten:
    """A graph before and after a pass.

    Attributes:
        changed: what the pass said.
        ops: the names of the ops that are read, in order.
        rules: rule to count.
    """

    def __init__(self, pass_, text, fast_math=False):
        plugins.host.load_ops()
        self.device = devices.default()
        self.before = from_text(textwrap.dedent(text))
        verify(self.before)
        item = GrapplerItem("test", from_text(textwrap.dedent(text)), self.device)
        context = Context(self.device, fast_math, 10_000)
        self.changed = pass_.run(item, context)
        self.rules = dict(context.rewrites)
        self.after = item.graph
        verify(self.after)
        self.text = to_text(self.after)
        again = Context(self.device, fast_math, 10_000)
        assert not pass_.run(item, again), "a second run changed something"
        assert to_text(item.graph) == self.text
        assert self.changed or self.text == to_text(self.before), "it changed the graph and did not say so"

    @property
    def ops(self):
        live, waiting = set(), [v.node for v in self.after.outputs]
        while waiting:
            node = waiting.pop()
            if node not in live:
                live.add(node)
                waiting += [v.node for v in node.inputs]
        return [n.op.name for n in self.after.nodes if n in live and n.op.name not in ("const", "placeholder")]

    def check(self, *arrays):
        """Both graphs give the same bits on these inputs."""
        results = []
        for graph in (self.before, self.after):
            found = Plan(graph, self.device, {})(*[np.asarray(a) for a in arrays])
            results.append([np.asarray(r) for r in (found if isinstance(found, tuple) else (found,))])
        for a, b in zip(*results, strict=True):
            assert a.dtype == b.dtype
            assert a.shape == b.shape
            assert a.tobytes() == b.tobytes()
        return self


@pytest.fixture
def rewrite():
    """``rewrite(pass, text)``."""
    return Rewritten
