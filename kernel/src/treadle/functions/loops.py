"""Loops while a tensor holds: run at once eagerly, nodes with functions inside while tracing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from treadle import nest
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.dims import Dim, with_symbols
from treadle.errors import DTypeError, ShapeError
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
from treadle.tensorspec import TensorSpec, TypeSpec

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
        loop_vars: the first ones: a list or tuple, possibly nested. What stands for one tensor and is made of several, such as
            ``td.IndexedSlices``, stays so.
        shape_invariants: shapes that hold on every turn, in the structure of ``loop_vars``, and specs for what is made of several tensors; by default
            sizes that change are found out.
        parallel_iterations: ignored.
        back_prop: ignored.
        swap_memory: ignored.
        maximum_iterations: at most so many turns, an integer. ``cond`` is called before each of them and once more, whatever it says.
        name: ignored.

    Returns:
        The last loop variables, in the structure of ``loop_vars``.

    Raises:
        TypeError: the body gives another structure or other dtypes, or ``maximum_iterations`` is no integer.
        ValueError: ``shape_invariants`` has another structure, or does not hold.
    """
    if not callable(cond) or not callable(body):
        raise TypeError("while_loop: 'cond' and 'body' must be callable")
    if not nest.is_nested(loop_vars) or not nest.flatten(loop_vars):
        raise ValueError("while_loop: no loop variables provided")
    first = nest.map_structure(_as_loop_variable, loop_vars, expand_composites=True)
    most = None if maximum_iterations is None else _most_turns(maximum_iterations)
    specs = _first_specs(first, shape_invariants)
    if LOCAL.graph is None:
        return _loop_now(cond, body, first, most)
    if most is not None:
        return _bounded(cond, body, first, specs, shape_invariants is not None, most)
    return _loop_traced(cond, body, first, specs, shape_invariants is not None)


def _as_loop_variable(leaf: Any) -> Any:
    return leaf if leaf is None else convert_to_tensor(leaf)


def _most_turns(maximum: Any) -> Any:
    """``maximum_iterations`` as a tensor."""
    most = convert_to_tensor(maximum)
    if not most.dtype.is_integer:
        raise DTypeError(f"while_loop: maximum_iterations is {maximum!r}, of dtype {most.dtype.name}; it must be an integer. Use td.cast, or int()")
    if most.shape.rank not in (None, 0):
        raise ShapeError(f"while_loop: maximum_iterations has shape {most.shape}; it must be a scalar")
    return most


def _arguments(variables: Any) -> Any:
    return variables.values() if isinstance(variables, dict) else variables


def _loop_now(cond: Callable[..., Any], body: Callable[..., Any], variables: Any, most: Any) -> Any:
    limit = None if most is None else int(most)
    turns = 0
    while bool(cond(*_arguments(variables))) and (limit is None or turns < limit):
        variables = nest.pack_sequence_as(variables, _given(body(*_arguments(variables)), variables), expand_composites=True)
        turns += 1
    return variables


def _given(result: Any, variables: Any) -> list[Any]:
    """What a body gave, as one tensor (or None) for each of those that the loop variables are made of."""
    result = _as_many(result, variables)
    _check_structure(variables, result)
    found: list[Any] = []
    for variable, leaf in zip(nest.flatten(variables), nest.flatten(result), strict=True):
        if not _is_composite(variable):
            found.append(_as_loop_variable(leaf))
            continue
        parts = nest.flatten(leaf, expand_composites=True)
        if type(leaf) is not type(variable) or len(parts) != len(nest.flatten(variable, expand_composites=True)):
            raise TypeError(f"while_loop: the body is given {variable!r} and gives {leaf!r}; a loop variable must stay of one kind")
        found += map(_as_loop_variable, parts)
    return found


def _is_composite(leaf: Any) -> bool:
    """True for what stands for one tensor and is made of several."""
    return not nest.is_nested(leaf) and not any(part is leaf for part in nest.flatten(leaf, expand_composites=True))


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


def _bounded(cond: Callable[..., Any], body: Callable[..., Any], first: Any, specs: list[Spec], is_fixed: bool, most: Any) -> Any:
    less, and_, add = registry.role("__lt__"), registry.role("__and__"), registry.role("__add__")

    def bounded_cond(turn: Any, variables: Any) -> Any:
        return and_(less(turn, most), convert_to_tensor(cond(*_arguments(variables))))

    def bounded_body(turn: Any, variables: Any) -> Any:
        return add(turn, 1), nest.pack_sequence_as(variables, _given(body(*_arguments(variables)), variables), expand_composites=True)

    zero = convert_to_tensor(0, most.dtype)
    return _loop_traced(bounded_cond, bounded_body, (zero, first), [Spec((), most.dtype), *specs], is_fixed)[1]


def _loop_traced(cond: Callable[..., Any], body: Callable[..., Any], first: Any, specs: list[Spec], is_fixed: bool) -> Any:
    """Record a loop.

    Args:
        cond: see ``while_loop``.
        body: see ``while_loop``.
        first: the first loop variables.
        specs: of their tensors when a turn begins.
        is_fixed: whether the user says that these specs hold for every turn.
    """
    graph = LOCAL.graph
    leaves = nest.flatten(first, expand_composites=True)
    tensors = [t for t in leaves if t is not None]

    def pack(arguments: list[Any]) -> Any:
        given = iter(arguments)
        return _arguments(nest.pack_sequence_as(first, [None if leaf is None else next(given) for leaf in leaves], expand_composites=True))

    def checked_body(*variables: Any) -> Any:
        return _given(body(*variables), first)

    for _ in range(_MOST_RELAXATIONS):
        turn = traced(checked_body, "loop body", specs, pack)
        relaxed = [_relaxed(s, v.spec, i) for i, (s, v) in enumerate(zip(specs, _outputs(turn, tensors), strict=True))]
        if all(a is b for a, b in zip(specs, relaxed, strict=True)):
            break
        if is_fixed:
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
    return nest.pack_sequence_as(first, [None if leaf is None else next(results) for leaf in leaves], expand_composites=True)


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


def _first_specs(first: Any, invariants: Any) -> list[Spec]:
    """What is known of the tensors of the loop variables when the first turn begins, and every turn if there are invariants.

    Raises:
        ValueError: the invariants have another structure, or do not hold.
    """
    specs = [Spec(with_symbols(t.dims), t.dtype) for t in nest.flatten(first, expand_composites=True) if t is not None]
    if invariants is None:
        return specs
    return [_with_invariant(s, i) for s, i in zip(specs, _invariants_of(first, invariants, ()), strict=True)]


def _invariants_of(variable: Any, invariant: Any, path: tuple[Any, ...]) -> list[Any]:
    """The invariant of each tensor of a loop variable at a path."""
    if variable is None:
        return []
    where = nest.format_path(path, "loop_vars")
    if isinstance(variable, list | tuple | Mapping):
        children = nest.items(variable)
        is_alike = isinstance(invariant, Mapping) if isinstance(variable, Mapping) else isinstance(invariant, list | tuple)
        given = _children(invariant, [step for step, _ in children]) if is_alike else []
        if len(given) != len(children):
            raise ValueError(
                f"while_loop: {where} is a {type(variable).__name__} of {len(children)}, and shape_invariants has {invariant!r} there; "
                "give one shape for each loop variable, in the structure of loop_vars"
            )
        return [leaf for (step, child), i in zip(children, given, strict=True) for leaf in _invariants_of(child, i, (*path, step))]
    count = len([leaf for leaf in nest.flatten(variable, expand_composites=True) if leaf is not None])
    if not _is_composite(variable):
        return [invariant] * count
    parts = nest.flatten(invariant.outline(), expand_composites=True) if isinstance(invariant, TypeSpec) else []
    if len(parts) != count:
        raise ValueError(
            f"while_loop: {where} is made of {count} tensors, and shape_invariants has {invariant!r} there; "
            "give a spec, such as td.IndexedSlicesSpec for td.IndexedSlices"
        )
    return parts


def _children(invariant: Any, steps: list[Any]) -> list[Any]:
    """The invariants of the children of a loop variable; those of a mapping by their keys."""
    if not isinstance(invariant, Mapping):
        return list(invariant)
    return [invariant[step] for step in steps] if invariant.keys() == set(steps) else []


def _with_invariant(spec: Spec, invariant: Any) -> Spec:
    if spec.dtype.kind == "l":
        return spec
    shape = invariant.shape if isinstance(invariant, TensorSpec) else TensorShape(invariant)
    if not shape.is_compatible_with(spec.shape):
        raise ValueError(f"while_loop: the shape_invariant {shape} does not hold for the first value, of shape {spec.shape}")
    return Spec(None if shape.rank is None else with_symbols(shape), spec.dtype)
