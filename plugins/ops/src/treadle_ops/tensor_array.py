"""``TensorArray``: an array of tensors that is filled one by one, in loops above all.

It is a value like every other: ``write`` does not change an array, eagerly as little as while tracing, but gives another one. What it holds is a
list value (see ``tensor_lists``), the array's one leaf for ``nest``: so it goes round a loop, out of a branch and into a traced function, and
gradients flow through it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple, NoReturn

from treadle import nest
from treadle.conversion import convert_to_tensor
from treadle.declare import public
from treadle.dtypes import DType, as_dtype, int32, list_of
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError, SymbolicTensorError
from treadle.graph.source import caller
from treadle.shapes import TensorShape
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.user_warnings import warn
from treadle_ops.arguments import integers_argument
from treadle_ops.element_shapes import element_shape
from treadle_ops.tensor_lists import (
    UNKNOWN,
    tensor_list_concat,
    tensor_list_from_tensor,
    tensor_list_gather,
    tensor_list_get_item,
    tensor_list_length,
    tensor_list_reserve,
    tensor_list_scatter,
    tensor_list_set_item,
    tensor_list_split,
    tensor_list_stack,
)


class Form(NamedTuple):
    """What a TensorArray is besides its tensors.

    Attributes:
        dtype: of the tensors.
        dims: of each tensor as declared, None where a size, or the rank, may be anything.
        size: how many positions it has; None if that may change or is not known while tracing.
        dynamic: writing after the last position makes it larger.
        infer: all tensors are to have one shape; those that ``split`` gave may differ along their first axis.
        clear: what was read may not be read again.
    """

    dtype: DType
    dims: tuple[int | None, ...] | None
    size: int | None
    dynamic: bool
    infer: bool
    clear: bool


@public("TensorArray")
class TensorArray:
    """An array of tensors, each written at its own time.

    ``write``, ``unstack``, ``scatter`` and ``split`` give a new array and leave this one as it is: write ``ta = ta.write(index, value)``. An array
    whose result was dropped says so in a warning when it is used next.

    Args:
        dtype: of the tensors.
        size: how many there are, an integer (a tensor or a Python int).
        dynamic_size: whether writing after the last position makes the array larger.
        clear_after_read: True refuses to read a position twice, where the positions are known while tracing; else every read is allowed.
        tensor_array_name: ignored.
        handle: ignored.
        flow: the ``flow`` of another array, whose content is taken over.
        infer_shape: whether all tensors must have one shape.
        element_shape: of each tensor, as far as it is known.
        colocate_with_first_write_call: ignored.
        name: ignored.

    Raises:
        ValueError: neither ``size`` nor ``flow`` is given.

    Sources:
        TensorFlow ``tf.TensorArray``.
    """

    _parent: Any = None
    _is_used = True

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        element = as_dtype(dtype)
        shape = TensorShape(element_shape)
        if flow is None:
            if size is None:
                raise ValueError("TensorArray: give the size (it may be 0 with dynamic_size=True), or the flow of another TensorArray")
            count = integers_argument(size, "the size of a TensorArray")
            flow = tensor_list_reserve(count, dtype=list_of(element))
        else:
            count = None
        dims = None if shape.rank is None else tuple(shape.as_list())
        fixed = count if type(count) is int and not dynamic_size else None
        self._start(Form(element, dims, fixed, bool(dynamic_size), bool(infer_shape), bool(clear_after_read)), flow, shape)

    def _start(self, form: Form, flow: Any, shape: TensorShape, varies: bool = False) -> None:
        self._form = form
        self._flow = flow
        self._shape = shape
        self._varies = varies
        self._read: frozenset[int] = frozenset()
        self._dropped: Any = None

    # ------------------------------------------------------------------ description

    @property
    def dtype(self) -> DType:
        """The dtype of the tensors."""
        return self._form.dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether writing after the last position makes the array larger."""
        return self._form.dynamic

    @property
    def element_shape(self) -> TensorShape:
        """The shape of each tensor, as far as it is known of all of them."""
        if self._form.infer and not self._varies and not self._shape.is_fully_defined():
            seen = self.shapes_seen()
            common = seen[0].most_specific_common_supertype(seen[1:]) if seen else None
            self._shape = self._shape if common is None else common
            self._varies = len(seen) > 1
        return self._shape

    def shapes_seen(self) -> list[TensorShape]:
        """The different shapes of the tensors in it, as far as they are there already: none while tracing."""
        return [TensorShape(shape) for shape in {buffer.shape for buffer in self._buffers()}]

    def _buffers(self) -> Collection[Any]:
        flow = self._flow
        return flow._buffer.items.values() if isinstance(flow, Tensor) and not isinstance(flow, SymbolicTensor) else ()

    @property
    def flow(self) -> Any:
        """The list value with the tensors."""
        return self._use()

    @property
    def handle(self) -> None:
        """None: the content is in ``flow``."""
        return None

    def __repr__(self) -> str:
        size = "?" if self._form.size is None else self._form.size
        dynamic = ", of dynamic size" if self._form.dynamic else ""
        return f"<td.TensorArray of {size} tensors of dtype {self._form.dtype.name} and shape {self._shape}{dynamic}>"

    # ------------------------------------------------------------------ one tensor

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with another tensor at a position.

        Args:
            index: a scalar integer.
            value: a tensor of the array's dtype.
            name: ignored.

        Returns:
            The new array; this one stays as it is.

        Raises:
            IndexError: the array has no such position.
            DTypeError: the value has another dtype.
            ShapeError: the value has another shape.
        """
        flow = self._use()
        item = self._item(value)
        position = _position(index)
        written = self._next("write", tensor_list_set_item(flow, position, item, grow=self._form.dynamic), self._merged(item.shape))
        if self._form.clear:
            written._read = self._read - {position} if type(position) is int else self._read
        return written

    def read(self, index: Any, name: str | None = None) -> Any:
        """The tensor at a position; zeros if none was written there and the shape is known.

        Args:
            index: a scalar integer.
            name: ignored.

        Returns:
            A tensor of ``element_shape`` and the array's dtype.

        Raises:
            IndexError: the array has no such position.
            InvalidArgumentError: nothing was written there and the shape is not known, or it was read before and ``clear_after_read`` is set.
        """
        flow = self._use()
        position = _position(index)
        if self._form.clear and type(position) is int:
            if position in self._read:
                raise InvalidArgumentError(
                    f"TensorArray.read: Could not read index {position} twice because it was cleared after a previous read "
                    "(perhaps try setting clear_after_read = false?)"
                )
            self._read |= {position}
        return tensor_list_get_item(flow, position, _host_shape(self._shape), dtype=self._form.dtype, strict=True)

    def __iter__(self) -> Iterator[Any]:
        """The tensors one by one, where their number is known."""
        count, read = self.__treadle_items__()
        if isinstance(count, SymbolicTensor):
            raise SymbolicTensorError(
                f"{self!r} cannot be iterated over here: how many tensors it has is not known while tracing {count.graph.name!r}. "
                "Only a `for` statement that AutoGraph converts can go over them; or use td.while_loop and read()"
            )
        return (read(i) for i in range(int(count)))

    def __treadle_items__(self) -> tuple[Any, Callable[[Any], Any]]:
        """How many tensors there are, and what reads one: for loops that become part of a graph."""
        size = self._form.size
        return (self.size() if size is None else size), self.read

    # ------------------------------------------------------------------ many tensors

    def stack(self, name: str | None = None) -> Any:
        """All tensors along a new first axis; those not written are zeros.

        Args:
            name: ignored.

        Returns:
            ``(size, *element_shape)`` of the array's dtype.

        Raises:
            ShapeError: the shapes differ.
            InvalidArgumentError: nothing was written and the shape is not known.
        """
        return tensor_list_stack(self._use(), _host_shape(self._shape, self._form.size), dtype=self._form.dtype, strict=True)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """The tensors at some positions along a new first axis.

        Args:
            indices: a vector of integers.
            name: ignored.

        Returns:
            ``(len(indices), *element_shape)`` of the array's dtype.

        Raises:
            IndexError: the array has no such position.
        """
        flow = self._use()
        chosen = _vector(indices, "the indices")
        count = len(chosen) if isinstance(chosen, tuple) else chosen.shape[0]
        return tensor_list_gather(flow, chosen, _host_shape(self._shape, count), dtype=self._form.dtype, strict=True)

    def concat(self, name: str | None = None) -> Any:
        """All tensors one after the other along their first axis.

        Args:
            name: ignored.

        Returns:
            A tensor of the array's dtype.

        Raises:
            ShapeError: the tensors are scalars, or differ in another axis.
        """
        flow, shape = self._use(), self._shape
        if shape.rank == 0:
            raise ShapeError("TensorArray.concat: the tensors are scalars, which have no axis to join along; use stack()")
        whole = UNKNOWN if shape.rank is None else (UNKNOWN, *_host_shape(shape)[1:])
        return tensor_list_concat(flow, whole, UNKNOWN, dtype=self._form.dtype)[0]

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """An array of the slices of a tensor along its first axis.

        Args:
            value: rank 1 or more, of the array's dtype.
            name: ignored.

        Returns:
            The new array.

        Raises:
            ShapeError: there are more slices than an array without dynamic size has positions.
        """
        self._use()
        item = self._item(value)
        count = self._count(item.shape, "unstack")
        return self._next("unstack", tensor_list_from_tensor(item), self._fitting(self._shape, item.shape[1:]), count, varies=False)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with the slices of a tensor at some positions.

        Args:
            indices: a vector of integers.
            value: ``(len(indices), ...)``, of the array's dtype.
            name: ignored.

        Returns:
            The new array; this one stays as it is.

        Raises:
            IndexError: the array has no such position.
        """
        flow = self._use()
        item = self._item(value)
        chosen = _vector(indices, "the indices")
        shape = self._merged(item.shape[1:] if item.shape.rank else TensorShape(None))
        written = self._next("scatter", tensor_list_scatter(flow, chosen, item, grow=self._form.dynamic, accumulate=False), shape)
        written._read = self._read - set(chosen) if isinstance(chosen, tuple) else self._read
        return written

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """An array of the pieces of a tensor along its first axis.

        Args:
            value: rank 1 or more, of the array's dtype.
            lengths: a vector of integers, the size of each piece.
            name: ignored.

        Returns:
            The new array.

        Raises:
            InvalidArgumentError: a length is negative, or they do not add up to the size of the first axis.
            ShapeError: there are more pieces than an array without dynamic size has positions, or a piece has another shape than the array's tensors.
        """
        self._use()
        item = self._item(value)
        sizes = _vector(lengths, "the lengths")
        count = self._count(TensorShape([len(sizes) if isinstance(sizes, tuple) else sizes.shape[0]]), "split")
        if isinstance(sizes, tuple) and min(sizes, default=0) < 0:
            raise InvalidArgumentError(f"TensorArray.split: the lengths {list(sizes)} must be 0 or more")
        different = sorted(set(sizes)) if isinstance(sizes, tuple) else [None]
        rest = item.shape[1:] if item.shape.rank else TensorShape(None)
        shapes = [self._fitting(self._shape, TensorShape([size]).concatenate(rest)) for size in different]
        varies = len(different) != 1 or None in different
        shape = TensorShape([None]).concatenate(rest) if varies else shapes[0]
        return self._next("split", tensor_list_split(item, sizes), shape, count, varies=varies)

    # ------------------------------------------------------------------ the array

    def size(self, name: str | None = None) -> Any:
        """The number of positions.

        Args:
            name: ignored.

        Returns:
            An int32 scalar.
        """
        flow = self._use()
        return tensor_list_length(flow) if self._form.size is None else convert_to_tensor(self._form.size, int32)

    def identity(self) -> TensorArray:
        """Another array with the same content."""
        return self._next("", self._use(), self._shape)

    def close(self, name: str | None = None) -> None:
        """Nothing: memory is given back when nobody refers to it any more.

        Args:
            name: ignored.
        """

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> NoReturn:
        """Not offered: a ``GradientTape`` differentiates through the array.

        Args:
            source: ignored.
            flow: ignored.
            name: ignored.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("TensorArray.grad is not offered; use td.GradientTape, gradients flow through the array")

    # ------------------------------------------------------------------ inside

    def _use(self) -> Any:
        """The content; told apart are arrays that were used and arrays that were dropped."""
        self._is_used = True
        if self._dropped:
            (method, source), self._dropped = self._dropped, None
            warn(
                f"the result of TensorArray.{method} was dropped at {source}, and what it wrote with it: a TensorArray is not changed in place. "
                f"Keep the result: `ta = ta.{method}(...)`"
            )
        return self._flow

    def _next(self, method: str, flow: Any, shape: TensorShape, size: Any = False, varies: bool | None = None) -> TensorArray:
        """Another array: by default of the same size, and with shapes that vary if they do in this one."""
        made: TensorArray = object.__new__(TensorArray)
        form = self._form if size is False else self._form._replace(size=size)
        made._start(form, flow, shape, self._varies if varies is None else varies)
        if method:
            made._is_used = False
            made._parent = (weakref.ref(self), method)
        return made

    def __del__(self) -> None:
        if not self._is_used:
            parent, method = self._parent
            array = parent()
            if array is not None:
                array._dropped = (method, caller())  # where the last reference goes is where the user let it go

    def _item(self, value: Any) -> Any:
        wanted = self._form.dtype
        item = convert_to_tensor(value, dtype_hint=wanted)
        if item.dtype is not wanted:
            raise DTypeError(f"TensorArray: the array holds {wanted.name}, and the value has dtype {item.dtype.name}. Use td.cast to convert it.")
        return item

    def _merged(self, shape: TensorShape) -> TensorShape:
        """What is known of the elements' shape when one more has ``shape``."""
        if self._form.infer and not self._varies and not self._shape.is_fully_defined():
            first = next(iter(self._buffers()), None)
            if first is not None and shape == first.shape:
                return self._shape
            return self._fitting(self.element_shape, shape)
        return self._fitting(self._shape, shape)

    def _fitting(self, known: TensorShape, shape: TensorShape) -> TensorShape:
        """A shape that is known of tensors, and what another one adds to it where all are to have one shape."""
        if not known.is_compatible_with(shape):
            raise ShapeError(
                f"TensorArray: Inconsistent shapes: saw {shape} but expected {known}. With infer_shape=False the tensors may differ in shape"
            )
        return known.merge_with(shape) if self._form.infer and not self._varies else known

    def _count(self, shape: TensorShape, method: str) -> int | None:
        """The size of an array that is made of so many tensors."""
        count = shape[0] if shape.rank else None
        size = self._form.size
        if size is not None and count is not None and count > size:
            raise ShapeError(
                f"TensorArray.{method}: {count} tensors do not fit an array of static size {size}; give it that size, or dynamic_size=True"
            )
        return None if self._form.dynamic else count


def _position(index: Any) -> Any:
    """An index as an int where it is known, else a tensor."""
    position = integers_argument(index, "an index of a TensorArray")
    if not isinstance(position, int) and TensorShape(
        getattr(position, "dims", (len(position),) if isinstance(position, tuple) else None)
    ).rank not in (None, 0):
        raise ShapeError(f"an index of a TensorArray must be a scalar, got {index!r}")
    return position


def _vector(values: Any, what: str) -> Any:
    found = integers_argument(values, what)
    if isinstance(found, int) or (isinstance(found, Tensor) and found.shape.rank not in (None, 1)):
        raise ShapeError(f"{what} of a TensorArray must be a vector, got {values!r}")
    return found


def _host_shape(shape: TensorShape, *leading: int | None) -> Any:
    """A shape as the ops of lists take it."""
    if shape.rank is None:
        return UNKNOWN
    return tuple(UNKNOWN if size is None else size for size in (*leading, *shape.as_list()))


def _take_apart(array: TensorArray) -> tuple[list[Any], Form]:
    return [array._use()], array._form


def _put_together(form: Form, children: list[Any]) -> TensorArray:
    made: TensorArray = object.__new__(TensorArray)
    flow, shape = children[0], TensorShape(form.dims)
    if form.infer and isinstance(flow, SymbolicTensor) and not shape.is_fully_defined():
        found = element_shape(flow.value)
        shape = shape.merge_with(found) if shape.is_compatible_with(found) else shape
    made._start(form, flow, shape)
    return made


nest.register(TensorArray, _take_apart, _put_together)
