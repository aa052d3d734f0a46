"""Graphs that are defined first and run afterwards, piece by piece, by a session, as in TensorFlow 1.

They differ from the graph of a function in what an effect means: it happens only when it is fetched, or when something fetched follows it by its
inputs or by ``td.control_dependencies``. Therefore ops without results, assignments and groups stand for themselves here, and a Variable has a first
value only when its initializer runs. The running is in `treadle.functions.sessions`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from treadle import state
from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.dims import with_symbols
from treadle.dtypes import DType, as_dtype
from treadle.errors import ShapeError
from treadle.graph.control_inputs import control_inputs_in
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Node, Value
from treadle.graph.source import caller
from treadle.graph.structural import ASSIGN, CONST, NO_OP, PLACEHOLDER, READ
from treadle.registry import registry
from treadle.shapes import TensorShape
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.variable import Variable

_next_number = itertools.count(1).__next__


class Scope:
    """Something that ``with`` makes the default: of this thread, and as often as one likes."""

    def scope(self) -> AbstractContextManager[Any]:
        """The context that ``with`` enters."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        context = self.scope()
        context.__enter__()
        LOCAL.entered.append(context)
        return self

    def __exit__(self, *exc_info: object) -> None:
        LOCAL.entered.pop().__exit__(*exc_info)


@contextmanager
def observed(graph: SessionGraph | None) -> Iterator[None]:
    """As ``state.recording``, but what looks at every op (it has an ``instrument``) goes on looking, and may begin or end inside."""
    outer = LOCAL.tapes
    inside = _observers()
    try:
        with state.recording(graph):
            LOCAL.tapes = inside
            try:
                yield
            finally:
                inside = _observers()
    finally:
        LOCAL.tapes = (*inside, *(tape for tape in outer if tape.instrument is None))


def _observers() -> tuple[Any, ...]:
    return tuple(tape for tape in LOCAL.tapes if tape.instrument is not None)


class SessionGraph(FuncGraph, Scope):
    """A graph that records the ops inside ``with graph:``, to be run by a session (TensorFlow's ``tf.Graph``).

    Args:
        name: for messages; numbered by default.

    Attributes:
        variables: made in the graph, in order. Their values are the sessions'.
    """

    building_function = False

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name or f"graph_{_next_number()}")
        self.variables: list[Variable] = []

    @contextmanager
    def as_default(self) -> Iterator[SessionGraph]:
        """A context in which this thread's ops are recorded here."""
        with observed(self):
            yield self

    scope = as_default

    # ------------------------------------------------------------------ recording

    def add(self, op: Op, inputs: list[Value], attrs: dict[str, Any] | None = None, **options: Any) -> Node:
        """See ``Graph.add``; the node follows the control dependencies in force."""
        node = super().add(op, inputs, attrs, **options)
        if LOCAL.control and op is not CONST and op is not PLACEHOLDER:
            node.control = tuple(before for before in LOCAL.control if before.graph is self)
        return node

    def call_op(self, op: Op, args: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """See ``FuncGraph.call_op``; an op without results gives its node, to be fetched."""
        result = super().call_op(op, args, attrs)
        return self.last if op.outputs == "none" else result

    def constant(self, array: Any, before: Node | None = None) -> Value:
        """A constant of its own, since it may be fed."""
        return self._add_constant(object(), np.array(array), caller() if before is None else before.source)

    # ------------------------------------------------------------------ Variables

    def initial_value(self, value: Any, dtype: Any) -> Tensor:
        """What a Variable's initializer will give it, as a tensor of the graph."""
        return SymbolicTensor(self.value_of(convert_to_tensor(value, dtype)))

    def add_created(self, variable: Variable, initial: Tensor) -> None:
        """Record the initializer of a Variable of this graph."""
        super().add_created(variable, initial)
        self.variables.append(variable)
        variable.initializer = self.add(ASSIGN, [self._capture(variable, _resource(variable)), self.value_of(initial)])

    def resource_of(self, variable: Variable) -> Value:
        """The placeholder that stands for a Variable.

        Raises:
            ValueError: the Variable is another graph's.
        """
        node = variable.initializer
        if node is not None and node.graph is not self:
            raise ValueError(
                f"Variable {variable.name!r} was made in graph {node.graph.name!r}, at {node.source}; it cannot be used in graph {self.name!r}"
            )
        return super().resource_of(variable)

    def assign(self, variable: Variable, tensor: Tensor) -> SymbolicTensor:
        """Record an assignment; the value of the Variable after it."""
        assignment = self.add(ASSIGN, [self.resource_of(variable), self.value_of(tensor)])
        read = self.add(READ, list(assignment.inputs[:1]))
        read.control = (*read.control, assignment)
        return SymbolicTensor(read.out)

    # ------------------------------------------------------------------ order

    def group(self, *things: Any) -> Node:
        """A node that is done when all of some nodes and tensors are."""
        node = self.add(NO_OP, [])
        node.control = (*node.control, *self._nodes_of(things))
        return node

    @contextmanager
    def control_dependencies(self, control_inputs: Any) -> Iterator[None]:
        """A context whose nodes run only when ``control_inputs`` have; None forgets the contexts outside."""
        outer = LOCAL.control
        LOCAL.control = () if control_inputs is None else (*outer, *self._nodes_of(control_inputs))
        try:
            yield
        finally:
            LOCAL.control = outer

    def _nodes_of(self, things: Any) -> list[Node]:
        nodes = []
        for thing in control_inputs_in(things):
            if isinstance(thing, Node | SymbolicTensor):  # the others are there from the start
                node = thing if isinstance(thing, Node) else thing.value.node
                if node.graph is not self:
                    raise ValueError(f"{node.name}, made at {node.source}, is of graph {node.graph.name!r} and not of graph {self.name!r}")
                nodes.append(node)
        return nodes


def _resource(variable: Variable) -> Spec:
    return Spec(variable.dims, variable.dtype, resource=True)


# ---------------------------------------------------------------------- the default graph

_process_graph: SessionGraph | None = None


def get_default_graph() -> Any:
    """The graph that records the thread's ops; outside of any, one that the process has for this.

    Sources:
        TensorFlow ``tf.compat.v1.get_default_graph``.
    """
    global _process_graph
    if LOCAL.graph is not None:
        return LOCAL.graph
    if _process_graph is None:
        _process_graph = SessionGraph("default graph")
    return _process_graph


def reset_default_graph() -> None:
    """Forget what was recorded in the process's own default graph.

    Raises:
        AssertionError: inside ``with graph:``.

    Sources:
        TensorFlow ``tf.compat.v1.reset_default_graph``.
    """
    global _process_graph
    if LOCAL.graph is not None:
        raise AssertionError("reset_default_graph: leave `with graph:` first, or make a new td.Graph() instead")
    _process_graph = None


def _recorded_in(what: str) -> SessionGraph:
    graph = LOCAL.graph
    if graph is None:
        raise RuntimeError(f"{what} is not compatible with eager execution; call it inside `with td.Graph().as_default():`")
    if not isinstance(graph, SessionGraph):
        raise RuntimeError(f"{what} makes no sense while {graph.name!r} is traced; use the function's arguments")
    return graph


def _any_of(shape: Any, dtype: DType) -> Spec:
    """The spec of whatever is compatible with a shape."""
    sizes = TensorShape(shape)
    return Spec(None if sizes.rank is None else with_symbols(sizes), dtype)


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SymbolicTensor:
    """A tensor of the graph whose value is given when the graph runs.

    Args:
        dtype: of its elements.
        shape: what every value must be compatible with; ``None`` sizes may vary, None alone allows any rank.
        name: for messages.

    Returns:
        A symbolic tensor, to be a key of ``feed_dict``.

    Raises:
        RuntimeError: not inside ``with graph:``.

    Sources:
        TensorFlow ``tf.compat.v1.placeholder``.
    """
    graph = _recorded_in("td.compat.v1.placeholder")
    return SymbolicTensor(graph.placeholder(_any_of(shape, as_dtype(dtype)), name or "Placeholder"))


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> SymbolicTensor:
    """A tensor of the graph that has the value of ``input`` unless another one is fed.

    Args:
        input: any shape, any dtype.
        shape: what every value must be compatible with.
        name: for messages.

    Returns:
        A symbolic tensor of this shape and the dtype of ``input``.

    Raises:
        RuntimeError: not inside ``with graph:``.
        ShapeError: ``input`` does not fit ``shape``.

    Sources:
        TensorFlow ``tf.compat.v1.placeholder_with_default``.
    """
    graph = _recorded_in("td.compat.v1.placeholder_with_default")
    default = graph.value_of(convert_to_tensor(input))
    if not default.spec.shape.is_compatible_with(shape):
        raise ShapeError(f"placeholder_with_default: the default has shape {default.spec.shape}, which does not fit shape {TensorShape(shape)}")
    spec = _any_of(shape, default.spec.dtype)
    node = graph.add(registry.role("identity").op, [default], specs=[spec])
    node.label = name
    return SymbolicTensor(node.out)


# ---------------------------------------------------------------------- Variables of the default graph


def global_variables() -> list[Variable]:
    """The Variables made in the default graph, in order (TensorFlow's ``tf.compat.v1.global_variables``)."""
    return list(getattr(get_default_graph(), "variables", ()))


def trainable_variables() -> list[Variable]:
    """Those of them that are trainable (TensorFlow's ``tf.compat.v1.trainable_variables``)."""
    return [variable for variable in global_variables() if variable.trainable]


def global_variables_initializer() -> Any:
    """A node that gives every Variable of the default graph its first value.

    Sources:
        TensorFlow ``tf.compat.v1.global_variables_initializer``.
    """
    return variables_initializer(global_variables())


def variables_initializer(var_list: Sequence[Variable], name: str = "init") -> Any:
    """A node that gives some Variables their first values.

    Args:
        var_list: Variables of the default graph; those that were made outside of any have their value already.
        name: ignored.

    Sources:
        TensorFlow ``tf.compat.v1.variables_initializer``.
    """
    return get_default_graph().group(*(v.initializer for v in var_list if v.initializer is not None))
