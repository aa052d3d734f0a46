"""Bodies: functions of the user's traced into graphs inside the graph being traced, for branches and loops to hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from treadle import state
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.errors import DTypeError, ShapeError
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Value
from treadle.inspection import get_static_value
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.treedef import flatten_to
from treadle.variable import Variable

TENSOR = object()
"""Stands for a tensor among the leaves of a body."""


class Body(NamedTuple):
    """A branch or a body as a graph.

    Attributes:
        graph: its outputs are the tensors among the leaves.
        structure: of the result.
        leaves: ``TENSOR`` for a tensor, else the Python value itself.
    """

    graph: FuncGraph
    structure: Any
    leaves: list[Any]


def traced(function: Callable[..., Any], name: str, specs: Sequence[Spec] = (), pack: Callable[[list[Any]], Any] | None = None) -> Body:
    """Trace a branch or a body; arguments are made of placeholders for ``specs``."""
    outer = LOCAL.graph
    graph = FuncGraph(name, outer)
    with state.recording(graph):
        arguments = [SymbolicTensor(graph.placeholder(spec, f"loop_variable_{i}")) for i, spec in enumerate(specs)]
        result = function(*pack(arguments)) if pack is not None else function()
        leaves: list[Any] = []
        structure = flatten_to(result, leaves)
        outputs = []
        for i, leaf in enumerate(leaves):
            if leaf is None or isinstance(leaf, str):
                continue
            outputs.append(graph.value_of(convert_to_tensor(leaf)))
            leaves[i] = TENSOR
    graph.outputs = outputs
    graph.release_constants()
    outer.created += graph.created
    return Body(graph, structure, leaves)


def finish(structure: Any, leaves: list[Any], tensors: list[Any]) -> Any:
    """A body's result made anew, with these tensors in it."""
    found = iter(tensors)
    return structure.unflatten([next(found) if leaf is TENSOR else leaf for leaf in leaves])


def known_predicate(pred: Any) -> bool | None:
    """The predicate as a Python bool where it is known: eagerly, and for constants."""
    if LOCAL.graph is None or not isinstance(pred, SymbolicTensor | Variable):
        return bool(pred)
    value = get_static_value(pred) if isinstance(pred, SymbolicTensor) else None
    return None if value is None or getattr(value, "size", 1) != 1 else bool(value)


def predicate_tensor(pred: Any, what: str) -> SymbolicTensor:
    """The predicate of a branch or loop, refused unless it is a scalar bool."""
    tensor: SymbolicTensor = convert_to_tensor(pred)
    if tensor.shape.rank not in (None, 0):
        raise ShapeError(f"{what}: the predicate has shape {tensor.shape}; it must be a scalar. Use td.reduce_all, td.reduce_any or td.where")
    if not tensor.dtype.is_bool:
        raise DTypeError(f"{what}: the predicate has dtype {tensor.dtype.name}; it must be bool. Compare it, or use td.cast(x, td.bool)")
    return tensor


def shared_inputs(graphs: Sequence[FuncGraph], own: int = 0) -> list[Any]:
    """Give graphs the same inputs after their ``own`` first ones: everything that any of them captured, which is given back in order."""
    things: dict[int, Any] = {}
    for graph in graphs:
        for thing, _ in graph.captures:
            things.setdefault(id(thing), thing)
    for graph in graphs:
        mine = {id(thing): value for thing, value in graph.captures}
        inputs = graph.inputs[:own]
        for key, thing in things.items():
            value = mine.get(key)
            if value is None:
                value = graph.placeholder(_spec_of(thing), "unused")
            inputs.append(value)
        graph.inputs = inputs
        graph.captures = []
    return list(things.values())


def _spec_of(thing: Any) -> Spec:
    if isinstance(thing, Variable):
        return Spec(thing.dims, thing.dtype, resource=True)
    return Spec(thing.dims, thing.dtype) if not isinstance(thing, SymbolicTensor) else thing.value.spec.without_value()


def outer_values(things: list[Any]) -> list[Value]:
    """The values in the graph being traced of what inner graphs captured."""
    graph = LOCAL.graph
    return [graph.resource_of(t) if isinstance(t, Variable) else graph.value_of(t) for t in things]
