"""An atomic function: one graph with its captures, that can be run, recorded in another graph, and differentiated.

It is what concrete functions are made of, and what their forward and backward halves are again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from treadle import devices, state
from treadle.collector import without_collector
from treadle.contracts.passes import PassReport
from treadle.contracts.spec import Spec
from treadle.eager.dispatch import require_open
from treadle.errors import ShapeError, UnimplementedError
from treadle.functions.halves import Halves, split
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Graph, Value, inner_graphs
from treadle.graph.inline import caller_sizes, inlined, specialise
from treadle.graph.structural import CALL, CONDS, CONST, LOOPS
from treadle.grappler.item import GrapplerItem
from treadle.grappler.meta import MetaOptimizer
from treadle.grappler.schedule import in_force
from treadle.runtime.plan import Plan
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor, leaked
from treadle.tensor import Tensor, to_device
from treadle.variable import Variable

Instruments: TypeAlias = tuple[Callable[[Graph], None], ...]


class Executable:
    """A compiled graph for one device.

    Args:
        function: what is compiled.
        device: that it will run on.
        instruments: functions that put something into the graph before it is optimised.

    Attributes:
        device: that it runs on.
        plan: the program.
        reports: what the optimizer did.
        keys: dispatch keys of the results.
        item: the optimised graph.
    """

    def __init__(self, function: AtomicFunction, device: Any, instruments: Instruments = ()) -> None:
        def graph_and_values() -> tuple[Graph, dict[Value, Value]]:
            graph, values = inlined(function.graph)
            for instrument in instruments:
                instrument(graph)
            return graph, values

        graph, values = graph_and_values()
        self.item = GrapplerItem(function.name, graph, device, again=lambda: graph_and_values()[0])
        self.reports: list[PassReport] = optimise(self.item, instruments)
        positions = {value: i for i, value in enumerate(graph.inputs)}
        optimised = self.item.graph
        bound = {optimised.inputs[positions[values[value]]]: thing for thing, value in function.captures if isinstance(thing, Variable)}
        self.device = device
        self.plan = device.compile(self.item) or Plan(optimised, device, bound)
        self.keys = [device.key(v.spec.dtype) for v in optimised.outputs]
        self.array = device.array_type


def optimise(item: GrapplerItem, instruments: Instruments = ()) -> list[PassReport]:
    """Run the schedule over a graph, then over the graphs inside its branches and loops."""
    optimizer = MetaOptimizer(in_force())
    reports = optimizer.optimize(item)
    for node in list(item.graph.nodes):
        if node.op in CONDS | LOOPS:
            specialise(node)
            for graph in inner_graphs(node.attrs):
                for instrument in instruments:
                    instrument(graph)
            replaced = {id(g): GrapplerItem(g.name, g, item.device) for g in inner_graphs(node.attrs)}
            for inner in replaced.values():
                reports += optimise(inner, instruments)
            node.attrs = {name: _optimised(value, replaced) for name, value in node.attrs.items()}
    return reports


def _optimised(value: Any, replaced: dict[int, GrapplerItem]) -> Any:
    if isinstance(value, tuple):
        return tuple(_optimised(v, replaced) for v in value)
    return replaced[id(value)].graph if id(value) in replaced else value


class AtomicFunction:
    """One graph as a function of tensors.

    Args:
        graph: as traced; not changed afterwards.
        name: for messages.

    Attributes:
        arguments: the inputs that a caller hands in; the graph's others are captures.
        captures: Variables, and tensors of an outer graph or another device, to their placeholders.
    """

    def __init__(self, graph: FuncGraph, name: str) -> None:
        self.graph = graph
        self.name = name
        self.captures = list(graph.captures)
        captured = {value for _, value in self.captures}
        self.arguments = [value for value in graph.inputs if value not in captured]
        self._executables: dict[Any, Executable] = {}
        self._halves: dict[Any, Halves] = {}
        self._promoted: dict[Any, AtomicFunction] = {}

    @property
    def variables(self) -> list[Variable]:
        """The Variables that the graph reads or writes without getting them as arguments."""
        return [thing for thing, _ in self.captures if isinstance(thing, Variable)]

    # ------------------------------------------------------------------ calling

    def executable(self, device: Any = None) -> Executable:
        """The compiled graph for a device, and for what looks at every op of this thread, made at the first question."""
        device = device or devices.default()
        instruments = tuple([t.instrument for t in LOCAL.tapes if t.instrument is not None]) if LOCAL.tapes else ()
        key = (device.name, instruments)
        found = self._executables.get(key)
        if found is None or found.device is not device:
            with without_collector(), state.recording(None):
                found = self._executables[key] = Executable(self, device, instruments)
        return found

    def call(self, arguments: list[Any]) -> list[Any]:
        """Run, or record in the graph being traced, and let tapes know.

        Args:
            arguments: a tensor (or Variable) per ``self.arguments``.
        """
        tapes = LOCAL.tapes
        if tapes:
            watched = arguments
            if self.captures or self.graph.captured_constants:
                watched = [*arguments, *(thing for thing, _ in self.captures), *(thing for thing, _ in self.graph.captured_constants)]
            interested = [tape for tape in tapes if tape.is_watching(watched)]
            if interested and any(v.spec.dtype.is_differentiable for v in self.graph.outputs):
                return self._call_watched(arguments, interested)
        return self._call_unwatched(arguments)

    def _call_unwatched(self, arguments: list[Any]) -> list[Any]:
        if LOCAL.graph is not None:
            return self._record(LOCAL.graph, arguments)
        executable, results = self._run(arguments)
        return [Tensor(b, key) for b, key in zip(results, executable.keys, strict=True)]

    def _run(self, arguments: list[Any]) -> tuple[Executable, tuple[Any, ...]]:
        """Run at once: what ran, and the buffers of the results."""
        executable = self.executable(self.place(arguments))
        outer = [thing for thing, _ in self.captures if not isinstance(thing, Variable)]
        buffers = [self._buffer(a, executable.device) for a in self._in_graph_order(arguments, outer)]
        result = executable.plan(*buffers)
        return executable, (result,) if len(executable.keys) == 1 else result

    def place(self, arguments: list[Any]) -> Any:
        """Where a call runs: the scope's device, else that of the first tensor or Variable that is not on the default one, as for an eager op."""
        default = devices.default()
        if LOCAL.device is None:
            for thing in (*arguments, *[thing for thing, _ in self.captures]):
                if not isinstance(thing, SymbolicTensor) and thing._key.device is not default:
                    require_open(thing._key.device, self.name)
                    return thing._key.device
        return default

    def _in_graph_order(self, arguments: list[Any], outer: list[Any]) -> list[Any]:
        if not self.captures:
            return arguments
        given, captured = iter(arguments), iter(outer)
        things = {value: thing for thing, value in self.captures}
        ordered = []
        for value in self.graph.inputs:
            if value not in things:
                ordered.append(next(given))
            elif not isinstance(things[value], Variable):
                ordered.append(next(captured))
        return ordered

    def _buffer(self, thing: Any, device: Any) -> Any:
        if isinstance(thing, Variable):
            return thing
        if isinstance(thing, SymbolicTensor):
            raise leaked(thing)
        return to_device(thing, device)._buffer

    def _record(self, graph: FuncGraph, arguments: list[Any]) -> list[Any]:
        constants = tuple(i for i, (tensor, _) in enumerate(self.graph.captured_constants) if tensor.dtype.is_differentiable)
        if constants:  # the graph outside captures them, so that gradients reach them through both
            return self.promote(constants)._record(graph, [*arguments, *(self.graph.captured_constants[i][0] for i in constants)])
        things = {value: thing for thing, value in self.captures}
        given = iter(arguments)
        values = []
        for value in self.graph.inputs:
            thing = things[value] if value in things else next(given)
            values.append(graph.resource_of(thing) if isinstance(thing, Variable) else graph.value_of(thing))
        try:
            specs = [_outside(v.spec, self.graph, values) for v in self.graph.outputs]
        except ShapeError as error:
            raise self._misfit(values, error) from None
        node = graph.add(CALL, values, {"function": self}, splits=None, specs=specs)
        return [SymbolicTensor(v) for v in node.outputs]

    def _misfit(self, values: list[Value], error: ShapeError) -> ShapeError:
        """The error for arguments whose sizes cannot go together inside, by the first node that they do not fit."""
        sizes = caller_sizes(self.graph, values)
        for node in self.graph.nodes:
            try:
                for value in node.outputs:
                    value.spec.without_value().substitute(sizes)
            except ShapeError as found:
                described = ", ".join(repr(v.spec.without_value().substitute(sizes)) for v in node.inputs)
                where = f"in op {node.op.name!r} ({described}) of function {self.name!r}, made at {node.source}"
                return ShapeError(f"{node.op.name}: {found.message} [{where}]")
        return error

    # ------------------------------------------------------------------ differentiating

    def _call_watched(self, arguments: list[Any], tapes: list[Any]) -> list[Any]:
        for tape in tapes:
            for variable in [*self.variables, *(a for a in arguments if isinstance(a, Variable))]:
                tape.touch(variable)
        if self.graph.captured_constants:
            constants = tuple(i for i, (tensor, _) in enumerate(self.graph.captured_constants) if any(tensor._id in tape._watched for tape in tapes))
            if constants:
                return self.promote(constants).call([*arguments, *(self.graph.captured_constants[i][0] for i in constants)])
        sources = arguments
        if self.captures:
            things = {value: thing for thing, value in self.captures}
            given = iter(arguments)
            sources = [things[value] if value in things else next(given) for value in self.graph.inputs]
        wanted = tuple(source.dtype.is_differentiable and any(source._id in tape._watched for tape in tapes) for source in sources)
        if not any(wanted):
            return self._call_unwatched(arguments)
        if LOCAL.graph is None and len(LOCAL.tapes) == 1 and not getattr(tapes[0], "_persistent", True):
            return self._call_once(arguments, tapes[0], self.halves(wanted), sources)
        levels = self._levels(wanted, sum(2 if tape._persistent else 1 for tape in tapes))
        with state.observed_only():
            everything = levels[-1].forward.call(arguments)

        def pull(cotangents: list[Any]) -> list[Any]:
            function = self
            for halves in levels:
                count = len(function.graph.outputs)
                if all(c is None for c in cotangents[count:]):
                    saved = [sources[i] for i in halves.saved_inputs] + [everything[i] for i in halves.saved_outputs]
                    return halves.pull(function, cotangents[:count], everything[:count], saved)
                function = halves.forward
            raise self._too_high(len(levels))

        for tape in tapes:
            tape.record_call(self.name, sources, everything, pull, zeros=False)
        return everything[: len(self.graph.outputs)]

    def _levels(self, wanted: tuple[bool, ...], order: int) -> list[Halves]:
        """The function's halves, those of its forward half, and so on, as derivatives of that order need them; the last gives what all others do.

        What a gradient needs of the first call is saved at the first call: effects happen once, and Variables and random draws are as they were then.
        """
        levels = [self.halves(wanted)]
        while not levels[-1].is_closed and len(levels) < order:
            levels.append(levels[-1].forward.halves(wanted))
        return levels

    def _too_high(self, order: int) -> UnimplementedError:
        return UnimplementedError(
            f"{self.name}: a derivative of order {order + 1} goes through this call, and the tapes that saw it ask for derivatives up to order "
            f"{order}. Let one more GradientTape enclose the call, or differentiate inside of the function"
        )

    def _call_once(self, arguments: list[Any], tape: Any, halves: Halves, sources: list[Any]) -> list[Any]:
        """A call that one tape sees and differentiates once: what the way back needs stays as buffers, as nothing else can ask for it."""
        tapes, LOCAL.tapes = LOCAL.tapes, ()  # that one tape, which does not look at every op
        try:
            executable, results = halves.forward._run(arguments)
        finally:
            LOCAL.tapes = tapes
        count, keys = len(self.graph.outputs), executable.keys
        outputs = [Tensor(b, key) for b, key in zip(results[:count], keys[:count], strict=True)]
        inputs, computed = [sources[i] for i in halves.saved_inputs], results[count:]

        def pull(cotangents: list[Any]) -> list[Any]:
            if not (LOCAL.tapes or LOCAL.graph is not None or halves.backward.captures):
                return halves.pull_at_once(self, cotangents, outputs, inputs, computed, executable.device)
            saved = [*inputs, *(Tensor(b, key) for b, key in zip(computed, keys[count:], strict=True))]
            return halves.pull(self, cotangents, outputs, saved)

        tape.record_call(self.name, sources, outputs, pull, zeros=False)
        return outputs

    def halves(self, wanted: tuple[bool, ...]) -> Halves:
        """The function split for the gradients of the inputs that are ``wanted``."""
        found = self._halves.get(wanted)
        if found is None:
            found = self._halves[wanted] = split(self, wanted, AtomicFunction)
        return found

    def promote(self, constants: tuple[int, ...]) -> AtomicFunction:
        """The same function with some captured constants as further arguments."""
        found = self._promoted.get(constants)
        if found is None:
            twin = FuncGraph(self.graph.name, self.graph.outer)
            chosen = [self.graph.captured_constants[i][1] for i in constants]
            values: dict[Value, Value] = {}
            for value in self.graph.inputs:
                values[value] = twin.placeholder(value.spec, value.node.attrs["name"])
            for value in chosen:
                values[value] = twin.placeholder(value.spec.without_value(), "constant")
            for node in self.graph.nodes:
                if not (node.op is CONST and node.out in values):
                    self.graph.copy_node(node, twin, values)
            twin.outputs = [values[v] for v in self.graph.outputs]
            twin.captures = [(thing, values[value]) for thing, value in self.graph.captures]
            twin.captured_constants = [(t, values[v]) for i, (t, v) in enumerate(self.graph.captured_constants) if i not in constants]
            found = self._promoted[constants] = AtomicFunction(twin, self.name)
        return found

    def __repr__(self) -> str:
        return f"<function {self.name!r} of {len(self.arguments)} arguments and {len(self.captures)} captures>"


def _outside(spec: Spec, graph: FuncGraph, values: list[Value]) -> Spec:
    """The spec of a result as the caller sees it: the callee's sizes in terms of what it was called with."""
    return spec.without_value().substitute(caller_sizes(graph, values))
