"""Gradients through branches and loops.

A node is widened when its gradient is first asked for: its functions then also give what the way back needs. A branch gives nothing for what only the
other one saves, or an empty list where it could not say what zeros for it are; a loop pushes what it saves on lists, which the loop on the way back
pops, so that the last turn comes first. All these lists are values of a dtype ``list_of``, and so are their cotangents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle import state
from treadle.autodiff.sweep import dense
from treadle.contracts.spec import Spec
from treadle.dims import with_symbols
from treadle.dtypes import list_of
from treadle.functions.atomic import AtomicFunction
from treadle.functions.bodies import outer_values
from treadle.functions.branches import cond
from treadle.functions.control_records import PULLS, control_of, follow, record_control, tensors_of
from treadle.graph.effects import effect_of
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Node, Value
from treadle.graph.structural import CALL, CONDS, LOOP, LOOPS, NOTHING, READ
from treadle.registry import registry
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor


def _widened_for(node: Node, wanted: tuple[bool, ...], cotangents: list[Any], widen: Callable[[Node, tuple[bool, ...]], Any]) -> Any:
    """What the way back needs, found once; anew where cotangents arrive at what was added for an earlier one, as in derivatives of derivatives."""
    known = control_of(node).widened
    for (which, outputs), found in known.items():
        if which == wanted and all(c is None for c in cotangents[outputs:]):
            return found
    outputs = len(node.outputs)
    known[wanted, outputs] = found = widen(node, wanted)
    return found


def _widen(node: Node, specs: list[Spec]) -> list[SymbolicTensor]:
    """Add outputs to a node; tapes that recorded it follow them too."""
    start = len(node.outputs)
    node.outputs += [Value(node, start + i, Spec(with_symbols(s.dims), s.dtype, resource=s.resource)) for i, s in enumerate(specs)]
    added = tensors_of(node)[start:]
    for tape, record in control_of(node).records:
        follow(tape, record, added)
    return added


def _copy(graph: FuncGraph) -> tuple[FuncGraph, dict[Value, Value]]:
    twin = FuncGraph(graph.name, graph.outer)
    values = graph.copy_into(twin)
    twin.inputs = [values[v] for v in graph.inputs]
    twin.outputs = [values[v] for v in graph.outputs]
    twin.captured_constants = [(t, values[v]) for t, v in graph.captured_constants if v in values]
    return twin, values


# ---------------------------------------------------------------------- calls


def _pull_call(node: Node, needs: list[int], cotangents: list[Any]) -> list[Any]:
    """A call in a graph that is differentiated while it is traced; tapes know of calls by themselves."""
    wanted = tuple(bool(n) for n in needs)
    half, saved, count = _widened_for(node, wanted, cotangents, _widen_call)
    given = cotangents[:count] + [None] * (count - len(cotangents[:count]))
    arrived = [
        registry.role("zeros_like")(tensors_of(node)[i]) if given[i] is None else given[i]
        for i, value in enumerate(half.function.graph.outputs)
        if value.spec.dtype.is_differentiable
    ]
    kept = [control_of(node).inputs[i] for i in half.saved_inputs] + saved
    gradients: list[Any] = half.arranged(half.backward.call([*arrived, *kept]))
    return gradients


def _widen_call(node: Node, wanted: tuple[bool, ...]) -> Any:
    """Let the function called give what its way back needs."""
    count = len(node.outputs)
    half = _Half(node.attrs["function"], wanted)
    node.attrs = {**node.attrs, "function": half.forward}
    return half, _widen(node, [v.spec for v in half.forward.graph.outputs[count:]]), count


# ---------------------------------------------------------------------- branches


def _pull_cond(node: Node, needs: list[int], cotangents: list[Any]) -> list[Any]:
    inputs = node.inputs[1:]
    wanted = tuple(bool(n) for n in needs[1:])
    halves, saved, count = _widened_for(node, wanted, cotangents, _widen_cond)
    given = cotangents[:count] + [None] * (count - len(cotangents[:count]))
    tensors = control_of(node).inputs[1:]
    present = [any(h.has_gradient[i] for h in halves) for i in range(len(inputs))]

    def way_back(which: int) -> Any:
        half = halves[which]

        def run() -> list[Any]:
            function = half.function
            arrived = [
                registry.role("zeros_like")(tensors_of(node)[i]) if given[i] is None else given[i]
                for i, v in enumerate(function.graph.outputs)
                if v.spec.dtype.is_differentiable
            ]
            kept = [tensors[i] for i in half.saved_inputs] + [_taken(t, s) for t, s in zip(saved[which], half.computed, strict=True)]
            found = [dense(g) for g in half.arranged(half.backward.call([*arrived, *kept]))]
            return [_or_zeros(g, inputs[i]) for i, g in enumerate(found) if present[i]]

        return run

    if not any(present):
        return [None] * len(node.inputs)
    results = iter(cond(control_of(node).inputs[0], way_back(0), way_back(1)))
    return [None, *(next(results) if p else None for p in present)]


def _or_zeros(gradient: Any, value: Value) -> Any:
    if gradient is not None:
        return gradient
    if value.spec.is_static:
        return registry.role("zeros")(value.spec.dims, value.spec.dtype)
    if value.spec.resource:
        graph = LOCAL.graph
        return registry.role("zeros_like")(SymbolicTensor(graph.add(READ, [graph.value_of(SymbolicTensor(value))]).out))
    return registry.role("zeros_like")(SymbolicTensor(value))


class _Half:
    """One branch's way back.

    Attributes:
        computed: specs of what the forward half computes for it.
    """

    def __init__(self, function: AtomicFunction, wanted: tuple[bool, ...]) -> None:
        self.function = function
        halves = function.halves(wanted)
        self.computed = [v.spec for v in halves.forward.graph.outputs[len(function.graph.outputs) :]]
        self.forward = halves.forward
        self.backward = halves.backward
        self.saved_inputs = halves.saved_inputs
        self.has_gradient = halves.has_gradient
        self.arranged = halves.arranged


def _widen_cond(node: Node, wanted: tuple[bool, ...]) -> Any:
    """Let both branches give what their ways back need."""
    count = len(node.outputs)
    halves = [_Half(function, wanted) for function in node.attrs["branches"]]
    extra = [[_kept_as(spec) for spec in h.computed] for h in halves]
    wider = []
    for which, half in enumerate(halves):
        graph, _ = _copy(half.forward.graph)
        with state.recording(graph):
            computed = [v if v.spec.is_static else graph.value_of(registry.role("list_of_one")(SymbolicTensor(v))) for v in graph.outputs[count:]]
            gap = [_nothing(graph, spec) for spec in extra[1 - which]]
        graph.outputs = graph.outputs[:count] + (computed + gap if which == 0 else gap + computed)
        wider.append(AtomicFunction(graph, graph.name))
    node.attrs = {**node.attrs, "branches": tuple(wider)}
    added = _widen(node, [*extra[0], *extra[1]])
    middle = len(extra[0])
    return halves, (added[:middle], added[middle:]), count


def _kept_as(spec: Spec) -> Spec:
    """What a branch gives of a saved value: itself, or a list with it where the other branch could not say what zeros for it are."""
    return spec if spec.is_static else Spec((), list_of(spec.dtype))


def _nothing(graph: FuncGraph, spec: Spec) -> Value:
    """What a branch gives where only the other one saves a value."""
    if spec.dtype.kind == "l":
        return graph.value_of(registry.role("zeros")((), spec.dtype))
    return graph.add(NOTHING, [], {"spec": Spec(spec.dims, spec.dtype)}).out


def _taken(tensor: Any, spec: Spec) -> Any:
    """A saved value as the way back of its branch takes it."""
    return tensor if spec.is_static else registry.role("only_element")(tensor, spec.dims)


# ---------------------------------------------------------------------- loops


def _pull_loop(node: Node, needs: list[int], cotangents: list[Any]) -> list[Any]:
    carried, popped = node.attrs["carried"], node.attrs["popped"]
    body: AtomicFunction = node.attrs["body"]
    total = len(node.inputs)
    captured = total - carried - popped
    specs = [v.spec for v in node.inputs]
    flows = [v.spec.dtype.is_differentiable for v in body.graph.inputs]
    wanted = tuple(flows[i] and (i < carried or bool(needs[i])) for i in range(total))
    half, loop_saved, outputs_before = _widened_for(node, wanted, cotangents, _widen_loop)
    given = cotangents[:outputs_before] + [None] * (outputs_before - len(cotangents[:outputs_before]))
    zeros_like, accumulate = registry.role("zeros_like"), registry.role("accumulate")
    results = tensors_of(node)

    floats = [i for i in range(carried) if flows[i]]
    sums = [i for i in range(carried, carried + captured) if wanted[i] and half.has_gradient[i]]
    pops = [i for i in range(carried + captured, total) if wanted[i] and half.has_gradient[i]]
    pushed_cotangents = [i for i in range(carried, outputs_before) if given[i] is not None]
    start = [zeros_like(results[i]) if given[i] is None else given[i] for i in floats]
    start += [_or_zeros(None, node.inputs[i]) for i in sums]

    graph = LOCAL.graph
    inner = FuncGraph("loop on the way back", graph)
    with state.recording(inner):
        carried_in = [SymbolicTensor(inner.placeholder(Spec(with_symbols(t.dims), t.dtype), "cotangent")) for t in start]
        saved_in = [SymbolicTensor(inner.placeholder(Spec(with_symbols(s.dims), s.dtype), "saved")) for s in half.saved_specs]
        cotangents_in = {
            i: SymbolicTensor(inner.placeholder(Spec(with_symbols(s.dims), s.dtype), "cotangent"))
            for i, s in ((i, half.outputs[i].spec) for i in pushed_cotangents)
        }
        of_carried = dict(zip(floats, carried_in[: len(floats)], strict=True))
        arrived = []
        for i, value in enumerate(half.outputs):
            if not value.spec.dtype.is_differentiable:
                continue
            if i < carried:
                arrived.append(of_carried[i])
            else:
                arrived.append(cotangents_in[i] if i in cotangents_in else _zeros_of(value, saved_in, half, i))
        kept = _kept(half, node, saved_in, carried, captured)
        found = [dense(g) for g in half.arranged(half.backward.call([*arrived, *kept]))]
        new = []
        for i, current in zip(floats, carried_in, strict=False):
            new.append(found[i] if found[i] is not None else zeros_like(current))
        for i, current in zip(sums, carried_in[len(floats) :], strict=True):
            new.append(accumulate(current, found[i]))
        pushed: list[Any] = [found[i] for i in pops]
        inner.outputs = [inner.value_of(t) for t in [*new, *pushed]]
    fill = registry.role("fill_list")
    popped_lists = [*(results[i] for i in loop_saved), *(fill(given[i], results[i]) for i in pushed_cotangents)]
    own = len(carried_in)
    ordered = inner.inputs[:own]
    popped_values = inner.inputs[own : own + len(popped_lists)]
    things = [thing for thing, _ in inner.captures]
    inner.inputs = [*ordered, *(value for _, value in inner.captures), *popped_values]
    inner.captures = []
    values = [graph.value_of(t) for t in start] + outer_values(things) + [graph.value_of(t) for t in popped_lists]
    attrs = {"condition": None, "body": AtomicFunction(inner, inner.name), "carried": own, "popped": len(popped_lists)}
    output_specs = [Spec(with_symbols(t.dims), t.dtype) for t in start]
    output_specs += [Spec((), specs[i].dtype) for i in pops]
    back = graph.add(LOOP[effect_of(inner)], values, attrs, splits=(len(values),), specs=output_specs)
    final = record_control(back, [*start, *things, *popped_lists])
    per_input: list[Any] = [None] * total
    for i, tensor in zip([*floats, *sums, *pops], final, strict=True):
        if needs[i]:
            per_input[i] = tensor
    return per_input


def _zeros_of(value: Value, saved: list[Any], half: Any, position: int) -> Any:
    if value.spec.is_static:
        return registry.role("zeros")(value.spec.dims, value.spec.dtype)
    return registry.role("zeros_like")(saved[half.pushed_place[position]])


def _kept(half: Any, node: Node, saved_in: list[Any], carried: int, captured: int) -> list[Any]:
    """What the body's way back takes besides cotangents: loop-invariant inputs as they are, the rest from the lists."""
    kept = []
    for i in half.saved_inputs:
        if carried <= i < carried + captured:
            kept.append(control_of(node).inputs[i])
        else:
            kept.append(saved_in[half.input_place[i]])
    return kept + [saved_in[p] for p in half.computed_place]


class _Body(_Half):
    """A loop body's way back.

    Attributes:
        outputs: the body's results before it was widened.
        saved_specs: of what is pushed for the way back.
        input_place: per saved input that changes from turn to turn, its place among those.
        computed_place: the places of what the body computes.
        pushed_place: per pushed result whose shape is not known, its place.
    """

    def __init__(self, function: AtomicFunction, wanted: tuple[bool, ...], carried: int, captured: int) -> None:
        super().__init__(function, wanted)
        self.outputs = list(function.graph.outputs)
        computed = self.forward.graph.outputs[len(self.outputs) :]
        inputs = [i for i in self.saved_inputs if not carried <= i < carried + captured]
        self.pushes_inputs = inputs or ([] if computed else [0])
        self.saved_specs = [v.spec for v in computed] + [function.graph.inputs[i].spec for i in self.pushes_inputs]
        self.computed_place = list(range(len(computed)))
        self.input_place = {i: len(computed) + n for n, i in enumerate(self.pushes_inputs)}
        self.pushed_place: dict[int, int] = {}
        for i in range(carried, len(self.outputs)):
            if self.outputs[i].spec.dtype.is_differentiable and not self.outputs[i].spec.is_static:
                self.pushed_place[i] = len(self.saved_specs)
                self.saved_specs.append(self.outputs[i].spec)


def _widen_loop(node: Node, wanted: tuple[bool, ...]) -> Any:
    """Let the body push what its way back needs."""
    carried, popped = node.attrs["carried"], node.attrs["popped"]
    captured = len(node.inputs) - carried - popped
    body: AtomicFunction = node.attrs["body"]
    half = _Body(body, wanted, carried, captured)
    before = len(node.outputs)
    count = len(half.outputs)
    graph, _ = _copy(half.forward.graph)
    computed = graph.outputs[count:]
    pushes = [*computed, *(graph.inputs[i] for i in half.pushes_inputs), *(graph.outputs[i] for i in half.pushed_place)]
    graph.outputs = [*graph.outputs[:count], *pushes]
    node.attrs = {**node.attrs, "body": AtomicFunction(graph, graph.name)}
    lists = _widen(node, [Spec((), list_of(s.dtype)) for s in half.saved_specs])
    return half, list(range(before, before + len(lists))), before


PULLS.update({CALL: _pull_call, **dict.fromkeys(CONDS, _pull_cond), **dict.fromkeys(LOOPS, _pull_loop)})
