"""Which values of a graph share memory, how long each memory is needed, and which may be overwritten."""

from __future__ import annotations

from treadle.graph.graph import Graph, Node, Value
from treadle.graph.structural import ASSIGN, CONDS, CONST, LOOPS, PLACEHOLDER, READ

_FOREIGN = frozenset((CONST, PLACEHOLDER, READ)) | CONDS | LOOPS
"""Ops whose results somebody else may hold."""


class Memory:
    """What one or several values that alias each other live in.

    Attributes:
        owned: made by a kernel of this graph, so nobody outside sees it.
        escapes: given back, or put into a Variable: it must be fresh and stay as it is.
        last: position of the last node that reads any of the values.
        members: the values.
    """

    __slots__ = ("escapes", "last", "members", "owned")

    def __init__(self, owned: bool) -> None:
        self.owned = owned
        self.escapes = False
        self.last = -1
        self.members: list[Value] = []


class Liveness:
    """The memories of a graph's values, and positions of its nodes."""

    def __init__(self, graph: Graph) -> None:
        self.order: list[Node] = list(graph.nodes)
        self.position = {node: i for i, node in enumerate(self.order)}
        self.memory: dict[Value, Memory] = {}
        for i, node in enumerate(self.order):
            holds = any(value.spec.dtype.kind == "l" for value in (*node.inputs, *node.outputs))
            for value in node.outputs:
                aliased = node.op.aliases and node.inputs
                memory = self.memory[node.inputs[0]] if aliased else Memory(node.op not in _FOREIGN and not holds)
                memory.members.append(value)
                memory.last = max(memory.last, i)
                self.memory[value] = memory
            for value in node.inputs:
                self.memory[value].last = i
            if node.op is ASSIGN:
                self.memory[node.inputs[1]].escapes = True
            elif holds or node.op in CONDS or node.op in LOOPS:  # what goes in may come out: a list holds the very tensors it is given
                for value in node.inputs:
                    self.memory[value].escapes = True
        for value in graph.outputs:
            self.memory[value].escapes = True
            self.memory[value].last = len(self.order)

    def dies_at(self, node: Node) -> list[Value]:
        """The values whose memory nothing needs after ``node``."""
        here = self.position[node]
        dead: dict[Value, None] = {}
        for value in [*node.inputs, *node.outputs]:
            memory = self.memory[value]
            if memory.last == here:
                dead.update(dict.fromkeys(memory.members))
        return list(dead)

    def may_overwrite(self, value: Value, node: Node) -> bool:
        """True if ``node`` is the last reader of memory that is this graph's own."""
        memory = self.memory[value]
        return memory.owned and not memory.escapes and memory.last == self.position[node]
