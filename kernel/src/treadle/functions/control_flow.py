"""Branches and loops on the values of tensors: run at once eagerly, nodes with functions inside while tracing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from treadle import nest, state
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.dims import Dim
from treadle.dtypes import int32
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle.functions.atomic import AtomicFunction
from treadle.functions.control_gradients import record_control
from treadle.graph.effects import effect_of
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Value
from treadle.graph.structural import COND, LOOP
from treadle.inspection import get_static_value
from treadle.registry import registry
from treadle.shapes import TensorShape
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.tensorspec import TensorSpec
from treadle.treedef import flatten_to
from treadle.variable import Variable

_MOST_RELAXATIONS = 12


class Traced(NamedTuple):
    """A branch or a body as a graph.

    Attributes:
        graph: its outputs are the tensors among the leaves.
        structure: of the result.
        leaves: None for a tensor, else the Python value itself.
    """

    graph: FuncGraph
    structure: Any
    leaves: list[Any]


_TENSOR = object()


def cond(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None, name: str | None = None) -> Any:
    """Call one of two functions, by a tensor's value (TensorFlow's ``tf.cond``).

    Args:
        pred: a scalar bool tensor, or a Python bool.
        true_fn: called without arguments if ``pred`` holds.
        false_fn: called otherwise.
        name: ignored.

    Returns:
        What the function gives. While tracing, both must give the same structure with the same dtypes.

    Raises:
        TypeError: a function is missing, or the branches give different structures or dtypes.
    """
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("td.cond needs two functions without arguments: td.cond(pred, true_fn, false_fn)")
    known = _known(pred)
    if known is not None:
        return true_fn() if known else false_fn()
    predicate = _predicate(pred, "cond")
    branches = [_traced(f, f"{which} branch") for f, which in ((true_fn, "true"), (false_fn, "false"))]
    structure, leaves, specs = _unified(branches)
    return _finish(structure, leaves, _add_cond(predicate, branches, specs))


def _known(pred: Any) -> bool | None:
    """The predicate as a Python bool where it is known: eagerly, and for constants."""
    if isinstance(pred, bool):
        return pred
    if isinstance(pred, Tensor) and not isinstance(pred, SymbolicTensor):
        return bool(pred)
    if LOCAL.graph is None or not isinstance(pred, Tensor | Variable):
        return bool(pred)
    if isinstance(pred, SymbolicTensor):
        value = get_static_value(pred)
        return None if value is None or getattr(value, "size", 1) != 1 else bool(value)
    return None


def _predicate(pred: Any, what: str) -> SymbolicTensor:
    tensor = convert_to_tensor(pred)
    if tensor.shape.rank not in (None, 0):
        raise ShapeError(f"{what}: the predicate has shape {tensor.shape}; it must be a scalar. Use td.reduce_all, td.reduce_any or td.where")
    if not tensor.dtype.is_bool:
        raise DTypeError(f"{what}: the predicate has dtype {tensor.dtype.name}; it must be bool. Compare it, or use td.cast(x, td.bool)")
    return tensor  # type: ignore[no-any-return]


def _traced(function: Callable[..., Any], name: str, specs: Sequence[Spec] = (), pack: Callable[[list[Any]], Any] | None = None) -> Traced:
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
            leaves[i] = _TENSOR
    graph.outputs = outputs
    graph.release_constants()
    outer.created += graph.created
    return Traced(graph, structure, leaves)


def _finish(structure: Any, leaves: list[Any], tensors: list[Any]) -> Any:
    found = iter(tensors)
    return structure.unflatten([next(found) if leaf is _TENSOR else leaf for leaf in leaves])


# ---------------------------------------------------------------------- branches


def _unified(branches: Sequence[Traced]) -> tuple[Any, list[Any], list[Spec]]:
    """The structure, leaves and specs that all branches share.

    Raises:
        TypeError: they differ.
    """
    first = branches[0]
    for other in branches[1:]:
        if other.structure != first.structure:
            raise TypeError(f"cond: the branches give different structures: {_shown(first)} and {_shown(other)}; they must be alike")
        for i, (a, b) in enumerate(zip(first.leaves, other.leaves, strict=True)):
            if (a is _TENSOR) != (b is _TENSOR) or (a is not _TENSOR and a != b):
                raise TypeError(f"cond: result {i} is {_kind(a)} in one branch and {_kind(b)} in the other; both must give a tensor")
    specs = []
    for i, values in enumerate(zip(*(b.graph.outputs for b in branches), strict=True)):
        dtypes = {v.spec.dtype for v in values}
        if len(dtypes) > 1:
            names = " and ".join(sorted(d.name for d in dtypes))
            raise DTypeError(f"cond: result {i} has the dtypes {names} in the branches; they must be equal. Use td.cast in one of them")
        specs.append(_merged([v.spec for v in values]))
    return first.structure, first.leaves, specs


def _kind(leaf: Any) -> str:
    return "a tensor" if leaf is _TENSOR else repr(leaf)


def _shown(traced: Traced) -> str:
    specs = iter(traced.graph.outputs)
    return repr(traced.structure.unflatten([next(specs).spec if leaf is _TENSOR else leaf for leaf in traced.leaves]))


def _merged(specs: Sequence[Spec]) -> Spec:
    """What is true of all: sizes that differ, or that only one graph knows, become symbols of their own."""
    first = specs[0]
    if any(s.dims is None or first.dims is None or len(s.dims) != len(first.dims) for s in specs):
        return Spec(None, first.dtype)
    columns = zip(*(s.dims for s in specs), strict=True)
    return Spec(tuple(c[0] if isinstance(c[0], int) and all(d == c[0] for d in c) else Dim.symbol() for c in columns), first.dtype)


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


def _add_cond(predicate: SymbolicTensor, branches: Sequence[Traced], specs: list[Spec]) -> list[SymbolicTensor]:
    graph = LOCAL.graph
    graphs = [b.graph for b in branches]
    things = shared_inputs(graphs)
    values = outer_values(things)
    functions = tuple(AtomicFunction(g, g.name) for g in graphs)
    node = graph.add(COND[effect_of(*graphs)], [graph.value_of(predicate), *values], {"branches": functions}, splits=(-1, len(values)), specs=specs)
    return record_control(node, [predicate, *things])


def case(pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False, strict: bool = False, name: str = "case") -> Any:
    """Call the function of the first predicate that holds (TensorFlow's ``tf.case``).

    Args:
        pred_fn_pairs: ``(predicate, function)`` pairs, in a list.
        default: called if none holds; by default the last pair's function.
        exclusive: raise if more than one holds.
        strict: ignored.
        name: ignored.

    Returns:
        What the function gives.

    Raises:
        InvalidArgumentError: ``exclusive``, and more than one predicate holds.
    """
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    if not all(isinstance(p, list | tuple) and len(p) == 2 and callable(p[1]) for p in pairs):
        raise TypeError("case: each entry must be a pair (predicate, function)")
    if exclusive:
        _refuse_several([p for p, _ in pairs])
    if default is None:
        if not pairs:
            raise ValueError("case: there is no pair and no default")
        *pairs, (last, function) = pairs
        chosen = function

        def default() -> Any:
            _require(last)
            return chosen()

    result = default
    for predicate, function in reversed(pairs):
        result = _either(predicate, function, result)
    return result()


def _either(predicate: Any, function: Callable[[], Any], otherwise: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: cond(predicate, function, otherwise)


def _refuse_several(predicates: list[Any]) -> None:
    """Raise, now or when the function runs, if more than one predicate holds."""
    known = [_known(p) for p in predicates]
    if None not in known:
        if sum(known) > 1:  # type: ignore[arg-type]
            raise InvalidArgumentError(f"case: exclusive=True, and {sum(known)} predicates hold")  # type: ignore[arg-type]
        return
    cast, add = registry.role("cast"), registry.role("__add__")
    count = cast(convert_to_tensor(predicates[0]), int32)
    for predicate in predicates[1:]:
        count = add(count, cast(convert_to_tensor(predicate), int32))
    registry.role("require")(registry.role("__le__")(count, 1), ["case: exclusive=True, and more than one predicate holds"])


def _require(predicate: Any) -> None:
    """Raise, now or when the function runs, unless the predicate holds."""
    text = "case: none of the predicates holds, and there is no default"
    known = _known(predicate)
    if known is None:
        registry.role("require")(predicate, [text])
    elif not known:
        raise InvalidArgumentError(text)


def switch_case(branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None, name: str = "switch_case") -> Any:
    """Call one of several functions by number (TensorFlow's ``tf.switch_case``).

    Args:
        branch_index: a scalar int32 tensor, or a Python int.
        branch_fns: functions in a list, a dictionary by number, or pairs (number, function).
        default: called for numbers that are not there; by default the function of the highest number.
        name: ignored.

    Returns:
        What the function gives.
    """
    if isinstance(branch_fns, dict):
        table = dict(branch_fns)
    else:
        listed = list(branch_fns)
        table = dict(listed) if listed and isinstance(listed[0], list | tuple) else dict(enumerate(listed))
    if not table:
        raise ValueError("switch_case: there are no functions to choose from")
    if not all(isinstance(k, int) and callable(f) for k, f in table.items()):
        raise TypeError("switch_case: branch_fns must be functions, or pairs of an int and a function")
    last = table[max(table)] if default is None else default
    index = convert_to_tensor(branch_index)
    if not index.dtype.is_integer:
        raise DTypeError(f"switch_case: branch_index has dtype {index.dtype.name}; it must be an integer")
    known = int(index) if not isinstance(index, SymbolicTensor) else get_static_value(index)
    if known is not None:
        return table.get(int(known), last)()
    equal = registry.role("__eq__")
    result = last
    for number in sorted(table, reverse=True):
        result = _either(equal(index, number), table[number], result)
    return result()


# ---------------------------------------------------------------------- loops


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
    specs = [_first_spec(t) for t in tensors]
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
        traced = _traced(checked_body, "loop body", specs, pack)
        relaxed = [_relaxed(s, v.spec, i) for i, (s, v) in enumerate(zip(specs, _outputs(traced, tensors), strict=True))]
        if all(a is b for a, b in zip(specs, relaxed, strict=True)):
            break
        if invariants is not None:
            where = next(i for i, (a, b) in enumerate(zip(specs, relaxed, strict=True)) if a is not b)
            raise ValueError(
                f"while_loop: loop variable {where} enters a turn with shape {specs[where].shape} and leaves it with another; "
                "give a shape_invariant that holds for both"
            )
        specs = relaxed
    condition = _traced(cond, "loop condition", specs, pack)
    if len(condition.graph.outputs) != 1:
        raise TypeError("while_loop: the condition must give one scalar bool")
    _predicate(SymbolicTensor(condition.graph.outputs[0]), "while_loop")
    count = len(tensors)
    things = shared_inputs([condition.graph, traced.graph], own=count)
    values = [graph.value_of(t) for t in tensors] + outer_values(things)
    attrs = {
        "condition": AtomicFunction(condition.graph, "loop condition"),
        "body": AtomicFunction(traced.graph, "loop body"),
        "carried": count,
        "popped": 0,
    }
    outputs = [Spec(_fresh(s.dims), s.dtype) for s in specs]
    node = graph.add(LOOP[effect_of(condition.graph, traced.graph)], values, attrs, splits=(len(values),), specs=outputs)
    results = iter(record_control(node, [*tensors, *things]))
    return nest.pack_sequence_as(first, [None if leaf is None else next(results) for leaf in leaves])


def _outputs(traced: Traced, tensors: list[Any]) -> list[Value]:
    if len(traced.graph.outputs) != len(tensors):
        raise TypeError(
            f"while_loop: the body gives {len(traced.graph.outputs)} tensors for {len(tensors)} loop variables; a loop variable cannot become None"
        )
    return traced.graph.outputs


def _first_spec(tensor: Any) -> Spec:
    dims = tensor.dims
    return Spec(None if dims is None else tuple(d if isinstance(d, int) else Dim.symbol() for d in dims), tensor.dtype)


def _fresh(dims: Any) -> Any:
    return None if dims is None else tuple(d if isinstance(d, int) else Dim.symbol() for d in dims)


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
    return Spec(None if shape.rank is None else tuple(Dim.symbol() if d is None else d for d in shape.as_list()), spec.dtype)
