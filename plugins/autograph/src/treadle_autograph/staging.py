"""Branches that depend on a tensor: both arms are traced, made alike, and put behind ``td.cond``.

Each arm is traced once, into a graph of its own. When both are known, so is what the variables are after either; only then are the graphs' outputs
fixed, and the arms of the ``td.cond`` call the graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from treadle import state
from treadle.functions.atomic import AtomicFunction
from treadle.graph.func_graph import FuncGraph
from treadle.registry import registry
from treadle.state import LOCAL
from treadle.tensor import Tensor
from treadle_autograph.cells import EMPTY, NEVER, Maybe, Variables
from treadle_autograph.composites import is_composite, is_item
from treadle_autograph.errors import ChangedContainerError, VariableDTypeError, VariableTypeError
from treadle_autograph.lasting import are_alike, is_kept, lasting_of
from treadle_autograph.outside import inside
from treadle_autograph.raising import is_put_off, recorded_in
from treadle_autograph.values import are_same, as_it_is, as_tensor, common_dtype, described, is_internal, is_value, shown, take_apart, zeros_like

_DEEPEST = 64
_THROUGH = object()


class Arm:
    """One traced way through a branch, or through a turn of a loop.

    Attributes:
        graph: what was recorded.
        values: what the variables are after it; what it gave comes last.
        contents: the same, with the contents that lists and dicts among them have there.
        lasting: for each variable that is an attribute or item that it makes, its value if that may outlive the graph, else ``EMPTY``.
        error: that it ends with, or None.
        missed: names of variables that it reads before they have a value.
    """

    def __init__(
        self, graph: FuncGraph, values: list[Any], error: Exception | None = None, missed: Iterable[str] = (), lasting: list[Any] | None = None
    ) -> None:
        self.graph = graph
        self.values = values
        self.contents = [as_it_is(value) for value in values]
        self.lasting = [EMPTY] * len(values) if lasting is None else lasting
        self.error = error
        self.missed = missed

    def function(self, outputs: Callable[[], Sequence[Any]]) -> AtomicFunction:
        """The arm as a function that gives the tensors that ``outputs`` makes in its graph."""
        with state.recording(self.graph):
            self.graph.outputs = [self.graph.value_of(t) for t in outputs()]
        self.graph.release_constants()
        return AtomicFunction(self.graph, self.graph.name)

    @property
    def is_harmless(self) -> bool:
        """True if nobody could tell whether it ran."""
        return all(node.op.effect in ("pure", "reads") and not node.op.can_fail for node in self.graph.nodes)


def trace_arm(function: Callable[[], Any], variables: Variables | None, name: str) -> Arm:
    """Trace one way into a new graph inside the one being traced; the variables are afterwards as they were.

    Raises:
        RecursionError: there are so many graphs inside each other that a recursion without an end must be the cause.
    """
    outer = LOCAL.graph
    _refuse_endless(outer)
    graph = FuncGraph(name, outer)
    snapshot = variables.snapshot() if variables is not None else None
    try:
        with inside(variables) as before, state.recording(graph):
            try:
                result = function()
            except Exception as error:
                if not is_put_off(error, graph):
                    raise
                names = () if variables is None else variables.names
                return Arm(graph, [NEVER] * (len(names) + 1), error, before.missed)
            if variables is None or snapshot is None:
                return Arm(graph, [result], missed=before.missed)
            if (moved := snapshot.moved()) is not None:
                raise ChangedContainerError(
                    f"the branch or loop at {variables.where} that depends on a tensor sets items of the list {moved!r}, and moves or takes others "
                    f"(by a method such as pop, or in a function that it calls), which would happen once, while tracing. Make a new list of {moved!r}"
                )
            values = variables.read()
            return Arm(graph, [*values, result], missed=before.missed, lasting=[*lasting_of(variables, values), EMPTY])
    finally:
        if snapshot is not None:
            snapshot.restore()
        outer.created += graph.created


def _refuse_endless(graph: FuncGraph) -> None:
    depth, around = 0, graph
    while around is not None:
        depth, around = depth + 1, around.outer
    if depth > _DEEPEST:
        raise RecursionError(
            f"{depth} branches and loops that depend on tensors stand inside each other: a function that calls itself under a condition that is a "
            "tensor is traced without an end. Use a `while` loop, or let a Python value end the recursion"
        )


def branch(condition: Any, arms: Sequence[Callable[[], Any]], variables: Variables | None, what: str, where: str) -> Any:
    """Run one of two functions by a tensor, and let the variables be what they are after it.

    Args:
        condition: a bool scalar tensor.
        arms: the function if it holds, and the other one.
        variables: that they bind.
        what: they give, for messages.
        where: the branch stands, for messages.

    Returns:
        What the function gives.
    """
    taken, other = (trace_arm(function, variables, f"{which} branch") for function, which in zip(arms, ("true", "false"), strict=True))
    return join(condition, taken, other, variables, what, where)


def join(condition: Any, taken: Arm, other: Arm, variables: Variables | None, what: str, where: str) -> Any:
    """Put two traced arms behind a ``td.cond``; as ``branch``."""
    from treadle.functions.branches import cond

    if taken.error is not None and other.error is not None:
        first, second = taken.function(list), other.function(list)
        cond(condition, lambda: first.call([]), lambda: second.call([]))
        raise recorded_in(LOCAL.graph, taken.error)
    names = [*(() if variables is None else variables.names), what]
    merges = [_Merge(name, *_sides(name, taken, other, i), where) for i, name in enumerate(names)]
    tensors: Iterator[Any] = iter(())
    if any(merge.pairs for merge in merges) or not (taken.is_harmless and other.is_harmless):
        first, second = (arm.function(partial(_outputs, merges, side)) for side, arm in enumerate((taken, other)))
        tensors = iter(cond(condition, lambda: first.call([]), lambda: second.call([])))
    values = [merge.result(condition, tensors) for merge in merges]
    if variables is not None:
        variables.write(values[:-1])
    return values[-1]


def _sides(name: str, taken: Arm, other: Arm, i: int) -> tuple[Any, Any]:
    """A variable after either way. An item that only one way makes is on both, if its value may last: so caches are filled."""
    a, b = taken.values[i], other.values[i]
    if a is b:
        return a, a
    if is_item(name):
        for arm, there in ((taken, b), (other, a)):
            made = arm.lasting[i]
            if made is not EMPTY and (there is EMPTY or (is_kept(there) and are_alike(made, there))):
                return made, made
    return taken.contents[i], other.contents[i]


def _outputs(merges: list[_Merge], side: int) -> list[Any]:
    return [tensor for merge in merges for tensor in merge.tensors(side)]


class _Merge:
    """One variable after two ways.

    Attributes:
        pairs: its leaves that go through the graph, as they are on either way, with the dtype for Python numbers.
    """

    def __init__(self, name: str, a: Any, b: Any, where: str) -> None:
        self._name = name
        self._where = where
        self._sides = (a, b)
        self.pairs: list[tuple[Any, Any, Any]] = []
        self._leaves: list[Any] = []
        self._there: list[Any] | None = None
        self._is_same = are_same(a, b)
        if self._is_same:
            return
        if any(side is EMPTY for side in (a, b)) and any(side is NEVER for side in (a, b)):
            self._is_same, self._sides = True, (EMPTY, EMPTY)
            return
        there = [side.is_there if isinstance(side, Maybe) else side is not EMPTY for side in (a, b)]
        if any(flag is not True for flag in there) and not is_internal(name):
            self._there = there
        self._compare(*(side.value if isinstance(side, Maybe) else EMPTY if side is NEVER else side for side in (a, b)))
        if self._there is not None and any(isinstance(flag, Tensor) for flag in self._there):
            self.pairs.append((there[0], there[1], None))

    def _compare(self, a: Any, b: Any) -> None:
        if is_composite(self._name) and any(side is EMPTY for side in self._sides):
            raise self._refused(a, b)
        self._structure, first = take_apart(b if a is EMPTY else a)
        structure, second = take_apart(a if b is EMPTY else b)
        if structure != self._structure:
            raise self._refused(a, b)
        for x, y in zip(first, second, strict=True):
            if a is not EMPTY and b is not EMPTY and not are_same(x, y):
                if not (is_value(x) and is_value(y)):
                    raise self._refused(x, y)
                self._through(x, y, self._dtype(x, y))
            elif (a is EMPTY or b is EMPTY) and is_value(x):
                self._through(EMPTY if a is EMPTY else x, EMPTY if b is EMPTY else y, None)
            else:
                self._leaves.append(x)

    def _through(self, x: Any, y: Any, dtype: Any) -> None:
        self._leaves.append(_THROUGH)
        self.pairs.append((x, y, dtype))

    def _dtype(self, x: Any, y: Any) -> Any:
        dtype, others = common_dtype(x, y)
        if dtype is None:
            raise VariableDTypeError(
                f"{shown(self._name)} is {described(x)} if the condition at {self._where} holds, and {described(y)} if not; the dtypes {others} must "
                "be equal. Use td.cast on one of them"
            )
        return dtype

    def _refused(self, a: Any, b: Any) -> VariableTypeError:
        return VariableTypeError(
            f"{shown(self._name)} is {described(a)} if the condition at {self._where} holds, and {described(b)} if not; after a branch that depends "
            "on a tensor it must be a tensor or a number on both ways, in the same structure, or the same Python value"
        )

    def tensors(self, side: int) -> list[Any]:
        """The leaves that go through, as tensors of one arm."""
        return [zeros_like(pair[1 - side]) if pair[side] is EMPTY else as_tensor(pair[side], pair[2]) for pair in self.pairs]

    def result(self, condition: Any, found: Iterator[Any]) -> Any:
        """What the variable is after the branch."""
        if self._is_same:
            return self._sides[0]
        value = self._structure.unflatten([next(found) if leaf is _THROUGH else leaf for leaf in self._leaves])
        if self._there is None:
            return value
        if any(isinstance(flag, Tensor) for flag in self._there):
            there = next(found)
        else:
            there = condition if self._there[0] else registry.role("__invert__")(condition)
        return Maybe(value, there, self._name, self._where)
