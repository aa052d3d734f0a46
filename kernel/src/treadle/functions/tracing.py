"""Running a Python function once on symbolic tensors, to get the graph of what it does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from treadle import plugins, state
from treadle.collector import without_collector
from treadle.conversion import convert_to_tensor
from treadle.functions.argument_aliases import containers, with_aliases
from treadle.functions.atomic import AtomicFunction
from treadle.functions.concrete import ConcreteFunction, Static
from treadle.functions.keys import Call, TensorPart, TypePart, VariablePart, spec_of_part
from treadle.functions.signature import Signature
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Value
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.tensorspec import TensorSpec
from treadle.treedef import flatten_to
from treadle.variable import Variable


def trace(function: Callable[..., Any], signature: Signature, call: Call, argument_names: list[str]) -> tuple[ConcreteFunction, list[Any]]:
    """Trace a function for one signature.

    Args:
        function: the Python function.
        signature: of the function, whose name is for messages.
        call: the arguments in canonical form; only specs are looked at.
        argument_names: per leaf, the name of the argument it is in.

    Returns:
        The concrete function, and the Variables that the body made, each with the user's line.
    """
    outer, name = LOCAL.graph, signature.name
    graph = FuncGraph(name, outer)
    start = time.perf_counter()
    with without_collector(), state.recording(graph):
        leaves, names = _placeholders(graph, call, argument_names)
        args, kwargs = with_aliases(call.key.structure.unflatten(leaves), call.key.aliases)
        before = _contents((args, kwargs))
        try:
            result = function(*args, **kwargs)
            _require_same_contents(before, name)
            found: list[Any] = []
            structure = flatten_to(result, found)
            results, values = _results(graph, found, name)
        finally:
            graph.forget_call()
    graph.outputs = values
    atomic = AtomicFunction(graph, name)
    concrete = ConcreteFunction(atomic, call.key, names, structure, results, argument_names, signature)
    plugins.host.call("treadle_trace_finished", function=function, concrete=concrete, seconds=time.perf_counter() - start)
    return concrete, graph.created


def _contents(structure: Any) -> list[tuple[Any, list[Any]]]:
    """The lists and dicts among arguments, each with what is in it."""
    return [(thing, _items(thing)) for thing in containers(structure)]


def _items(container: Any) -> list[Any]:
    return [*container.keys(), *container.values()] if isinstance(container, dict) else list(container)


def _require_same_contents(before: list[tuple[Any, list[Any]]], name: str) -> None:
    """Refuse a function that changes a list or dict that it was given: it has a copy, so the caller's would stay as it is.

    Raises:
        ValueError: it does.
    """
    for thing, items in before:
        now = _items(thing)
        if len(now) != len(items) or any(a is not b for a, b in zip(now, items, strict=True)):
            size = len(items) // 2 if type(thing) is dict else len(items)
            raise ValueError(
                f"{name!r} should not modify its Python input arguments: a {type(thing).__name__} of {size} that it was given is changed. A traced "
                "function works on a copy, once for each trace; change a copy of your own, and return that"
            )


def _placeholders(graph: FuncGraph, call: Call, argument_names: list[str]) -> tuple[list[Any], list[str]]:
    leaves: list[Any] = []
    names: list[str] = []

    def placeholder(part: Any, name: str) -> Value:
        value = graph.placeholder(spec_of_part(part), name)
        names.append(value.node.attrs["name"])
        return value

    for i, (leaf, part) in enumerate(zip(call.leaves, call.key.parts, strict=True)):
        if isinstance(part, TensorPart):
            value = placeholder(part, (isinstance(leaf, TensorSpec) and leaf.name) or argument_names[i])
            if isinstance(leaf, Tensor):
                graph.given[value] = leaf
            leaves.append(SymbolicTensor(value))
        elif isinstance(part, VariablePart):
            value = placeholder(part, argument_names[i])
            if part.alias == i:
                graph.bind_variable(leaf, value)
            leaves.append(leaf)
        elif isinstance(part, TypePart):
            tensors = [SymbolicTensor(placeholder(p, argument_names[i])) for p in part.tensors]
            leaves.append(part.type.from_tensors(iter(tensors)) if tensors else part.type.placeholder_value(None))
        else:
            leaves.append(leaf)
    return leaves, names


def _results(graph: FuncGraph, found: list[Any], name: str) -> tuple[list[Any], list[Value]]:
    results: list[Any] = []
    values: list[Value] = []
    for i, leaf in enumerate(found):
        if leaf is None or isinstance(leaf, str | bytes):
            results.append(Static(leaf))
            continue
        if isinstance(leaf, Tensor | Variable | bool | int | float | complex | np.ndarray | np.generic) or hasattr(type(leaf), "__treadle_tensor__"):
            tensor = convert_to_tensor(leaf)
            results.append(i)
            values.append(graph.value_of(tensor))
            continue
        results.append(Static(leaf))
    return results, values
