"""Branches on the values of tensors: run at once eagerly, nodes with functions inside while tracing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.dims import Dim
from treadle.dtypes import int32
from treadle.errors import DTypeError, InvalidArgumentError
from treadle.functions.atomic import AtomicFunction
from treadle.functions.bodies import TENSOR, Body, finish, known_predicate, outer_values, predicate_tensor, shared_inputs, traced
from treadle.functions.control_records import record_control
from treadle.graph.effects import effect_of
from treadle.graph.structural import COND
from treadle.inspection import get_static_value
from treadle.registry import registry
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor


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
    known = known_predicate(pred)
    if known is not None:
        return true_fn() if known else false_fn()
    predicate = predicate_tensor(pred, "cond")
    branches = [traced(f, f"{which} branch") for f, which in ((true_fn, "true"), (false_fn, "false"))]
    structure, leaves, specs = _unified(branches)
    return finish(structure, leaves, _add_cond(predicate, branches, specs))


def _unified(branches: Sequence[Body]) -> tuple[Any, list[Any], list[Spec]]:
    """The structure, leaves and specs that all branches share.

    Raises:
        TypeError: they differ.
    """
    first = branches[0]
    for other in branches[1:]:
        if other.structure != first.structure:
            raise TypeError(f"cond: the branches give different structures: {_shown(first)} and {_shown(other)}; they must be alike")
        for i, (a, b) in enumerate(zip(first.leaves, other.leaves, strict=True)):
            if (a is TENSOR) != (b is TENSOR) or (a is not TENSOR and a != b):
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
    return "a tensor" if leaf is TENSOR else repr(leaf)


def _shown(body: Body) -> str:
    specs = iter(body.graph.outputs)
    return repr(body.structure.unflatten([next(specs).spec if leaf is TENSOR else leaf for leaf in body.leaves]))


def _merged(specs: Sequence[Spec]) -> Spec:
    """What is true of all: sizes that differ, or that only one graph knows, become symbols of their own."""
    first = specs[0]
    if any(s.dims is None or first.dims is None or len(s.dims) != len(first.dims) for s in specs):
        return Spec(None, first.dtype)
    columns = zip(*(s.dims for s in specs), strict=True)
    return Spec(tuple(c[0] if isinstance(c[0], int) and all(d == c[0] for d in c) else Dim.symbol() for c in columns), first.dtype)


def _add_cond(predicate: SymbolicTensor, branches: Sequence[Body], specs: list[Spec]) -> list[SymbolicTensor]:
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
    known = [known_predicate(p) for p in predicates]
    if None not in known:
        if (count := known.count(True)) > 1:
            raise InvalidArgumentError(f"case: exclusive=True, and {count} predicates hold")
        return
    cast, add = registry.role("cast"), registry.role("__add__")
    total = cast(convert_to_tensor(predicates[0]), int32)
    for predicate in predicates[1:]:
        total = add(total, cast(convert_to_tensor(predicate), int32))
    registry.role("require")(registry.role("__le__")(total, 1), ["case: exclusive=True, and more than one predicate holds"])


def _require(predicate: Any) -> None:
    """Raise, now or when the function runs, unless the predicate holds."""
    text = "case: none of the predicates holds, and there is no default"
    known = known_predicate(predicate)
    if known is None:
        registry.role("require")(predicate, [text])
    elif not known:
        raise InvalidArgumentError(text)


def switch_case(branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None, name: str = "switch_case") -> Any:
    """Call one of several functions by number (TensorFlow's ``tf.switch_case``).

    Args:
        branch_index: a scalar int32 tensor, or a Python int.
        branch_fns: functions in a list, a dictionary by number, or pairs (number, function).
        default: called for numbers that are not there; by default the function of the highest number, and then no number below it may be missing.
        name: ignored.

    Returns:
        What the function gives.

    Raises:
        TypeError: ``branch_fns`` has something else than functions with ints.
        ValueError: there is no function, or the numbers repeat, are negative, or leave gaps without a default.
    """
    table = _numbered(branch_fns)
    if default is None and set(table) != set(range(len(table))):
        raise ValueError(
            f"switch_case: the numbers of branch_fns are {sorted(table)}; without a default they must be 0 to {len(table) - 1}. Give a default, or "
            "a function for every number"
        )
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


def _numbered(branch_fns: Any) -> dict[int, Callable[[], Any]]:
    """Functions by their numbers.

    Raises:
        TypeError: there is something else.
        ValueError: there is none, or a number is negative or stands for two functions.
    """
    listed = list(branch_fns.items()) if isinstance(branch_fns, Mapping) else list(branch_fns)
    if not listed:
        raise ValueError("switch_case: there are no functions to choose from")
    pairs = list(enumerate(listed)) if all(callable(f) for f in listed) else listed
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], int) or not callable(pair[1]):
            raise TypeError(f"switch_case: branch_fns must be functions, or pairs of an int and a function; it has {pair!r}")
    numbers = [number for number, _ in pairs]
    if min(numbers) < 0 or len(set(numbers)) != len(numbers):
        raise ValueError(f"switch_case: the numbers of branch_fns are {numbers}; they must be 0 or more, and each stand for one function")
    return dict(pairs)
