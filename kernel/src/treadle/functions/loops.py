"""Loops while a tensor holds: run at once eagerly, nodes with functions inside while tracing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle import nest
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.dims import Dim, with_symbols
from treadle.errors import DTypeError
from treadle.functions.atomic import AtomicFunction
from treadle.functions.bodies import Body, outer_values, predicate_tensor, shared_inputs, traced
from treadle.functions.control_records import record_control
from treadle.graph.effects import effect_of
from treadle.graph.graph import Value
from treadle.graph.structural import LOOP
from treadle.registry import registry
from treadle.shapes import TensorShape
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.tensorspec import TensorSpec

_MOST_RELAXATIONS = 12


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Call a body again and again while a condition holds (TensorFlow's ``tf.while_loop``).

    Args:
        cond: function of the loop variables, gives a scalar bool.
        body: function of the loop variables, gives the next ones in the same structure.
        loop_vars: the first ones: a list or tuple, possibly nested.
        shape_invariants: shapes that hold on every turn; by default sizes that change are found out.
        parallel_iterations: ignored.
        back_prop: ignored.
        swap_memory: ignored.
        maximum_iterations: at most so many turns.
        name: ignored.

    Returns:
        The last loop variables, in the structure of ``loop_vars``.

    Raises:
        TypeError: the body gives another structure or other dtypes.
    """
    if not callable(cond) or not callable(body):
        raise TypeError("while_loop: 'cond' and 'body' must be callable")
    if not nest.is_nested(loop_vars) or not nest.flatten(loop_vars):
        raise ValueError("while_loop: no loop variables provided")
    first = nest.map_structure(_as_loop_variable, loop_vars)
    if LOCAL.graph is None:
        return _loop_now(cond, body, first, maximum_iterations)
    if maximum_iterations is not None:
        return _bounded(cond, body, first, shape_invariants, maximum_iterations)
    return _loop_traced(cond, body, first, shape_invariants)


def _as_loop_variable(leaf: Any) -> Any:
    return leaf if leaf is None else convert_to_tensor(leaf)


def _arguments(variables: Any) -> Any:
    return variables.values() if isinstance(variables, dict) else variables


def _loop_now(cond: Callable[..., Any], body: Callable[..., Any], variables: Any, maximum: Any) -> Any:
    most = None if maximum is None else int(maximum)
    turns = 0
    while (most is None or turns < most) and bool(cond(*_arguments(variables))):
        result = _as_many(body(*_arguments(variables)), variables)
        _check_structure(variables, result)
        variables = nest.pack_sequence_as(variables, [_as_loop_variable(v) for v in nest.flatten(result)])
        turns += 1
    return variables


def _as_many(result: Any, variables: Any) -> Any:
    """What a body gave, where a single one may stand for itself."""
    is_one = not nest.is_nested(result) or (isinstance(variables, list | tuple) and len(variables) == 1 and not isinstance(result, list | tuple))
    return (result,) if is_one else result


def _check_structure(variables: Any, result: Any) -> None:
    try:
        nest.assert_same_structure(_plain(variables), _plain(result), check_types=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"while_loop: the body must give the loop variables in their structure: {error}") from None


def _plain(structure: Any) -> Any:
    return list(structure) if isinstance(structure, list | tuple) and not hasattr(structure, "_fields") else structure


def _bounded(cond: Callable[..., Any], body: Callable[..., Any], first: Any, invariants: Any, maximum: Any) -> Any:
    less, and_, add = registry.role("__lt__"), registry.role("__and__"), registry.role("__add__")
    most = convert_to_tensor(maximum)

    def bounded_cond(turn: Any, variables: Any) -> Any:
        return and_(less(turn, most), convert_to_tensor(cond(*_arguments(variables))))

    def bounded_body(turn: Any, variables: Any) -> Any:
        result = _as_many(body(*_arguments(variables)), variables)
        _check_structure(variables, result)
        return add(turn, 1), nest.pack_sequence_as(variables, nest.flatten(result))

    zero = convert_to_tensor(0, most.dtype)
    shapes = None if invariants is None else (TensorShape([]), invariants)
    return _loop_traced(bounded_cond, bounded_body, (zero, first), shapes)[1]


def _loop_traced(cond: Callable[..., Any], body: Callable[..., Any], first: Any, invariants: Any) -> Any:
    graph = LOCAL.graph
    leaves = nest.flatten(first)
    tensors = [t for t in leaves if t is not None]
    specs = [Spec(with_symbols(t.dims), t.dtype) for t in tensors]
    if invariants is not None:
        specs = [_with_invariant(s, i) for s, i in zip(specs, _invariant_leaves(invariants, first), strict=True)]

    def pack(arguments: list[Any]) -> Any:
        given = iter(arguments)
        return _arguments(nest.pack_sequence_as(first, [None if leaf is None else next(given) for leaf in leaves]))

    def checked_body(*variables: Any) -> Any:
        result = _as_many(body(*variables), first)
        _check_structure(first, result)
        return nest.flatten(result)

    for _ in range(_MOST_RELAXATIONS):
        turn = traced(checked_body, "loop body", specs, pack)
        relaxed = [_relaxed(s, v.spec, i) for i, (s, v) in enumerate(zip(specs, _outputs(turn, tensors), strict=True))]
        if all(a is b for a, b in zip(specs, relaxed, strict=True)):
            break
        if invariants is not None:
            where = next(i for i, (a, b) in enumerate(zip(specs, relaxed, strict=True)) if a is not b)
            raise ValueError(
                f"while_loop: loop variable {where} enters a turn with shape {specs[where].shape} and leaves it with another; "
                "give a shape_invariant that holds for both"
            )
        specs = relaxed
    condition = traced(cond, "loop condition", specs, pack)
    if len(condition.graph.outputs) != 1:
        raise TypeError("while_loop: the condition must give one scalar bool")
    predicate_tensor(SymbolicTensor(condition.graph.outputs[0]), "while_loop")
    count = len(tensors)
    things = shared_inputs([condition.graph, turn.graph], own=count)
    values = [graph.value_of(t) for t in tensors] + outer_values(things)
    attrs = {
        "condition": AtomicFunction(condition.graph, "loop condition"),
        "body": AtomicFunction(turn.graph, "loop body"),
        "carried": count,
        "popped": 0,
    }
    outputs = [Spec(with_symbols(s.dims), s.dtype) for s in specs]
    node = graph.add(LOOP[effect_of(condition.graph, turn.graph)], values, attrs, splits=(len(values),), specs=outputs)
    results = iter(record_control(node, [*tensors, *things]))
    return nest.pack_sequence_as(first, [None if leaf is None else next(results) for leaf in leaves])


def _outputs(turn: Body, tensors: list[Any]) -> list[Value]:
    if len(turn.graph.outputs) != len(tensors):
        raise TypeError(
            f"while_loop: the body gives {len(turn.graph.outputs)} tensors for {len(tensors)} loop variables; a loop variable cannot become None"
        )
    return turn.graph.outputs


def _relaxed(before: Spec, after: Spec, position: int) -> Spec:
    """A spec that holds before and after a turn; ``before`` itself if it does."""
    if before.dtype is not after.dtype:
        raise DTypeError(
            f"while_loop: loop variable {position} enters a turn with dtype {before.dtype.name} and leaves it with {after.dtype.name}; "
            "they must be equal. Use td.cast in the body, or on the first value"
        )
    if before.dims is None:
        return before
    if after.dims is None or len(after.dims) != len(before.dims):
        return Spec(None, before.dtype)
    changed = [isinstance(b, int) and a != b for b, a in zip(before.dims, after.dims, strict=True)]
    if not any(changed):
        return before
    return Spec(tuple(Dim.symbol() if c else b for b, c in zip(before.dims, changed, strict=True)), before.dtype)


def _invariant_leaves(invariants: Any, first: Any) -> list[Any]:
    leaves: list[Any] = []

    def walk(invariant: Any, variable: Any) -> None:
        if nest.is_nested(variable) and not isinstance(variable, list | tuple | dict):
            leaves.extend(invariant for leaf in nest.flatten(variable) if leaf is not None)
        elif nest.is_nested(variable):
            children = list(variable.values()) if isinstance(variable, dict) else list(variable)
            given = list(invariant.values()) if isinstance(invariant, dict) else list(invariant)
            for i, v in zip(given, children, strict=True):
                walk(i, v)
        elif variable is not None:
            leaves.append(invariant)

    walk(invariants, first)
    return leaves


def _with_invariant(spec: Spec, invariant: Any) -> Spec:
    if spec.dtype.kind == "l":
        return spec
    shape = invariant.shape if isinstance(invariant, TensorSpec) else TensorShape(invariant)
    if not shape.is_compatible_with(spec.shape):
        raise ValueError(f"while_loop: the shape_invariant {shape} does not hold for the first value, of shape {spec.shape}")
    return Spec(None if shape.rank is None else with_symbols(shape), spec.dtype)
