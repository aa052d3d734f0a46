"""A variable of a loop of the graph, leaf by leaf: what it is before the first turn, at the beginning of a turn, and after one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.dims import Dim, with_symbols
from treadle.dtypes import DType
from treadle.dtypes import bool as bool_
from treadle.graph.func_graph import FuncGraph
from treadle.shapes import TensorShape
from treadle.symbolic import SymbolicTensor
from treadle_autograph.cells import EMPTY, Maybe
from treadle_autograph.composites import is_composite
from treadle_autograph.errors import VariableDTypeError, VariableShapeError, VariableTypeError
from treadle_autograph.lasting import are_alike
from treadle_autograph.values import (
    NUMBERS,
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


class Carried:
    """One variable of a loop.

    Args:
        name: of it.
        value: before the first turn.
        where: the loop stands.
        invariants: pairs of a tensor and a shape that holds on every turn.
        is_new: it is an attribute or item that was not there before the loop; a first turn may have made it.
        kept: the value, if it is new and may outlive the graph; else ``EMPTY``.

    Attributes:
        kept: of an attribute or item that every turn makes alike, the value; else ``EMPTY``.
        outputs: after a turn, the tensors that go into the next one, with the dtype for Python numbers.
    """

    def __init__(self, name: str, value: Any, where: str, invariants: list[tuple[Any, TensorShape]], is_new: bool, kept: Any) -> None:
        self.name = name
        self._where = where
        self._value = value
        self._invariants = invariants
        self._is_new = is_new
        self._there: Any = value.is_there if isinstance(value, Maybe) else value is not EMPTY
        self.kept = kept
        self._is_known = value is not EMPTY and self.kept is EMPTY
        self._leaves: list[Leaf] = []
        self._structure: Any = None
        self._flag: Any = None
        self.outputs: list[tuple[Any, Any]] = []
        if self._is_known:
            self._begin(value)

    def _begin(self, value: Any) -> None:
        self._structure, leaves = take_apart(value.value if isinstance(value, Maybe) else value)
        self._leaves = [Leaf(leaf, self._invariants) for leaf in leaves]

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
            return self.kept
        value = self._structure.unflatten([leaf.enter(graph, self.name, is_probe) for leaf in self._leaves])
        if not self._carries_flag:
            return value
        self._flag = SymbolicTensor(graph.placeholder(Spec((), bool_), "is_there"))
        return Maybe(value, self._flag, self.name, self._where)

    def leave(self, after: Any, kept: Any, is_missed: bool) -> bool:
        """Note what the variable is at the end of a turn; True if the body must be traced again, for another beginning.

        Args:
            after: its value.
            kept: the same, if the turn makes it and it may outlive the graph; else ``EMPTY``.
            is_missed: the turn reads it before it has one.
        """
        self.outputs = []
        if self._is_new and not self._is_known and after is not EMPTY:
            return self._keep(after, kept)
        value, there = (after.value, after.is_there) if isinstance(after, Maybe) else (after, True)
        if after is EMPTY:
            if self._is_known:
                raise self._refused(self._value, after)
            return False
        if not self._is_known:
            return self._learn(value, there is True and not is_missed)
        structure, leaves = take_apart(value)
        if structure != self._structure or (there is not True and not self._carries_flag):
            raise self._refused(self._value, after)
        for leaf, new in zip(self._leaves, leaves, strict=True):
            if not leaf.accepts(new):
                raise self._refused(leaf.first, new)
        if _all_adapt(self._leaves, leaves):
            return True
        for leaf, new in zip(self._leaves, leaves, strict=True):
            leaf.check(new, self.name, self._where)
            if leaf.is_carried:
                self.outputs.append((new, leaf.dtype))
        if self._carries_flag:
            self.outputs.append((there, bool_))
        return False

    def _keep(self, after: Any, kept: Any) -> bool:
        """Let an attribute or item be what every turn makes it, once; what turns count or compute goes through the graph."""
        is_news = self.kept is EMPTY
        if kept is not EMPTY and (is_news or are_alike(self.kept, kept)):
            self.kept = kept
            return is_news
        if self._value is EMPTY:
            raise self._refused(EMPTY, after)
        self.kept, self._is_known = EMPTY, True
        self._begin(self._value)
        return True

    def _learn(self, value: Any, is_always_there: bool) -> bool:
        """What a variable is that had no value before: zeros then, as they are never read."""
        self._structure, leaves = take_apart(value)
        self._leaves = [Leaf(leaf, [], is_first=False) for leaf in leaves]
        if not is_always_there and not is_internal(self.name):
            self._is_known = True
            return True
        for leaf, new in zip(self._leaves, leaves, strict=True):
            if leaf.is_carried:
                self.outputs.append((new, leaf.dtype))
        return False

    def adapt(self, after: Any) -> bool:
        """Let Python numbers have the dtypes that they got in a turn, and tensors their sizes; True if that changes one."""
        value = after.value if isinstance(after, Maybe) else after
        if not self._is_known or value is EMPTY:
            return False
        structure, leaves = take_apart(value)
        return structure == self._structure and all(is_value(new) for new in leaves) and _all_adapt(self._leaves, leaves)

    def _refused(self, before: Any, after: Any) -> VariableTypeError:
        return VariableTypeError(
            f"{shown(self.name)} is {described(before)} before the loop at {self._where}, and {described(after)} after a turn of it; in a loop that "
            "depends on a tensor it must be a tensor or a number at both times, in the same structure"
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
            return self.kept
        if self._value is not EMPTY and not self._carries_flag and not any(leaf.is_carried for leaf in self._leaves):
            return self._value
        value = self._structure.unflatten([next(found) if leaf.is_carried else leaf.first for leaf in self._leaves])
        if self._carries_flag:
            return Maybe(value, next(found), self.name, self._where)
        if not self._is_known and ran is not True and not is_internal(self.name):
            return Maybe(value, ran, self.name, self._where)
        return value


class Leaf:
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
        self._is_fixed = False
        if self.dtype is not None:
            shape = next((shape for tensor, shape in invariants if tensor is first), None)
            self._is_fixed = shape is not None
            dims = dims_of(first) if shape is None else None if shape.rank is None else tuple(shape.as_list())
            self._dims = with_symbols(dims)

    def enter(self, graph: FuncGraph, name: str, is_probe: bool) -> Any:
        if self.dtype is None or (is_probe and isinstance(self.first, NUMBERS)):
            return self.first
        self._inside = SymbolicTensor(graph.placeholder(Spec(self._dims, self.dtype), re.sub(r"\W+", "_", name)))
        return self._inside

    def accepts(self, new: Any) -> bool:
        """True if a leaf is of the same kind after a turn."""
        return is_value(new) if self.dtype is not None else are_same(self.first, new)

    def adapt(self, new: Any) -> bool:
        """Leave sizes open that a turn changes, and take the dtype that a Python number has after it; True if either is news."""
        if self.dtype is None or new is self._inside:
            return False
        if not self._is_fixed and not self._keeps_shape(dims_of(new)):
            mine, dims = self._dims, dims_of(new)
            known = dims is not None and len(dims) == len(mine)
            self._dims = tuple(m if not isinstance(m, int) or m == d else Dim.symbol() for m, d in zip(mine, dims, strict=True)) if known else None
            return True
        if not isinstance(self.first, NUMBERS):
            return False
        dtype = dtype_of(new)
        if dtype is self.dtype or not fits(dtype_of(self.first), dtype) or (isinstance(new, NUMBERS) and fits(dtype, self.dtype)):
            return False
        self.dtype = dtype
        return True

    def check(self, new: Any, name: str, where: str) -> None:
        """Refuse another dtype or shape after a turn, and note whether the leaf changes."""
        if self.dtype is None:
            return
        if new is self._inside or (is_composite(name) and isinstance(new, NUMBERS) and are_same(self.first, new)):
            self.is_carried = False  # objects keep Python numbers that stay what they are
            return
        self.is_carried = True
        dtype = dtype_of(new)
        if dtype is not self.dtype and not (isinstance(new, NUMBERS) and fits(dtype, self.dtype)):
            raise VariableDTypeError(
                f"{shown(name)} is {self._described()} before the loop at {where}, and {described(new)} after a turn of it; the dtypes "
                f"{self.dtype.name} and {dtype.name} must be equal. Use td.cast in the loop, or on the first value"
            )
        if not self._keeps_shape(dims_of(new)):
            raise VariableShapeError(
                f"{shown(name)} is {self._described()} at {where} by set_loop_options(shape_invariants=...), and {described(new)} after a turn of "
                "the loop; give it a shape with None for the sizes that change"
            )

    def _keeps_shape(self, dims: Any) -> bool:
        mine = self._dims
        if mine is None:
            return True
        return dims is not None and len(dims) == len(mine) and all(not isinstance(m, int) or m == d for m, d in zip(mine, dims, strict=True))

    def _described(self) -> str:
        return f"a tensor of shape {TensorShape(self._dims)} and dtype {self.dtype.name}" if self.dtype is not None else described(self.first)

    def first_tensor(self) -> Any:
        """The leaf as the loop begins with it."""
        if not self._is_first:
            return zeros_like(self.first)
        return as_tensor(self.first, self.dtype)


def _all_adapt(leaves: list[Leaf], new: list[Any]) -> bool:
    """Let every leaf adapt; True if one changed."""
    return sum([leaf.adapt(value) for leaf, value in zip(leaves, new, strict=True)]) > 0
