"""What tapes and graphs being differentiated know of branches, loops and calls: their records, and who pulls cotangents back through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treadle.autodiff.sweep import Record
from treadle.autodiff.tape import identity_of
from treadle.contracts.op import Op
from treadle.graph.graph import Node
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor

Pull = Callable[[Node, list[int], list[Any]], list[Any]]

PULLS: dict[Op, Pull] = {}
"""Node with identities and cotangents to the gradient per input; ``control_gradients`` fills it."""


class Control:
    """What differentiation remembers of a branch or loop, as long as its graph lives.

    Attributes:
        inputs: the tensors and Variables that the inputs stand for, as the tapes know them.
        tensors: one symbolic tensor per output, always the same ones.
        records: the tapes that saw the node, and their records.
        widened: by wanted inputs and number of outputs, what the way back needs.
    """

    def __init__(self, node: Node) -> None:
        self.inputs: list[Any] = [SymbolicTensor(v) for v in node.inputs]
        self.tensors: list[SymbolicTensor] = []
        self.records: list[tuple[Any, Record]] = []
        self.widened: dict[tuple[tuple[bool, ...], int], Any] = {}


def control_of(node: Node) -> Control:
    """What is remembered of a node."""
    graph: Any = node.graph
    found: Control | None = graph.control.get(node)
    if found is None:
        found = graph.control[node] = Control(node)
    return found


def tensors_of(node: Node) -> list[SymbolicTensor]:
    """One symbolic tensor per output of a node, always the same ones."""
    found = control_of(node).tensors
    found += [SymbolicTensor(v) for v in node.outputs[len(found) :]]
    return found


def record_control(node: Node, inputs: list[Any]) -> list[SymbolicTensor]:
    """The results of a branch or loop just added, told to the tapes of the trace.

    Args:
        node: the branch or loop.
        inputs: the tensors and Variables that its inputs stand for.
    """
    control_of(node).inputs = inputs
    results = list(tensors_of(node))
    for tape in LOCAL.tapes:
        for thing in inputs:
            if hasattr(thing, "trainable"):
                tape.touch(thing)
        needs = [t._id if t._id in tape._watched else 0 for t in inputs]
        if not any(needs):
            continue
        record = Record(node.op.name, _puller(node, needs), needs, [], [], zeros=False)
        follow(tape, record, results)
        tape._records.append(record)
        control_of(node).records.append((tape, record))
    return results


def follow(tape: Any, record: Record, results: Sequence[SymbolicTensor]) -> None:
    """Let a tape's record of a node know of more of its results."""
    for tensor in results:
        record.results.append(identity_of(tensor))
        record.specs.append(None)
        if tensor.dtype.is_differentiable:
            tape._watched.add(tensor._id)


def graph_record(node: Node, needs: list[int], results: list[int], specs: list[Any]) -> Record:
    """The record of a branch or loop of a graph that is being differentiated."""
    return Record(node.op.name, _puller(node, needs), needs, results, specs, zeros=False)


def _puller(node: Node, needs: list[int]) -> Callable[[list[Any]], list[Any]]:
    pull = PULLS[node.op]
    return translating(node, lambda cotangents: pull(node, needs, cotangents))


def translating(node: Node, pull: Callable[[list[Any]], list[Any]]) -> Callable[[list[Any]], list[Any]]:
    """A way back through a node that reads tensors of the graphs that the node was copied from."""
    if not node.copied:
        return pull

    def run(cotangents: list[Any]) -> list[Any]:
        translations = LOCAL.graph.translations
        translations.append(node.copied)
        try:
            return pull(cotangents)
        finally:
            translations.pop()

    return run
