"""Functions over the rows of tensors: map_fn, vectorized_map, scan, foldl and foldr.

Eagerly they are Python loops; while tracing one loop of the graph, whose body is traced once and whose results are gathered in TensorArrays.
Elements may be nested, and gradients of any order flow either way.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from treadle import nest, state
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.declare import public
from treadle.dims import Dim, known_different
from treadle.dtypes import DType, as_dtype, int32
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle.functions.control_flow import while_loop
from treadle.graph.func_graph import FuncGraph
from treadle.shapes import TensorShape
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.tensorspec import TensorSpec
from treadle_ops.broadcasting import axis_size
from treadle_ops.comparison import greater_equal, less
from treadle_ops.creation import zeros
from treadle_ops.elementwise import add, subtract
from treadle_ops.flow import stop_gradient
from treadle_ops.indexing import getitem
from treadle_ops.joining import concat_op, stack, unstack
from treadle_ops.tensor_array import TensorArray

Step = Callable[[list[Any], list[Any]], tuple[list[Any], list[Any]]]
"""From what is carried and one row of each element to what is carried on and what is gathered."""


class Rows:
    """The elements of a call, all with the same first size.

    Args:
        elems: a tensor or a structure of them.
        what: the function's name, for messages.
        broadcasts: whether a first size of 1 stands for any.

    Attributes:
        tensors: the elements in order.
        count: their first size, where it is known; else None.
    """

    def __init__(self, elems: Any, what: str, broadcasts: bool = False) -> None:
        self.structure = elems
        self.what = what
        self.tensors = [convert_to_tensor(e) for e in nest.flatten(elems)]
        if not self.tensors:
            raise ValueError(f"{what}: elems has no tensors; give at least one")
        for tensor in self.tensors:
            if tensor.shape.rank == 0:
                raise ShapeError(f"{what}: elements in elems must be 1+ dimensional tensors, not scalars")
        sizes = [None if t.dims is None else t.dims[0] for t in self.tensors]
        whole = [i for i, size in enumerate(sizes) if not (broadcasts and size == 1)] or [0]
        self.repeated = {i for i in range(len(sizes)) if i not in whole}
        for i in whole[1:]:
            a, b = sizes[whole[0]], sizes[i]
            if a is not None and b is not None and known_different(a, b):
                raise ShapeError(f"{what}: the elements have the first sizes {a} and {b}; they must be equal")
        self.count: int | None = next((size for i, size in enumerate(sizes) if i in whole and isinstance(size, int)), None)
        self.measure = self.tensors[whole[0]]

    def pack(self, row: Sequence[Any]) -> Any:
        """One row of each element, in their structure."""
        return nest.pack_sequence_as(self.structure, list(row))

    def size(self, less: int = 0) -> Any:
        """The number of rows, or some less: a tensor, or an int where it is known."""
        if self.count is not None:
            return max(self.count - less, 0)
        size = axis_size(self.measure, axis=0)
        return subtract(size, less) if less else size

    def row(self, index: int) -> list[Any]:
        """The first or the last row: ``index`` is 0 or -1."""
        return [getitem(t, 0 if i in self.repeated else index) for i, t in enumerate(self.tensors)]

    def each(self) -> list[list[Any]]:
        """Every row, eagerly."""
        columns = [unstack(t) for t in self.tensors]
        return [[column[0 if i in self.repeated else turn] for i, column in enumerate(columns)] for turn in range(self.count or 0)]

    def arrays(self) -> list[TensorArray]:
        """A TensorArray of rows for each element."""
        return [TensorArray(t.dtype, size=0, dynamic_size=True).unstack(t) for t in self.tensors]

    def spec(self, i: int) -> Spec:
        """What is known of a row of one element."""
        tensor = self.tensors[i]
        return Spec(None if tensor.dims is None else tuple(d if isinstance(d, int) else Dim.symbol() for d in tensor.dims[1:]), tensor.dtype)


class Gathered:
    """What one result of the step is gathered in: its dtype, and what is found out of its shape."""

    def __init__(self, dtype: DType, shape: TensorShape) -> None:
        self.dtype = dtype
        self.shape = shape
        self.seen: TensorShape | None = None

    def check(self, value: Any, what: str) -> Any:
        """A result as a tensor of the dtype."""
        tensor = convert_to_tensor(value, dtype_hint=self.dtype)
        if tensor.dtype is not self.dtype:
            raise DTypeError(
                f"{what}: the function gives a tensor of dtype {tensor.dtype.name}, and {self.dtype.name} is expected. "
                "Say so in fn_output_signature, or use td.cast in the function"
            )
        if not tensor.shape.is_compatible_with(self.shape):
            raise ShapeError(f"{what}: the function gives a tensor of shape {tensor.shape}, and {self.shape} is expected")
        self.seen = tensor.shape
        return tensor


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
    if LOCAL.graph is None:
        return _now(rows, step, first, gathered, reverse, skip)
    return _traced(rows, step, first, gathered, reverse, skip)


def _now(rows: Rows, step: Step, first: list[Any], gathered: list[Gathered], reverse: bool, skip: int) -> tuple[list[Any], list[Any]]:
    each = rows.each()
    carried = first
    results: list[list[Any]] = [[] for _ in gathered]
    for row in (each[::-1] if reverse else each)[skip:]:
        carried, outputs = step(carried, row)
        for column, target, value in zip(results, gathered, outputs, strict=True):
            column.append(target.check(value, rows.what))
    if gathered and len(each) <= skip:
        _find_shapes(rows, step, first, gathered)
        return carried, [zeros((0, *_static(target, rows.what)), target.dtype) for target in gathered]
    return carried, [stack(column[::-1] if reverse else column) for column in results]


def _static(target: Gathered, what: str) -> list[int]:
    shape = target.seen if target.seen is not None else target.shape
    if not shape.is_fully_defined():
        raise InvalidArgumentError(f"{what}: the elements have no rows, and the function gives tensors of shape {shape}, which is not fully known")
    return shape.as_list()  # type: ignore[no-any-return]


def _find_shapes(rows: Rows, step: Step, first: list[Any], gathered: list[Gathered]) -> None:
    """Trace one step, to learn what it would give, where there is no row to take it with."""
    graph = FuncGraph("a step", LOCAL.graph)
    with state.recording(graph):
        row = [SymbolicTensor(graph.placeholder(rows.spec(i), "row")) for i in range(len(rows.tensors))]
        _, outputs = step(first, row)
        for target, value in zip(gathered, outputs, strict=True):
            target.check(value, rows.what)


def _traced(rows: Rows, step: Step, first: list[Any], gathered: list[Gathered], reverse: bool, skip: int) -> tuple[list[Any], list[Any]]:
    count, elements = rows.size(), rows.arrays()
    arrays = [TensorArray(g.dtype, size=rows.size(skip), infer_shape=False) for g in gathered]
    start = rows.size(skip + 1) if reverse and rows.count != skip else -1 if reverse else skip

    def condition(index: Any, *_: Any) -> Any:
        return greater_equal(index, 0) if reverse else less(index, count)

    def body(index: Any, carried: list[Any], arrays: list[TensorArray]) -> Any:
        row = [array.read(0 if i in rows.repeated else index) for i, array in enumerate(elements)]
        carried, outputs = step(carried, row)
        position = subtract(index, skip) if skip and not reverse else index
        results = [target.check(value, rows.what) for target, value in zip(gathered, outputs, strict=True)]
        written = [array.write(position, value) for array, value in zip(arrays, results, strict=True)]
        return add(index, -1 if reverse else 1), carried, written

    _, carried, arrays = while_loop(condition, body, (convert_to_tensor(start, int32), first, arrays))
    results = []
    for array, target in zip(arrays, gathered, strict=True):
        shape = target.shape if target.seen is None else target.seen
        result = TensorArray(target.dtype, flow=array.flow, element_shape=shape, infer_shape=False).stack()
        if rows.count is not None and shape.rank is not None:
            result.set_shape(TensorShape([rows.size(skip)]).concatenate(shape))
        results.append(result)
    return carried, results


# ---------------------------------------------------------------------- map


@public("map_fn")
def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Apply a function to every row of tensors, and stack what it gives.

    Args:
        fn: a function of one row, which has the structure of ``elems``.
        elems: a tensor or a structure of tensors, all with the same first size.
        dtype: the older name of ``fn_output_signature``.
        parallel_iterations: ignored.
        back_prop: False stops gradients.
        swap_memory: ignored.
        infer_shape: ignored.
        name: ignored.
        fn_output_signature: dtypes or ``TensorSpec``s in the structure of the function's result; by default those of ``elems``.

    Returns:
        The structure of the function's result; each tensor has a first axis with one entry per row.

    Raises:
        ValueError: an element is a scalar, or the function gives another structure.
        ShapeError: the first sizes differ.
        DTypeError: the function gives another dtype.

    Sources:
        TensorFlow ``tf.map_fn``.
    """
    _require_callable(fn, "map_fn")
    rows = Rows(elems, "map_fn")
    wanted = fn_output_signature if fn_output_signature is not None else dtype
    signature = rows.pack([t.dtype for t in rows.tensors]) if wanted is None else wanted
    return _stop(_mapped(fn, rows, signature), back_prop)


def _mapped(fn: Callable[..., Any], rows: Rows, signature: Any) -> Any:
    gathered = [_gathered(leaf) for leaf in nest.flatten(signature)]

    def step(carried: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
        result = fn(rows.pack(row))
        try:
            nest.assert_same_structure(signature, result, check_types=False)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"{rows.what}: the function must give the structure of fn_output_signature (by default that of elems): {error}"
            ) from None
        return carried, nest.flatten(result)

    return nest.pack_sequence_as(signature, over_rows(rows, step, [], gathered)[1])


def _gathered(leaf: Any) -> Gathered:
    if isinstance(leaf, TensorSpec):
        return Gathered(leaf.dtype, leaf.shape)
    return Gathered(as_dtype(leaf), TensorShape(None))


_falls_back = True


@public("vectorized_map")
def vectorized_map(fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """Apply a function to every row of tensors, as ``map_fn`` does.

    It takes one row after the other; the first call says so in the log of ``treadle``.

    Args:
        fn: a function of one row, which has the structure of ``elems``.
        elems: a tensor or a structure of tensors; their first sizes are equal, or 1 for what is the same in every row.
        fallback_to_while_loop: ignored.
        warn: False says nothing.

    Returns:
        The structure of the function's result; each tensor has a first axis with one entry per row.

    Raises:
        ValueError: an element is a scalar.
        ShapeError: the first sizes differ.

    Sources:
        TensorFlow ``tf.vectorized_map``.
    """
    global _falls_back
    _require_callable(fn, "vectorized_map")
    if warn and _falls_back:
        _falls_back = False
        logging.getLogger("treadle").warning("vectorized_map takes one row after the other; a function of whole tensors is faster")
    rows = Rows(elems, "vectorized_map", broadcasts=True)
    if LOCAL.graph is None and rows.count:
        found = [fn(rows.pack(row)) for row in rows.each()]
        return nest.map_structure(lambda *column: stack(list(column)), *found)
    return _mapped(fn, rows, _signature_of(fn, rows))


def _signature_of(fn: Callable[..., Any], rows: Rows) -> Any:
    """The dtypes that a function gives, found by tracing it once."""
    graph = FuncGraph("a row", LOCAL.graph)
    with state.recording(graph):
        row = [SymbolicTensor(graph.placeholder(rows.spec(i), "row")) for i in range(len(rows.tensors))]
        return nest.map_structure(lambda leaf: convert_to_tensor(leaf).dtype, fn(rows.pack(row)))


# ---------------------------------------------------------------------- scan and fold


@public("scan")
def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the rows of tensors one after the other, and stack every intermediate result.

    Args:
        fn: a function of the result so far and of one row; it gives the next result.
        elems: a tensor or a structure of tensors, all with the same first size.
        initializer: the result before the first row; without it, the first row itself, which then has the structure of ``elems``.
        parallel_iterations: ignored.
        back_prop: False stops gradients.
        swap_memory: ignored.
        infer_shape: ignored.
        reverse: begin with the last row.
        name: ignored.

    Returns:
        The structure of the result; each tensor has a first axis with one entry per row, in the order of the rows.

    Raises:
        TypeError: ``fn`` is not callable, or gives another structure or dtype.
        ValueError: an element is a scalar, or there is neither an initializer nor a row.

    Sources:
        TensorFlow ``tf.scan``.
    """
    rows, start, structure = _begin(fn, elems, initializer, reverse, "scan")
    gathered = [Gathered(t.dtype, TensorShape(None)) for t in start]
    step = _combining(fn, rows, structure)
    _, results = over_rows(rows, lambda carried, row: _twice(step(carried, row)), start, gathered, reverse, 0 if initializer is not None else 1)
    if initializer is None:
        results = [_joined(value, rest, reverse) for value, rest in zip(start, results, strict=True)]
    return _stop(nest.pack_sequence_as(structure, results), back_prop)


def _twice(results: list[Any]) -> tuple[list[Any], list[Any]]:
    return results, results


def _joined(first: Any, rest: Any, reverse: bool) -> Any:
    one = stack([first])
    return concat_op([rest, one] if reverse else [one, rest], axis=0)


def _combining(fn: Callable[..., Any], rows: Rows, structure: Any) -> Callable[[list[Any], list[Any]], list[Any]]:
    def step(carried: list[Any], row: list[Any]) -> list[Any]:
        result = fn(nest.pack_sequence_as(structure, carried), rows.pack(row))
        try:
            nest.assert_same_structure(structure, result, check_types=False)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{rows.what}: the function must give the structure of what it is given first: {error}") from None
        found = []
        for before, leaf in zip(carried, nest.flatten(result), strict=True):
            value = convert_to_tensor(leaf, dtype_hint=before.dtype)
            if value.dtype is not before.dtype:
                raise DTypeError(
                    f"{rows.what}: the function is given {before.dtype.name} and gives {value.dtype.name}; they must be equal. "
                    "Use td.cast in the function, or on the initializer"
                )
            found.append(value)
        return found

    return step


def _begin(fn: Any, elems: Any, initializer: Any, reverse: bool, what: str) -> tuple[Rows, list[Any], Any]:
    """The rows, what is carried into the first step, and its structure."""
    _require_callable(fn, what)
    rows = Rows(elems, what)
    if initializer is not None:
        return rows, [convert_to_tensor(leaf) for leaf in nest.flatten(initializer)], initializer
    if rows.count == 0:
        raise InvalidArgumentError(f"{what}: the elements have no rows; give an initializer")
    return rows, rows.row(-1 if reverse else 0), elems


def _fold(fn: Any, elems: Any, initializer: Any, reverse: bool, what: str, back_prop: bool) -> Any:
    rows, start, structure = _begin(fn, elems, initializer, reverse, what)
    step = _combining(fn, rows, structure)
    carried, _ = over_rows(rows, lambda carried, row: (step(carried, row), []), start, [], reverse, 0 if initializer is not None else 1)
    return _stop(nest.pack_sequence_as(structure, carried), back_prop)


@public("foldl")
def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the rows of tensors one after the other, from the first to the last.

    Args:
        fn: a function of the result so far and of one row; it gives the next result.
        elems: a tensor or a structure of tensors, all with the same first size.
        initializer: the result before the first row; without it, the first row itself.
        parallel_iterations: ignored.
        back_prop: False stops gradients.
        swap_memory: ignored.
        name: ignored.

    Returns:
        The last result.

    Raises:
        TypeError: ``fn`` is not callable, or gives another structure or dtype.
        ValueError: an element is a scalar, or there is neither an initializer nor a row.

    Sources:
        TensorFlow ``tf.foldl``.
    """
    return _fold(fn, elems, initializer, False, "foldl", back_prop)


@public("foldr")
def foldr(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the rows of tensors one after the other, from the last to the first.

    Args:
        fn: a function of the result so far and of one row; it gives the next result.
        elems: a tensor or a structure of tensors, all with the same first size.
        initializer: the result before the last row; without it, the last row itself.
        parallel_iterations: ignored.
        back_prop: False stops gradients.
        swap_memory: ignored.
        name: ignored.

    Returns:
        The last result.

    Raises:
        TypeError: ``fn`` is not callable, or gives another structure or dtype.
        ValueError: an element is a scalar, or there is neither an initializer nor a row.

    Sources:
        TensorFlow ``tf.foldr``.
    """
    return _fold(fn, elems, initializer, True, "foldr", back_prop)


def _require_callable(fn: Any, what: str) -> None:
    if not callable(fn):
        raise TypeError(f"{what}: {fn!r} is not callable; give a function")


def _stop(result: Any, back_prop: bool) -> Any:
    if back_prop:
        return result
    return nest.map_structure(stop_gradient, result)
