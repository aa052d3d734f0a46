"""Going over the rows of tensors: eagerly a Python loop, while tracing one loop of the graph.

The body of that loop is traced once; it reads rows from TensorArrays and writes results to others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treadle import nest, state
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.dims import known_different, with_symbols
from treadle.dtypes import DType, int32
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle.functions.loops import while_loop
from treadle.graph.func_graph import FuncGraph
from treadle.shapes import TensorShape
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle_ops.broadcasting import axis_size, shape_of
from treadle_ops.casting import cast
from treadle_ops.comparison import greater, greater_equal, less
from treadle_ops.creation import zeros
from treadle_ops.elementwise import add, multiply, subtract
from treadle_ops.extremes import maximum
from treadle_ops.indexing import getitem
from treadle_ops.joining import concat_op, stack, unstack
from treadle_ops.required_rows import required_rows
from treadle_ops.shaping import ensure_shape
from treadle_ops.tensor_array import TensorArray
from treadle_ops.tensor_lists import UNKNOWN, tensor_list_stack

Step = Callable[[list[Any], list[Any]], tuple[list[Any], list[Any]]]
"""From what is carried and one row of each element to what is carried on and what is gathered."""


class Rows:
    """The elements of a call, all with the same first size.

    Args:
        elems: a tensor or a structure of them.
        what: the function's name, for messages.
        broadcasts: whether a first size of 1 stands for any.
        least: how many rows there must be.

    Attributes:
        tensors: the elements in order.
        count: their first size, where it is known; else None.
    """

    def __init__(self, elems: Any, what: str, broadcasts: bool = False, least: int = 0) -> None:
        self.structure = elems
        self.what = what
        self.tensors = [convert_to_tensor(e) for e in nest.flatten(elems)]
        if not self.tensors:
            raise ValueError(f"{what}: elems has no tensors; give at least one")
        if any(t.shape.rank == 0 for t in self.tensors):
            raise ShapeError(f"{what}: elements in elems must be 1+ dimensional tensors, not scalars")
        sizes = [None if t.dims is None else t.dims[0] for t in self.tensors]
        self._repeated = {i for i, size in enumerate(sizes) if broadcasts and size == 1}
        if len(self._repeated) == len(sizes):
            self._repeated.clear()
        self._whole = [i for i in range(len(sizes)) if i not in self._repeated]
        self._may_repeat = {i for i in self._whole if broadcasts and not isinstance(sizes[i], int)}
        known = [sizes[i] for i in self._whole if sizes[i] is not None and i not in self._may_repeat]
        for size in known[1:]:
            if known_different(known[0], size):
                raise ShapeError(f"{what}: the elements have the first sizes {known[0]} and {size}; they must be equal")
        self.count: int | None = next((size for size in known if isinstance(size, int)), None)
        self.tensors = [_with_rows(t, what, least) for t in self.tensors]

    def is_repeated(self, i: int) -> bool:
        """True for an element with one row that stands for any number of them."""
        return i in self._repeated

    def may_be_repeated(self, i: int) -> bool:
        """True where that shows only when the graph runs."""
        return i in self._may_repeat

    def pack(self, row: Sequence[Any]) -> Any:
        """One row of each element, in their structure."""
        return nest.pack_sequence_as(self.structure, list(row))

    def size(self, less: int = 0) -> Any:
        """The number of rows, or some less: a tensor, or an int where it is known."""
        if self.count is not None:
            return max(self.count - less, 0)
        first, *others = self._whole
        size = axis_size(self.tensors[first], axis=0)
        for i in others if self._may_repeat else ():
            size = maximum(size, axis_size(self.tensors[i], axis=0))
        return subtract(size, less) if less else size

    def end(self, last: bool) -> list[Any]:
        """The last row, or the first one."""
        return [getitem(t, -1 if last and i not in self._repeated else 0) for i, t in enumerate(self.tensors)]

    def each(self) -> list[list[Any]]:
        """Every row, eagerly."""
        columns = [unstack(t) for t in self.tensors]
        return [[column[0 if i in self._repeated else turn] for i, column in enumerate(columns)] for turn in range(self.count or 0)]

    def reader(self) -> Callable[[Any], list[Any]]:
        """A function that gives the row of a number, while tracing."""
        arrays = [TensorArray(t.dtype, size=0, dynamic_size=True).unstack(t) for t in self.tensors]

        def position(i: int, number: Any) -> Any:
            if i in self._repeated:
                return 0
            if i in self._may_repeat:
                return multiply(number, cast(greater(axis_size(self.tensors[i], axis=0), 1), int32))
            return number

        return lambda number: [array.read(position(i, number)) for i, array in enumerate(arrays)]

    def symbolic(self, graph: FuncGraph) -> list[Any]:
        """A row of placeholders."""
        dims = [None if t.dims is None else with_symbols(t.dims[1:]) for t in self.tensors]
        return [SymbolicTensor(graph.placeholder(Spec(d, t.dtype), "row")) for d, t in zip(dims, self.tensors, strict=True)]


def _with_rows(tensor: Any, what: str, least: int) -> Any:
    """A tensor of rank 1 or more that has at least so many rows; checked when the graph runs, where that is not known before.

    Raises:
        InvalidArgumentError: it has fewer.
    """
    count = None if tensor.dims is None else tensor.dims[0]
    if isinstance(count, int):
        if count < least:
            raise InvalidArgumentError(f"{what}: elems has no rows, and there is no initializer; give one")
        return tensor
    return required_rows(tensor, axis=0, least=least, what=what) if least or tensor.dims is None else tensor


class Gathered:
    """What one result of every step is gathered in.

    Args:
        dtype: of the result.
        shape: that it must have.
        like: a tensor whose shape it has, or None.
    """

    def __init__(self, dtype: DType, shape: TensorShape, like: Any = None) -> None:
        self.dtype = dtype
        self._wanted = shape
        self._like = like
        self._shape = shape if like is None else like.shape

    def check(self, value: Any, what: str) -> Any:
        """A result as a tensor of the dtype and shape."""
        tensor = convert_to_tensor(value, dtype_hint=self.dtype)
        if tensor.dtype is not self.dtype:
            raise DTypeError(
                f"{what}: the function gives a tensor of dtype {tensor.dtype.name}, and {self.dtype.name} is expected. "
                "Say so in fn_output_signature, or use td.cast in the function"
            )
        if not tensor.shape.is_subtype_of(self._wanted):
            tensor = ensure_shape(tensor, self._wanted)
        self._shape = tensor.shape
        return tensor

    def nothing(self, what: str) -> Any:
        """The results of no step at all, eagerly."""
        if not self._shape.is_fully_defined():
            raise InvalidArgumentError(
                f"{what}: elems has no rows, and the function gives tensors of shape {self._shape}, which is not fully known; say it in "
                "fn_output_signature"
            )
        return zeros((0, *self._shape.as_list()), self.dtype)

    def stack(self, array: TensorArray, count: int | None, what: str) -> Any:
        """The results of all steps, while tracing; ``count`` of them, where it is known."""
        dims = None if self._shape.rank is None else self._shape.as_list()
        if dims is not None and None not in dims:
            shape: Any = (UNKNOWN, *dims)
        elif self._like is not None:
            shape = concat_op([convert_to_tensor([UNKNOWN], int32), convert_to_tensor(shape_of(self._like), int32)], axis=0)
        else:
            shape = UNKNOWN if dims is None else (UNKNOWN, *(UNKNOWN if size is None else size for size in dims))
        result = tensor_list_stack(array.flow, shape, dtype=self.dtype, strict=False, made_by=what)
        if dims is not None:
            result.set_shape(TensorShape([count, *dims]))
        return result


def over_rows(
    rows: Rows, step: Step, first: list[Any], gathered: list[Gathered], reverse: bool = False, skip: int = 0
) -> tuple[list[Any], list[Any]]:
    """Take one step per row.

    Args:
        rows: the elements.
        step: what to do with a row.
        first: what is carried into the first step.
        gathered: one per result that a step gives besides what it carries.
        reverse: begin with the last row.
        skip: how many rows to leave out at the beginning.

    Returns:
        What the last step carries, and the results of all steps along a new first axis, in the order of the rows.
    """
    over = _now if LOCAL.graph is None else _traced
    return over(rows, step, first, gathered, reverse, skip)


def _now(rows: Rows, step: Step, first: list[Any], gathered: list[Gathered], reverse: bool, skip: int) -> tuple[list[Any], list[Any]]:
    carried, results = first, []
    each = rows.each()
    for row in (each[::-1] if reverse else each)[skip:]:
        carried, outputs = step(carried, row)
        results.append([target.check(value, rows.what) for target, value in zip(gathered, outputs, strict=True)])
    if not results:
        return carried, [target.nothing(rows.what) for target in _traced_once(rows, step, first, gathered)]
    columns = zip(*(results[::-1] if reverse else results), strict=True)
    return carried, [stack(list(column)) for column in columns]


def _traced_once(rows: Rows, step: Step, first: list[Any], gathered: list[Gathered]) -> list[Gathered]:
    """Learn from a trace what a step would give, where there is no row to take it with."""
    if gathered:
        graph = FuncGraph("a step", LOCAL.graph)
        with state.recording(graph):
            _, outputs = step(first, rows.symbolic(graph))
            for target, value in zip(gathered, outputs, strict=True):
                target.check(value, rows.what)
    return gathered


def _traced(rows: Rows, step: Step, first: list[Any], gathered: list[Gathered], reverse: bool, skip: int) -> tuple[list[Any], list[Any]]:
    count, read = rows.size(), rows.reader()
    arrays = [TensorArray(target.dtype, size=rows.size(skip), infer_shape=False) for target in gathered]
    start = -1 if reverse and rows.count == skip else rows.size(skip + 1) if reverse else skip

    def condition(number: Any, *_: Any) -> Any:
        return greater_equal(number, 0) if reverse else less(number, count)

    def body(number: Any, carried: list[Any], arrays: list[TensorArray]) -> Any:
        carried, outputs = step(carried, read(number))
        position = subtract(number, skip) if skip and not reverse else number
        results = [target.check(value, rows.what) for target, value in zip(gathered, outputs, strict=True)]
        written = [array.write(position, value) for array, value in zip(arrays, results, strict=True)]
        return add(number, -1 if reverse else 1), carried, written

    _, carried, arrays = while_loop(condition, body, (convert_to_tensor(start, int32), first, arrays))
    known = None if rows.count is None else max(rows.count - skip, 0)
    return carried, [target.stack(array, known, rows.what) for target, array in zip(gathered, arrays, strict=True)]
