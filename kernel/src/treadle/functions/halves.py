"""The forward and the backward half of a graph, for differentiating calls of it.

How a call uses them is in `treadle.functions.atomic`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from treadle import plugins, state
from treadle.autodiff.sweep import GradientContext, Record, passed_on, sweep, zeros_for
from treadle.contracts.spec import is_concrete
from treadle.conversion import to_tuples
from treadle.functions.control_records import graph_record, translating
from treadle.graph.effects import has_effect
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Node, Value
from treadle.graph.inline import inlined
from treadle.graph.structural import CALL, CONDS, CONST, CUSTOM, LOOPS, PLACEHOLDER, READ
from treadle.registry import registry
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor, to_device
from treadle.treedef import TreeDef, flatten_to
from treadle.variable import Variable

if TYPE_CHECKING:
    from treadle.functions.atomic import AtomicFunction


class Halves:
    """A function split for differentiation.

    Attributes:
        forward: gives the results and whatever the way back needs, nothing more.
        backward: takes cotangents, saved inputs and what ``forward`` gave besides, and gives gradients.
        saved_inputs: positions of the inputs that the way back needs.
        saved_outputs: positions of what it needs among the results of ``forward``.
        is_closed: whether these are results of the function already, so that its derivatives need nothing more of any order.
        has_gradient: per input of the graph.
    """

    def __init__(
        self,
        forward: AtomicFunction,
        backward: AtomicFunction,
        saved_inputs: list[int],
        saved_outputs: list[int],
        is_closed: bool,
        has_gradient: tuple[bool, ...],
        form: TreeDef,
    ) -> None:
        self.forward = forward
        self.backward = backward
        self.saved_inputs = saved_inputs
        self.saved_outputs = saved_outputs
        self.is_closed = is_closed
        self.has_gradient = has_gradient
        self._form = form

    def arranged(self, results: list[Any]) -> list[Any]:
        """What ``backward`` gave as a gradient per input of the graph, None where there is none; some may be of a few rows only."""
        gradients = iter(self._form.unflatten(results))
        return [next(gradients) if is_there else None for is_there in self.has_gradient]

    def pull(self, function: AtomicFunction, cotangents: list[Any], outputs: list[Any], saved: list[Any]) -> list[Any]:
        """Gradients per input of ``function``'s graph."""
        return self.arranged(self.backward.call([*self._arrived(function, cotangents, outputs), *saved]))

    def pull_at_once(
        self, function: AtomicFunction, cotangents: list[Any], outputs: list[Any], inputs: list[Any], computed: tuple[Any, ...], device: Any
    ) -> list[Any]:
        """The same outside tapes and traces, with what was computed as buffers of a device; ``backward`` captures nothing."""
        executable = self.backward.executable(device)
        arrived = [to_device(c, device)._buffer for c in self._arrived(function, cotangents, outputs)]
        given = [thing if isinstance(thing, Variable) else to_device(thing, device)._buffer for thing in inputs]
        result = executable.plan(*arrived, *given, *computed)
        results = (result,) if len(executable.keys) == 1 else result
        return self.arranged([Tensor(b, key) for b, key in zip(results, executable.keys, strict=True)])

    def _arrived(self, function: AtomicFunction, cotangents: list[Any], outputs: list[Any]) -> list[Any]:
        """The cotangents of the results that have one, zeros where none arrived."""
        return [
            zeros_for(output) if cotangent is None else cotangent
            for cotangent, output, value in zip(cotangents, outputs, function.graph.outputs, strict=True)
            if value.spec.dtype.is_differentiable
        ]


def split(function: AtomicFunction, wanted: tuple[bool, ...], make: Callable[[FuncGraph, str], AtomicFunction]) -> Halves:
    """Differentiate a function with respect to some of its inputs, and cut what results in two.

    Args:
        function: its graph is not changed.
        wanted: per input of the graph, whether its gradient is asked for.
        make: ``AtomicFunction``; a parameter, since its module imports this one.
    """
    flat, flattened = inlined(function.graph, differentiable=True)
    joint = FuncGraph(function.graph.name, function.graph.outer)
    joint.is_differentiating = True
    values = flat.copy_into(joint)
    inputs = [values[v] for v in flat.inputs]
    outputs = [values[v] for v in flat.outputs]
    own = list(joint.nodes)
    with state.recording(joint):
        cotangents = {
            i: SymbolicTensor(joint.placeholder(v.spec.without_value(), "cotangent")) for i, v in enumerate(outputs) if v.spec.dtype.is_differentiable
        }
        gradients = graph_gradients(own, outputs, cotangents, [v for v, w in zip(inputs, wanted, strict=True) if w])
    by_input = iter(gradients)
    per_input = [next(by_input) if w else None for w in wanted]
    leaves: list[Any] = []
    form = flatten_to([g for g in per_input if g is not None], leaves)
    found = [joint.value_of(g) for g in leaves]

    mine = set(own)
    saved: dict[Value, None] = {}
    needed = {node for node in joint.nodes if node not in mine and has_effect(node)}
    waiting = found + [value for node in needed for value in node.inputs]
    while waiting:
        value = waiting.pop()
        if value.node in mine:
            if value.node.op is not CONST:
                saved[value] = None
        elif value.node not in needed:
            needed.add(value.node)
            waiting += value.node.inputs

    backward = FuncGraph(f"gradient of {function.name}", function.graph.outer)
    moved: dict[Value, Value] = {}
    for tensor in cotangents.values():
        moved[tensor.value] = backward.placeholder(tensor.value.spec, "cotangent")
    position = {value: i for i, value in enumerate(inputs)}
    given = [value for value in saved if value in position]
    computed = [value for value in saved if value not in position]
    for value in [*given, *computed]:
        moved[value] = backward.placeholder(value.spec.without_value(), "saved")
    for thing, value in joint.captures:
        if value.node in needed or any(user in needed for user in value.uses) or value in found:
            moved[value] = backward.placeholder(value.spec, value.node.attrs["name"])
            backward.captures.append((thing, moved[value]))
    for node in joint.nodes:
        if node.op is CONST:
            if node in needed or any(u in needed for u in node.out.uses) or node.out in found:
                joint.copy_node(node, backward, moved)
        elif node in needed and node.op is not PLACEHOLDER:
            joint.copy_node(node, backward, moved)
    backward.captured_constants = [(tensor, moved[value]) for tensor, value in joint.captured_constants if value in moved]
    backward.outputs = [moved[v] for v in found]

    forward = FuncGraph(function.graph.name, function.graph.outer)
    kept: dict[Value, Value] = {}
    for node in own:
        joint.copy_node(node, forward, kept)
    forward.inputs = [kept[v] for v in inputs]
    forward.outputs = [kept[v] for v in [*outputs, *computed]]
    at = {value: i for i, value in enumerate(function.graph.inputs)}
    forward.captures = [(thing, kept[inputs[at[value]]]) for thing, value in function.captures]
    forward.captured_constants = [(t, kept[values[flattened[v]]]) for t, v in function.graph.captured_constants if v in flattened]
    place: dict[Value, int] = {}
    for i, value in enumerate([*outputs, *computed]):
        place.setdefault(value, i)
    saved_outputs = [place[value] for value in computed]
    halves = Halves(
        make(forward, function.name),
        make(backward, f"gradient of {function.name}"),
        [position[value] for value in given],
        saved_outputs,
        all(i < len(outputs) for i in saved_outputs),
        tuple(g is not None for g in per_input),
        form,
    )
    plugins.host.call("treadle_trace_finished", function=None, concrete=halves.backward, seconds=0.0)
    return halves


def graph_gradients(
    nodes: list[Node], targets: list[Value], cotangents: dict[int, Any], sources: list[Value], ends: frozenset[Value] = frozenset()
) -> list[Any]:
    """Gradients within a graph, recorded in the graph being traced.

    Args:
        nodes: to go back through, in order.
        targets: the values differentiated.
        cotangents: target position to its cotangent.
        sources: the values to differentiate with respect to; Variables by their placeholders.
        ends: values that count as constants: nothing goes back from them to what they were computed from.

    Returns:
        Per source its gradient, or None.
    """
    identity: dict[Value, int] = {value: i + 1 for i, value in enumerate(sources)}
    records: list[Any] = []
    count = len(sources)
    tensors: dict[Value, SymbolicTensor] = {}

    def tensor(value: Value) -> SymbolicTensor:
        found = tensors.get(value)
        if found is None:
            found = tensors[value] = SymbolicTensor(value)
        return found

    for node in nodes:
        ids = [identity.get(v, 0) for v in node.inputs]
        control = node.op in CONDS or node.op in LOOPS or node.op is CALL
        if not any(ids) or (node.op.gradient is None and node.op not in (READ, CUSTOM) and not control):
            continue
        outputs = []
        for value in node.outputs:
            if value.spec.dtype.is_differentiable and value not in identity and value not in ends:
                count += 1
                identity[value] = count
            outputs.append(-1 if value in ends else identity.get(value, -1))
        specs = [tensor(v) if v.spec.dtype.is_differentiable else None for v in node.outputs]
        if node.op is READ:
            records.append(Record("read", passed_on, ids, outputs, specs))
            continue
        if control:
            records.append(graph_record(node, ids, outputs, specs))
            continue
        if node.op is CUSTOM:
            pull = translating(node, _past_results(node.attrs["pull"], node.attrs["count"]))
            records.append(Record("custom_gradient", pull, ids, outputs, specs))
            continue
        inputs = node.grouped([tensor(v) for v in node.inputs])
        flat_ids = [
            i
            for declared, entry in zip(node.op.inputs, node.grouped(ids), strict=True)
            if declared.kind != "host"
            for i in (entry if isinstance(entry, list) else [entry])
        ]
        given = [_host(d, i) for d, i in zip(node.op.inputs, inputs, strict=True)]
        records.append(GradientContext(node.op, given, [tensor(v) for v in node.outputs], node.attrs, flat_ids, outputs, specs))
    arrived: dict[int, Any] = {}
    for i, target in enumerate(targets):
        if i in cotangents and target in identity:
            number = identity[target]
            if number in arrived:
                arrived[number] = registry.role("accumulate")(arrived[number], cotangents[i])
            else:
                arrived[number] = cotangents[i]
    found = sweep(reversed(records), arrived, {identity[s] for s in sources})
    return [found.get(identity[s]) for s in sources]


def _host(declared: Any, entry: Any) -> Any:
    """A host input as a gradient sees it: numbers where they are known."""
    if declared.kind == "host" and isinstance(entry, SymbolicTensor):
        constant = entry.value.constant
        if constant is not None:
            return to_tuples(constant.tolist())
        known = entry.value.spec.value
        return known if is_concrete(known) else entry
    return entry


def _past_results(pull: Any, count: int) -> Any:
    def past(cotangents: list[Any]) -> list[Any]:
        return [*[None] * count, *pull(cotangents)]

    return past
