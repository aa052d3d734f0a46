"""What a ``for`` loop goes over: Python's iterables as they are; tensors of a trace by position, without being spread out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from treadle.conversion import convert_to_tensor
from treadle.dtypes import int32, int64
from treadle.inspection import get_static_value
from treadle.registry import registry
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle_autograph.errors import NotStagedError


class Items:
    """A sequence whose length may be known only at run time.

    Attributes:
        length: an int, or an integer scalar tensor.
    """

    length: Any

    def at(self, position: Any) -> Any:
        """The item at a position, which is an integer scalar tensor."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        return spread(self)


class Rows(Items):
    """The rows of a tensor along its first axis."""

    def __init__(self, tensor: Any) -> None:
        if tensor.shape.rank == 0:
            raise TypeError(f"cannot iterate over a scalar tensor (shape {tensor.shape}, dtype {tensor.dtype.name}); td.range(n) counts up to it")
        self._tensor = tensor
        self.length = _length(tensor)

    def at(self, position: Any) -> Any:
        return registry.role("__getitem__")(self._tensor, position)


class Read(Items):
    """What a thing with ``__treadle_items__`` has, such as a ``td.TensorArray``: it gives their number and a function that reads one."""

    def __init__(self, holder: Any) -> None:
        count, self._read = holder.__treadle_items__()
        known = get_static_value(count) if isinstance(count, Tensor) else count
        self.length = count if known is None else int(known)

    def at(self, position: Any) -> Any:
        return self._read(position)


class Counted(Items):
    """The integers of a ``td.range``, which is not made."""

    def __init__(self, start: Any, limit: Any, step: int, dtype: Any) -> None:
        cast = registry.role("cast")
        self._start, limit = (cast(end, dtype) for end in (start, limit))
        self._step = step
        self._dtype = dtype
        way = (limit - self._start) if step > 0 else (self._start - limit)
        count = way if abs(step) == 1 else (way + (abs(step) - 1)) // abs(step)
        known = get_static_value(count)
        self.length = count if known is None else max(int(known), 0)

    def at(self, position: Any) -> Any:
        steps = registry.role("cast")(position, self._dtype)
        if self._step != 1:
            steps = steps * self._step
        known = get_static_value(self._start)
        return steps if known is not None and known == 0 else steps + self._start


class Numbered(Items):
    """``enumerate`` of items."""

    def __init__(self, items: Items, start: Any) -> None:
        self._items = items
        self._start = start
        self.length = items.length

    def at(self, position: Any) -> Any:
        is_zero = isinstance(self._start, int) and self._start == 0
        return (position if is_zero else position + self._start, self._items.at(position))

    def __iter__(self) -> Iterator[Any]:
        return enumerate(spread(self._items), self._start)


class Zipped(Items):
    """``zip`` of items."""

    def __init__(self, parts: list[Items]) -> None:
        self._parts = parts
        lengths = [p.length for p in parts]
        if all(isinstance(n, int) for n in lengths):
            self.length = min(lengths)
        else:
            from treadle_autograph.overloads import least

            self.length = least(lengths)

    def at(self, position: Any) -> Any:
        return tuple(p.at(position) for p in self._parts)

    def __iter__(self) -> Iterator[Any]:
        return zip(*(spread(p) for p in self._parts), strict=False)


class Reversed(Items):
    """``reversed`` of items."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self.length = items.length

    def at(self, position: Any) -> Any:
        return self._items.at(self.length - 1 - position)


def _length(tensor: Any) -> Any:
    dims = tensor.dims
    if dims and isinstance(dims[0], int):
        return dims[0]
    import treadle as td

    return td.shape(tensor)[0]


def items_of(value: Any) -> Items | None:
    """What a loop goes over by position: a tensor, a Variable or what was made of these, while tracing; None for what Python iterates."""
    if LOCAL.graph is None:
        return None
    if isinstance(value, Items):
        return value
    if isinstance(value, SymbolicTensor):
        return _counted(value) or Rows(value)
    if isinstance(value, Tensor):
        return Rows(value)
    if hasattr(type(value), "__treadle_items__"):
        return Read(value)
    if isinstance(value, Variable) or hasattr(type(value), "__treadle_tensor__"):
        return Rows(convert_to_tensor(value))
    return None


def beside(value: Any) -> Items:
    """What ``zip`` goes over by position beside items whose number is not known: also a range, and a list or tuple that can be one tensor.

    Raises:
        NotStagedError: it can only be iterated.
    """
    items = items_of(value)
    if items is not None:
        return items
    import treadle as td

    if isinstance(value, range):
        return Rows(td.range(value.start, value.start + len(value) * value.step, value.step))
    reason: Exception | None = None
    if isinstance(value, list | tuple):
        try:
            return Rows(convert_to_tensor(value))
        except (TypeError, ValueError) as error:
            reason = error
    raise NotStagedError(
        f"zip: a {type(value).__name__} cannot go beside items whose number depends on a tensor, unless it is a list or tuple that can be a tensor. "
        "Use a Python number of items, and `break` when there are enough"
    ) from reason


def _counted(tensor: SymbolicTensor) -> Counted | None:
    node = tensor.value.node
    if node.op.name != "range" or tensor.dtype not in (int32, int64):
        return None
    start, limit, delta = (SymbolicTensor(value) for value in node.inputs)
    step = get_static_value(delta)
    return None if step is None or int(step) == 0 else Counted(start, limit, int(step), tensor.dtype)


def is_staged(value: Any) -> bool:
    """Whether a loop over this is one of the graph."""
    if LOCAL.graph is None:
        return False
    return isinstance(value, Tensor | Items | Variable) or hasattr(type(value), "__treadle_tensor__") or hasattr(type(value), "__treadle_items__")


def iterate(value: Any) -> Any:
    """The value if a loop over it is one of the graph, else its iterator."""
    return value if is_staged(value) else iter(value)


def spread(items: Items) -> Iterator[Any]:
    """The items one by one, where their number is known.

    Raises:
        NotStagedError: it is not.
    """
    if not isinstance(items.length, int):
        raise NotStagedError("the number of items depends on a tensor that has no value while tracing; only a `for` statement can go over them")
    return (items.at(convert_to_tensor(i)) for i in range(items.length))


def elements(value: Any) -> Any:
    """What a comprehension goes over.

    Raises:
        NotStagedError: a tensor whose first size is not known while tracing.
    """
    if not isinstance(value, SymbolicTensor):
        return value
    dims = value.dims
    if dims and isinstance(dims[0], int):
        return value
    raise NotStagedError(
        f"a comprehension cannot go over this tensor, of shape {value.shape} and dtype {value.dtype.name}: its first size is not known while "
        "tracing. Use td.map_fn, or a `for` statement with a td.TensorArray"
    )
