"""Branches that depend on a tensor: both arms are traced, made alike, and put behind ``td.cond``.

Each arm is traced once, into a graph of its own. When both are known, so is what the variables are after either; only then are the graphs' outputs
fixed, and the arms of the ``td.cond`` call the graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from treadle import state
from treadle.contracts.spec import Spec
from treadle.dtypes import DType
from treadle.functions.atomic import AtomicFunction
from treadle.graph.func_graph import FuncGraph
from treadle.graph.structural import CONST, PLACEHOLDER
from treadle.registry import registry
from treadle.state import LOCAL
from treadle.tensor import SymbolicTensor, Tensor
from treadle_autograph.cells import EMPTY, Variables
from treadle_autograph.errors import VariableDTypeError, VariableTypeError
from treadle_autograph.values import (
    NUMBERS,
    Maybe,
    are_same,
    as_tensor,
    described,
    is_internal,
    is_value,
    kind_of,
    placeholder_value,
    shown,
    spec_of,
    take_apart,
)

_DEEPEST = 64


class _Depth:
    """How many staged branches and loops this thread is in; a recursion that a tensor should end shows here."""

    def __init__(self) -> None:
        self.count = 0


class Arm:
    """One traced way through a branch.

    Attributes:
        graph: what was recorded.
        values: what the variables are after it; the result last.
    """

    def __init__(self, graph: FuncGraph, values: list[Any]) -> None:
        self.graph = graph
        self.values = values

    def function(self, tensors: Callable[[], Sequence[Any]]) -> AtomicFunction:
        """The arm as a function that gives these tensors; they are made in its graph."""
        with state.recording(self.graph):
            self.graph.outputs = [self.graph.value_of(t) for t in tensors()]
        self.graph.release_constants()
        return AtomicFunction(self.graph, self.graph.name)

    @property
    def is_free_of_effects(self) -> bool:
        """True if nobody could tell whether it ran."""
        return all(node.op.pure and not node.op.can_fail for node in self.graph.nodes)


@contextmanager
def recorded(name: str, variables: Variables | None) -> Iterator[FuncGraph]:
    """Record into a new graph inside the one being traced; the variables are afterwards as they were."""
    outer = LOCAL.graph
    graph = FuncGraph(name, outer)
    depth = sum(1 for _ in _outer_graphs(graph))
    if depth > _DEEPEST:
        raise RecursionError(
            f"{depth} branches and loops that depend on tensors are inside each other: a function that calls itself under a condition that is a tensor is "
            "traced without an end. Use a `while` loop, or let a Python value end the recursion"
        )
    restore = variables.snapshot() if variables is not None else None
    try:
        with state.recording(graph):
            yield graph
    finally:
        if restore is not None:
            restore()
        outer.created += graph.created


def _outer_graphs(graph: Any) -> Iterator[Any]:
    while graph is not None:
        yield graph
        graph = graph.outer


def trace_arm(function: Callable[[], Any], variables: Variables | None, name: str) -> Arm:
    """Trace one way through a branch."""
    with recorded(name, variables) as graph:
        result = function()
        values = [] if variables is None else variables.read()
    return Arm(graph, [*values, result])


def branch(condition: Any, arms: Sequence[Callable[[], Any]], variables: Variables | None, result_name: str = "the value", where: str = "") -> Any:
    """Run one of two functions by a tensor, and let the variables be what they are after it.

    Args:
        condition: a bool scalar tensor.
        arms: the function if it holds, and the other one.
        variables: that they bind.
        result_name: of what they give, for messages.
        where: the line of the branch, for messages.

    Returns:
        What the function gives.
    """
    taken, other = (trace_arm(f, variables, name) for f, name in zip(arms, ("true branch", "false branch"), strict=True))
    names = [*(variables.names if variables is not None else ()), result_name]
    merges = [_Merge(n, a, b, where or (variables.where if variables is not None else "")) for n, a, b in zip(names, taken.values, other.values, strict=True)]
    tensors = _join(condition, taken, other, merges)
    found = iter(tensors)
    values = [m.merged(condition, found) for m in merges]
    if variables is not None:
        variables.write(values[:-1])
    return values[-1]


def _join(condition: Any, taken: Arm, other: Arm, merges: list[_Merge]) -> list[Any]:
    from treadle.functions.control_flow import cond

    if not any(m.pairs for m in merges) and taken.is_free_of_effects and other.is_free_of_effects:
        return []
    functions = [arm.function(lambda side=side: [t for m in merges for t in m.tensors(side)]) for side, arm in enumerate((taken, other))]  # type: ignore[misc]
    return cond(condition, lambda: functions[0].call([]), lambda: functions[1].call([]))  # type: ignore[no-any-return]


class _Merge:
    """One variable after two ways: which leaves differ, and what they become.

    Attributes:
        pairs: the leaves that go through the graph, and the dtype that they have then.
    """

    def __init__(self, name: str, a: Any, b: Any, where: str) -> None:
        self._name = name
        self._where = where
        self._sides = (a, b)
        self.pairs: list[tuple[Any, Any, DType | None]] = []
        self._same = are_same(a, b)
        self._leaves: list[Any] = []
        self._structure: Any = None
        self._flag: tuple[Any, Any] | None = None
        if self._same:
            return
        there = [s.is_there if isinstance(s, Maybe) else s is not EMPTY for s in (a, b)]
        values = [s.value if isinstance(s, Maybe) else s for s in (a, b)]
        if not is_internal(name) and there != [True, True]:
            self._flag = (there[0], there[1])
        self._compare(*values)
        if self._flag is not None and not all(isinstance(f, bool) for f in self._flag):
            self.pairs.append((*self._flag, None))

    def _compare(self, a: Any, b: Any) -> None:
        if a is EMPTY or b is EMPTY:
            self._structure, leaves = take_apart(b if a is EMPTY else a)
            sides = [(EMPTY, leaf) if a is EMPTY else (leaf, EMPTY) for leaf in leaves]
        else:
            (self._structure, first), (structure, second) = take_apart(a), take_apart(b)
            if structure != self._structure:
                raise self._refused(a, b)
            sides = list(zip(first, second, strict=True))
        for x, y in sides:
            if are_same(x, y) or (x is EMPTY and not is_value(y)) or (y is EMPTY and not is_value(x)):
                self._leaves.append(y if x is EMPTY else x)
                continue
            if not all(leaf is EMPTY or is_value(leaf) for leaf in (x, y)):
                raise self._refused(x, y)
            self._leaves.append(_THROUGH)
            self.pairs.append((x, y, self._dtype(x, y)))

    def _refused(self, a: Any, b: Any) -> VariableTypeError:
        return VariableTypeError(
            f"{shown(self._name)} is {described(a)} if the condition at {self._where} holds, and {described(b)} if not; after a branch that depends on a tensor a "
            "variable must be a tensor or number on both ways, in the same structure, or the same Python value"
        )

    def _dtype(self, a: Any, b: Any) -> DType | None:
        """The dtype of a leaf after the branch."""
        if a is EMPTY or b is EMPTY:
            return None
        numbers = [x for x in (a, b) if isinstance(x, NUMBERS)]
        if len(numbers) == 2:
            kinds = {kind_of(x) for x in numbers}
            if len(kinds) == 1 or bool not in kinds:
                return as_tensor(sum(numbers[:1], kind_of(numbers[1])(0)) if len(kinds) > 1 else numbers[0]).dtype if len(kinds) > 1 else None  # type: ignore[no-any-return]
        hint = next((as_tensor(x).dtype for x in (a, b) if not isinstance(x, NUMBERS)), None)
        dtypes = [as_tensor(x, hint).dtype for x in (a, b)]
        if dtypes[0] is not dtypes[1]:
            raise VariableDTypeError(
                f"{shown(self._name)} is {described(a)} if the condition at {self._where} holds, and {described(b)} if not; the dtypes "
                f"{dtypes[0].name} and {dtypes[1].name} must be equal. Use td.cast on one of them"
            )
        return hint

    def tensors(self, side: int) -> list[Any]:
        """The leaves that one arm gives, as tensors."""
        found = []
        for pair in self.pairs:
            leaf, opposite, dtype = pair[side], pair[1 - side], pair[2]
            found.append(placeholder_value(_outer_spec(opposite)) if leaf is EMPTY else as_tensor(leaf, dtype))
        return found

    def merged(self, condition: Any, found: Iterator[Any]) -> Any:
        """The variable after the branch."""
        if self._same:
            return self._sides[0]
        value = self._structure.unflatten([next(found) if leaf is _THROUGH else leaf for leaf in self._leaves])
        if self._flag is None:
            return value
        if all(isinstance(f, bool) for f in self._flag):
            there = condition if self._flag[0] else registry.role("__invert__")(condition)
        else:
            there = next(found)
        return Maybe(value, there, self._name, self._where)


_THROUGH = object()


def _outer_spec(leaf: Any) -> Spec:
    return spec_of(as_tensor(leaf))


def trace_logic(condition: Any, rest: Callable[[], Any], is_and: bool) -> Any:
    """``condition and rest()`` or ``condition or rest()`` where both are bool scalars; None, after nothing was done, if they are not.

    A logical op will do where nobody could tell that the second operand was computed for nothing; else it stands in a branch.
    """
    raise NotImplementedError


__all__ = ["CONST", "PLACEHOLDER", "SymbolicTensor", "Tensor"]
