"""The graph of a Python function being traced: it records the ops of its thread and captures what comes from outside."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from treadle import settings, state
from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor, from_array, host_spec, host_value
from treadle.dims import Dim
from treadle.dtypes import DType
from treadle.eager.dispatch import arrange, convert_inputs, run
from treadle.errors import InvalidArgumentError, SymbolicTensorError, prefix
from treadle.graph.control_inputs import control_inputs_in
from treadle.graph.graph import Graph, Node, Value
from treadle.graph.source import Source, caller
from treadle.graph.structural import ASSIGN, CONST, PLACEHOLDER, READ
from treadle.registry import registry
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor, leaked
from treadle.tensor import Tensor


class FuncGraph(Graph):
    """A graph that ops are recorded into.

    Attributes:
        outer: the graph that was being traced when this trace began, or None.
        captures: things from outside (Variables, tensors of ``outer``, tensors of another device) to the placeholders that stand for them.
        captured_constants: eager tensors from outside to the constants that they became.
        created: Variables made during the trace, each with the user's line.
        control: what differentiation remembers of branches and loops.
        is_differentiating: whether a way back is recorded, apart from the graph that will call it.
        given: placeholders to the tensors of the call that is traced; empty after the trace.
        translations: while the gradients of copied nodes are computed, the ``copied`` of these; the innermost last.
    """

    building_function = True
    """False for the graph of a session, in which only what is fetched runs."""

    def __init__(self, name: str, outer: FuncGraph | None = None) -> None:
        super().__init__(name)
        self.outer = outer
        self.captures: list[tuple[Any, Value]] = []
        self.captured_constants: list[tuple[Tensor, Value]] = []
        self.created: list[tuple[Any, Source]] = []
        self.translations: list[tuple[Mapping[Value, Value], ...]] = []
        self.is_differentiating = False
        self.control: dict[Node, Any] = {}
        self.given: dict[Value, Tensor] = {}
        self._captured: dict[int, tuple[Any, Value]] = {}
        self._bound: list[int] = []

    # ------------------------------------------------------------------ recording

    def call_op(self, op: Op, args: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Record one call of an op by the user's program; the same results as ``dispatch.execute``."""
        inputs = convert_inputs(op, args)
        outputs = self.record(op, inputs, attrs)
        for tape in LOCAL.tapes:
            tape.record_op(op, inputs, attrs, outputs)
        return arrange(op, outputs)

    def record(self, op: Op, inputs: list[Any], attrs: dict[str, Any]) -> list[SymbolicTensor]:
        """Put in a node for an op on tensors and host values."""
        values: list[Value] = []
        splits: list[int] = []
        for declared, given in zip(op.inputs, inputs, strict=True):
            if isinstance(given, list) and declared.kind != "host":
                values += [self.value_of(t) for t in given]
                splits.append(len(given))
            else:
                values.append(self._host_input_of(op, declared.name, given) if declared.kind == "host" else self.value_of(given))
                splits.append(-1)
        node = self.add(op, values, attrs, splits=tuple(splits) if op.variadic else None)
        if state.LOCAL.device is not None:
            node.device = state.LOCAL.device.name
        return [SymbolicTensor(v) for v in node.outputs]

    def value_of(self, tensor: Tensor) -> Value:
        """The value in this graph that a tensor stands for, captured if it comes from outside."""
        if isinstance(tensor, SymbolicTensor):
            own: Value = tensor.value
            if own.node.graph is self:
                return own
            graph: FuncGraph | None = self
            while graph is not None:
                found = graph._standing_for(own)
                if found is not None:
                    return found if graph is self else self._capture(tensor, found.spec.without_value())
                graph = graph.outer
            if self.is_differentiating:  # what stands for it is known where the way back is called
                return self._capture(tensor, own.spec.without_value())
            raise leaked(tensor)
        known = self._captured.get(id(tensor))
        if known is not None:
            return known[1]
        device = tensor._key.device
        if isinstance(tensor._buffer, np.ndarray) and device.name == settings.current().device:
            value = self.adopt_constant(tensor._buffer)
            self._captured[id(tensor)] = (tensor, value)
            self.captured_constants.append((tensor, value))
            return value
        value = self._capture(tensor, Spec(tuple(tensor._buffer.shape), tensor._key.dtype))
        value.node.device = device.name
        return value

    def _standing_for(self, value: Value) -> Value | None:
        """What stands in this graph for a value of the graph that it was copied from, or of its own."""
        if value.node.graph is self:
            return value
        for copied in reversed(self.translations):
            for values in copied:
                value = values.get(value, value)
        return value if value.node.graph is self else None

    def active_copies(self) -> tuple[Mapping[Value, Value], ...]:
        """The translations in force, for nodes whose gradients will need them too."""
        return tuple([values for copied in reversed(self.translations) for values in copied])

    def captured(self, thing: Any) -> Value | None:
        """The placeholder that stands for something from outside; None if it was not captured."""
        known = self._captured.get(_identity(thing))
        return None if known is None else known[1]

    def _capture(self, thing: Any, spec: Spec) -> Value:
        known = self._captured.get(_identity(thing))
        if known is None:
            known = self._captured[_identity(thing)] = (thing, self.placeholder(spec, getattr(thing, "name", "captured").replace(":", "_")))
            self.captures.append(known)
        return known[1]

    def _host_input_of(self, op: Op, name: str, given: Any) -> Value:
        try:
            return self.host_input(given)
        except OverflowError:
            raise InvalidArgumentError(f"{op.name}: {name!r} is {given!r}; in a traced function its numbers must fit 64 bits") from None
        except (TypeError, ValueError) as error:
            prefix(error, f"{op.name}: argument {name!r}")
            raise

    def host_input(self, given: Any) -> Value:
        """The value of a host input: a constant, a tensor of the graph, or tensors and numbers put together."""
        if isinstance(given, Tensor):
            return self.value_of(given)
        if isinstance(given, np.ndarray | np.generic):
            return self.constant(given)
        protocol = getattr(type(given), "__treadle_tensor__", None)
        if protocol is not None:
            return self.value_of(protocol(given))
        numbers = _plain(given)
        if numbers is None:
            if not isinstance(given, list | tuple):
                return self.constant(np.asarray(host_value(given)))
            dtype = next((item.dtype for item in given if isinstance(item, Tensor)), None)
            return self.value_of(registry.role("stack")([SymbolicTensor(self._host_item(item, dtype)) for item in given]))
        try:
            return self.constant(np.asarray(numbers, host_spec(numbers).dtype.numpy))
        except ValueError as error:
            raise InvalidArgumentError(f"{given!r} is not rectangular: lists at the same depth must have the same length") from error

    def _host_item(self, item: Any, dtype: DType | None) -> Value:
        """One of several numbers and tensors; a Python integer in the dtype of the tensors beside it."""
        if dtype is not None and dtype.is_integer and type(item) is int and dtype.min <= item <= dtype.max:
            return self.constant(np.asarray(item, dtype.numpy))
        return self.host_input(item)

    def release_constants(self) -> None:
        """Let eager tensors from outside come in as captures, so that the graph outside sees them and gradients reach them."""
        for tensor, value in self.captured_constants:
            placeholder = self.placeholder(value.spec.without_value(), "captured")
            self.replace(value, placeholder)
            self._captured[id(tensor)] = (tensor, placeholder)
            self.captures.append((tensor, placeholder))
        self.captured_constants = []

    # ------------------------------------------------------------------ Variables

    def resource_of(self, variable: Any) -> Value:
        """The placeholder that stands for a Variable."""
        return self._capture(variable, Spec(variable.dims, variable.dtype, resource=True))

    def initial_value(self, value: Any, dtype: Any) -> Tensor:
        """What a Variable that is being made holds first, as a tensor: computed now, outside the graph.

        Raises:
            InvalidArgumentError: it depends on the function's arguments.
        """
        if isinstance(value, SymbolicTensor):
            value = value.value.graph.evaluate(value)
        with state.recording(None):
            tensor: Tensor = convert_to_tensor(value, dtype)
            return tensor

    def add_created(self, variable: Any, initial: Tensor) -> None:
        """Note that the function being traced made a Variable."""
        self.created.append((variable, caller()))

    def bind_variable(self, variable: Any, value: Value) -> None:
        """Let a Variable that was handed in as an argument be this placeholder, until the trace is done."""
        self._captured[id(variable)] = (variable, value)
        self._bound.append(id(variable))

    def forget_call(self) -> None:
        """Let go of the tensors and Variables of the call that was traced."""
        self.given = {}
        for number in self._bound:
            del self._captured[number]
        self._bound = []

    def read(self, variable: Any) -> SymbolicTensor:
        """Record a read of a Variable."""
        return SymbolicTensor(self.add(READ, [self.resource_of(variable)]).out)

    def assign(self, variable: Any, tensor: Tensor) -> Any:
        """Record an assignment to a Variable; what stands for it afterwards."""
        self.add(ASSIGN, [self.resource_of(variable), self.value_of(tensor)])
        return variable

    # ------------------------------------------------------------------ order

    def group(self, *things: Any) -> Any:
        """What stands for having run several things: here nothing does, as everything runs in the order of the program."""

    def control_dependencies(self, control_inputs: Any) -> AbstractContextManager[Any]:
        """A context whose nodes run after ``control_inputs``: here they do anyway, and what a session's graph around this one has is an input.

        Raises:
            TypeError: there is something else among them.
            ValueError: that has no result, and so can be no input.
        """
        for thing in control_inputs_in(control_inputs):
            if isinstance(thing, Node):
                raise ValueError(
                    f"control_dependencies: {thing.name}, made at {thing.source}, has no result that could come into {self.name!r}; put "
                    "`with td.control_dependencies` around the branch, loop or call instead of into it"
                )
            if isinstance(thing, SymbolicTensor) and not thing.graph.building_function:
                self.value_of(thing)
        return nullcontext()

    # ------------------------------------------------------------------ evaluation

    def evaluate(self, tensor: SymbolicTensor) -> Tensor:
        """Compute now a tensor, for a Variable's initial value; the function's arguments are those of the call that is traced.

        Raises:
            InvalidArgumentError: it depends on an argument that has no value: of a trace for specs, or of a branch or loop.
        """
        things = {**self.given, **{value: thing for thing, value in self.captures}}
        known: dict[Value, Any] = {}
        with state.recording(None):
            for node in self._needed_for(tensor.value):
                known.update(zip(node.outputs, self._run(node, known, things), strict=True))
        result: Tensor = known[tensor.value]
        return result

    def _needed_for(self, value: Value) -> list[Node]:
        needed: set[Node] = set()
        waiting = [value.node]
        while waiting:
            node = waiting.pop()
            if node not in needed:
                needed.add(node)
                waiting += [v.node for v in node.inputs]
        return [node for node in self.nodes if node in needed]

    def _run(self, node: Node, known: dict[Value, Any], things: dict[Value, Any]) -> list[Any]:
        if node.op is CONST:
            return [from_array(node.attrs["value"])]
        if node.op is PLACEHOLDER:
            thing = things.get(node.outputs[0])
            if thing is None:
                raise InvalidArgumentError(
                    f"the initial value of the Variable made at {caller()} depends on {node.name!r} of {self.name!r}, which has no value here: "
                    "in a trace for specs, a branch or a loop; make the Variable outside, or of a value that is known while tracing"
                )
            return [thing.value.graph.evaluate(thing) if isinstance(thing, SymbolicTensor) else thing]
        if node.op is READ:
            return [known[node.inputs[0]].value()]
        inputs = [known[v] for v in node.inputs]
        return run(node.op, [host_value(i) if d.kind == "host" else i for d, i in zip(node.op.inputs, node.grouped(inputs), strict=True)], node.attrs)


def _identity(thing: Any) -> int:
    """What tells captured things apart: tensors that stand for one value are one."""
    return id(thing.value if isinstance(thing, SymbolicTensor) else thing)


def _plain(value: Any) -> Any:
    """Nested tuples of numbers, or None if a tensor or a symbolic size is inside."""
    if isinstance(value, list | tuple):
        items = [_plain(v) for v in value]
        return None if any(i is None for i in items) else tuple(items)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, bool | int | float):
        return value
    if hasattr(value, "as_list"):
        sizes = value.as_list()
        if None in sizes:
            raise SymbolicTensorError(f"the shape {value} has sizes that are not known while tracing; use td.shape(x) instead of x.shape")
        return tuple(sizes)
    if isinstance(value, Dim) or value is None:
        raise SymbolicTensorError("a size that is not known while tracing (None) was used as a number; use td.shape(x)[i] instead of x.shape[i]")
    if not isinstance(value, Tensor) and hasattr(value, "__index__") and not hasattr(type(value), "__treadle_tensor__"):
        return int(value)
    return None
