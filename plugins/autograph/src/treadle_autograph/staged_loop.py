"""A loop of the graph: its variables are found out by tracing the body, then it becomes a ``td.while_loop``.

A variable that has no value before the first turn starts as zeros, and may be read afterwards only if there was a turn. A Python number becomes a
tensor of the dtype that the body gives back where Python would have let it: ``total = 0`` may add up floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from treadle.conversion import convert_to_tensor
from treadle.contracts.spec import Spec
from treadle.dims import Dim
from treadle.dtypes import DType
from treadle.dtypes import bool as bool_
from treadle.errors import OpError
from treadle.functions.atomic import AtomicFunction
from treadle.graph.func_graph import FuncGraph
from treadle.shapes import TensorShape
from treadle.tensor import SymbolicTensor
from treadle_autograph.cells import EMPTY, Variables
from treadle_autograph.errors import VariableDTypeError, VariableShapeError, VariableTypeError
from treadle_autograph.staging import Arm, recorded
from treadle_autograph.values import (
    NUMBERS,
    Maybe,
    are_same,
    as_tensor,
    described,
    dims_of,
    dtype_of,
    fits,
    is_internal,
    is_value,
    shown,
    take_apart,
    zeros_like,
)

_MOST_ATTEMPTS = 6


class StagedLoop:
    """One loop.

    Args:
        variables: that its body binds.
        turn: runs the body; gets the loop's own tensors (a condition, a position) and gives the next ones.
        own: those before the first turn.
        goes_on: gives the condition, from the loop's own tensors and a function from a variable's name to its tensor.
        ran: whether there is a first turn.
        options: of ``set_loop_options``.
    """

    def __init__(
        self,
        variables: Variables,
        turn: Callable[[list[Any]], list[Any]],
        own: list[Any],
        goes_on: Callable[[list[Any], Callable[[str], Any]], Any],
        ran: Any,
        options: dict[str, Any],
    ) -> None:
        self._variables = variables
        self._turn = turn
        self._own = own
        self._goes_on = goes_on
        self._ran = ran
        self._maximum = options.get("maximum_iterations")
        invariants = [(tensor, TensorShape(shape)) for tensor, shape in options.get("shape_invariants") or ()]
        values = zip(variables.names, variables.read(), strict=True)
        self._carried = [_Carried(name, value, variables.where, invariants) for name, value in values]

    def run(self) -> None:
        """Put the loop in the graph, and let the variables be what they are after it."""
        graph, next_own = self._trace()
        outputs = [t for c in self._carried for t in c.outputs]
        function = Arm(graph, []).function(lambda: [*(as_tensor(t) for t in next_own), *(as_tensor(t, d) for t, d in outputs)])
        own = len(self._own)
        first = [*self._own, *(t for c in self._carried for t in c.first_tensors())]

        def condition(*tensors: Any) -> Any:
            return self._goes_on(list(tensors[:own]), lambda name: self._value_of(name, list(tensors[own:])))

        def body(*tensors: Any) -> Any:
            return self._call(function, list(tensors))

        from treadle.functions.control_flow import while_loop

        results = while_loop(condition, body, first, maximum_iterations=self._maximum)
        found = iter(results[own:])
        self._variables.write([c.result(found, self._ran) for c in self._carried])

    def _value_of(self, name: str, tensors: list[Any]) -> Any:
        found = iter(tensors)
        for carried in self._carried:
            value = carried.result(found, True)
            if carried.name == name:
                return value
        raise KeyError(name)

    def _call(self, function: AtomicFunction, tensors: list[Any]) -> list[Any]:
        own = len(self._own)
        found = iter(tensors[own:])
        arguments = [a for c in self._carried for a in c.arguments(found)]
        return function.call([*tensors[:own], *arguments])

    # ------------------------------------------------------------------ finding out

    def _trace(self) -> tuple[FuncGraph, list[Any]]:
        """The body, traced for variables whose dtypes hold before and after a turn."""
        for _ in range(_MOST_ATTEMPTS):
            try:
                graph, own, after = self._attempt(is_probe=False)
            except (TypeError, ValueError, OpError) as error:
                if not self._adapted(error):
                    raise
                continue
            if not [c for c, value in zip(self._carried, after, strict=True) if c.leave(value)]:
                return graph, own
        raise VariableTypeError(f"the variables of the loop at {self._variables.where} do not settle on dtypes")

    def _attempt(self, is_probe: bool) -> tuple[FuncGraph, list[Any], list[Any]]:
        with recorded("loop body", self._variables) as graph:
            own = [SymbolicTensor(graph.placeholder(Spec(t.dims, t.dtype), "turn")) for t in self._own]
            self._variables.write([c.enter(graph, is_probe) for c in self._carried])
            next_own = self._turn(own)
            after = self._variables.read()
        return graph, next_own, after

    def _adapted(self, error: Exception) -> bool:
        """True if a Python number was the cause, and has the dtype now that a first turn in Python gives it."""
        if not any(c.has_numbers for c in self._carried):
            return False
        try:
            *_, after = self._attempt(is_probe=True)
        except Exception:
            return False
        return any([c.adapt(value) for c, value in zip(self._carried, after, strict=True)])  # a list: each of them adapts


class _Carried:
    """One variable of a loop.

    Args:
        name: of it.
        value: before the first turn.
        where: the loop stands.
        invariants: pairs of a tensor and a shape that holds on every turn.

    Attributes:
        outputs: after a turn, the tensors that go into the next one, with the dtype for Python numbers.
    """

    def __init__(self, name: str, value: Any, where: str, invariants: list[tuple[Any, TensorShape]]) -> None:
        self.name = name
        self._where = where
        self._value = value
        self._there: Any = value.is_there if isinstance(value, Maybe) else value is not EMPTY
        self._is_known = value is not EMPTY
        self._leaves: list[_Leaf] = []
        self._structure: Any = None
        self._flag: Any = None
        self.outputs: list[tuple[Any, Any]] = []
        if self._is_known:
            self._structure, leaves = take_apart(value.value if isinstance(value, Maybe) else value)
            self._leaves = [_Leaf(leaf, invariants) for leaf in leaves]

    @property
    def has_numbers(self) -> bool:
        """True if a Python number is in it before the first turn."""
        return any(isinstance(leaf.first, NUMBERS) for leaf in self._leaves)

    @property
    def _carries_flag(self) -> bool:
        return self._is_known and self._there is not True and not is_internal(self.name)

    # ------------------------------------------------------------------ tracing

    def enter(self, graph: FuncGraph, is_probe: bool) -> Any:
        """What the variable is at the beginning of a turn."""
        if not self._is_known:
            return EMPTY
        value = self._structure.unflatten([leaf.enter(graph, self.name, is_probe) for leaf in self._leaves])
        if not self._carries_flag:
            return value
        self._flag = SymbolicTensor(graph.placeholder(Spec((), bool_), "is_there"))
        return Maybe(value, self._flag, self.name, self._where)

    def leave(self, after: Any) -> bool:
        """Note what the variable is at the end of a turn; True if the body must be traced again, for another beginning."""
        self.outputs = []
        value, there = (after.value, after.is_there) if isinstance(after, Maybe) else (after, True)
        if after is EMPTY:
            if self._is_known:
                raise self._refused(self._value, after)
            return False
        if not self._is_known:
            return self._learn(value, there)
        structure, leaves = take_apart(value)
        if structure != self._structure or (there is not True and not self._carries_flag):
            raise self._refused(self._value, after)
        for leaf, new in zip(self._leaves, leaves, strict=True):
            if not leaf.accepts(new):
                raise self._refused(leaf.first, new)
        if any([leaf.adapt(new) for leaf, new in zip(self._leaves, leaves, strict=True)]):
            return True
        for leaf, new in zip(self._leaves, leaves, strict=True):
            leaf.check(new, self.name, self._where)
            if leaf.is_carried:
                self.outputs.append((new, leaf.dtype))
        if self._carries_flag:
            self.outputs.append((there, bool_))
        return False

    def _learn(self, value: Any, there: Any) -> bool:
        """What a variable is that had no value before: zeros then, as they are never read."""
        self._structure, leaves = take_apart(value)
        self._leaves = [_Leaf(leaf, [], is_first=False) for leaf in leaves]
        if there is not True and not is_internal(self.name):
            self._is_known = True
            return True
        for leaf, new in zip(self._leaves, leaves, strict=True):
            if leaf.is_carried:
                self.outputs.append((new, leaf.dtype))
        return False

    def adapt(self, after: Any) -> bool:
        """Let Python numbers have the dtypes that they got in a turn; True if that changes one."""
        value = after.value if isinstance(after, Maybe) else after
        if not self._is_known or value is EMPTY:
            return False
        structure, leaves = take_apart(value)
        return structure == self._structure and any([leaf.adapt(new) for leaf, new in zip(self._leaves, leaves, strict=True) if is_value(new)])

    def _refused(self, before: Any, after: Any) -> VariableTypeError:
        return VariableTypeError(
            f"{shown(self.name)} is {described(before)} before the loop at {self._where}, and {described(after)} after a turn of it; in a loop that depends on a "
            "tensor it must be a tensor or a number at both times, in the same structure"
        )

    # ------------------------------------------------------------------ in the td.while_loop

    def first_tensors(self) -> list[Any]:
        """What the loop begins with."""
        found = [leaf.first_tensor() for leaf in self._leaves if leaf.is_carried]
        return [*found, convert_to_tensor(self._there)] if self._carries_flag else found

    def arguments(self, found: Iterator[Any]) -> list[Any]:
        """What the body's graph takes, from the loop's tensors."""
        given = []
        for leaf in self._leaves:
            tensor = next(found) if leaf.is_carried else leaf.first_tensor() if leaf.dtype is not None else None
            if self._is_known and leaf.dtype is not None:
                given.append(tensor)
        if self._carries_flag:
            given.append(next(found))
        return given

    def result(self, found: Iterator[Any], ran: Any) -> Any:
        """What the variable is, from the loop's tensors."""
        if self._structure is None:
            return EMPTY
        if self._value is not EMPTY and not self._carries_flag and not any(leaf.is_carried for leaf in self._leaves):
            return self._value
        value = self._structure.unflatten([next(found) if leaf.is_carried else leaf.first for leaf in self._leaves])
        if self._carries_flag:
            return Maybe(value, next(found), self.name, self._where)
        if not self._is_known and ran is not True and not is_internal(self.name):
            return Maybe(value, ran, self.name, self._where)
        return value


class _Leaf:
    """One leaf of a variable of a loop.

    Attributes:
        first: before the first turn; something alike where there was nothing.
        dtype: that it has as a tensor; None for what is no value.
        is_carried: it may change from turn to turn.
    """

    def __init__(self, first: Any, invariants: list[tuple[Any, TensorShape]], is_first: bool = True) -> None:
        self.first = first
        self.dtype: DType | None = dtype_of(first) if is_value(first) else None
        self.is_carried = self.dtype is not None
        self._is_first = is_first
        self._inside: Any = None
        self._dims: Any = None
        if self.dtype is not None:
            shape = next((shape for tensor, shape in invariants if tensor is first), None)
            dims = dims_of(first) if shape is None else None if shape.rank is None else tuple(shape.as_list())
            self._dims = None if dims is None else tuple(d if isinstance(d, int) else Dim.symbol() for d in dims)

    def enter(self, graph: FuncGraph, name: str, is_probe: bool) -> Any:
        if self.dtype is None or (is_probe and isinstance(self.first, NUMBERS)):
            return self.first
        self._inside = SymbolicTensor(graph.placeholder(Spec(self._dims, self.dtype), name.replace(".", "_")))
        return self._inside

    def accepts(self, new: Any) -> bool:
        """True if a leaf is of the same kind after a turn."""
        return is_value(new) if self.dtype is not None else are_same(self.first, new)

    def adapt(self, new: Any) -> bool:
        """Take the dtype that a Python number has after a turn; True if that is another one."""
        if self.dtype is None or not isinstance(self.first, NUMBERS):
            return False
        dtype = self.dtype if isinstance(new, NUMBERS) and fits(dtype_of(new), self.dtype) else dtype_of(new)
        if dtype is self.dtype or not fits(dtype_of(self.first), dtype) or fits(dtype, self.dtype):
            return False
        self.dtype = dtype
        return True

    def check(self, new: Any, name: str, where: str) -> None:
        """Refuse another dtype or shape after a turn, and note whether the leaf changes."""
        if self.dtype is None:
            return
        if new is self._inside:
            self.is_carried = False
            return
        self.is_carried = True
        dtype = dtype_of(new)
        if dtype is not self.dtype and not (isinstance(new, NUMBERS) and fits(dtype, self.dtype)):
            raise VariableDTypeError(
                f"{shown(name)} is {self._described()} before the loop at {where}, and {described(new)} after a turn of it; the dtypes {self.dtype.name} and "
                f"{dtype.name} must be equal. Use td.cast in the loop, or on the first value"
            )
        dims = dims_of(new)
        mine = self._dims
        if mine is None or (dims is not None and len(dims) == len(mine) and all(not isinstance(m, int) or m == d for m, d in zip(mine, dims, strict=True))):
            return
        raise VariableShapeError(
            f"{shown(name)} is {self._described()} before the loop at {where}, and {described(new)} after a turn of it; a loop variable must keep its shape, unless "
            "td.autograph.experimental.set_loop_options(shape_invariants=[(variable, shape)]), the first statement of the loop, says otherwise"
        )

    def _described(self) -> str:
        return f"a tensor of shape {TensorShape(self._dims)} and dtype {self.dtype.name}" if self.dtype is not None else described(self.first)

    def first_tensor(self) -> Any:
        """The leaf as the loop begins with it."""
        if not self._is_first:
            return zeros_like(self.first)
        return as_tensor(self.first, self.dtype)

