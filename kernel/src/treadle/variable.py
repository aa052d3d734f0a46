"""Variables: tensors whose value can be replaced, by assignment only.

An assignment puts another buffer in place; what was read before keeps its value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from treadle import devices, state
from treadle.contracts.device import Key
from treadle.conversion import convert_to_tensor
from treadle.dims import Size, with_symbols
from treadle.dtypes import DType, as_dtype
from treadle.errors import DTypeError, FailedPreconditionError, InvalidArgumentError, ShapeError
from treadle.registry import registry
from treadle.shapes import TensorShape
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor, default_session, leaked
from treadle.tensor import Operators, Tensor, next_id, to_device


class Variable(Operators):
    """A mutable value that traced functions read and write (TensorFlow's ``tf.Variable``).

    Args:
        initial_value: what it holds first: a tensor, whatever converts to one, or a function without arguments that gives it.
        trainable: whether tapes watch it and ``Module.trainable_variables`` lists it.
        name: for messages and printing.
        dtype: of the value; by default that of ``initial_value``.
        shape: what every assigned value must be compatible with; by default the initial value's. ``None`` sizes may vary.

    Attributes:
        name: for messages.
        initializer: the node that gives it its first value in a session; None where it has one from the start.

    Raises:
        ShapeError: the initial value does not fit ``shape``.
    """

    __slots__ = ("__weakref__", "_buffer", "_id", "_key", "_shape", "_trainable", "initializer", "name")

    _buffer: Any
    _key: Key
    _id: int

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if initial_value is None:
            raise ValueError("a Variable needs an initial value: td.Variable(initial_value)")
        graph = LOCAL.graph
        wanted = None if dtype is None else as_dtype(dtype)
        if callable(initial_value) and not isinstance(initial_value, Operators):
            initial_value = initial_value()
        if graph is not None:
            tensor = graph.initial_value(initial_value, wanted)
        elif isinstance(initial_value, SymbolicTensor):
            raise leaked(initial_value)
        else:
            with state.untaped():
                tensor = convert_to_tensor(initial_value, wanted)
        is_deferred = isinstance(tensor, SymbolicTensor)
        if LOCAL.device is not None and not is_deferred:
            tensor = to_device(tensor, devices.default())
        self._shape = tensor.shape if shape is None else TensorShape(shape)
        if not self._shape.is_compatible_with(tensor.shape):
            raise ShapeError(f"Variable: the initial value has shape {tensor.shape}, which does not fit the declared shape {self._shape}")
        if is_deferred:  # each session has a value of its own
            self._key = devices.default().key(tensor.dtype)
        else:
            self._buffer = tensor._buffer
            self._key = tensor._key
        self._id = next_id()
        self._trainable = True if trainable is None else bool(trainable)
        self.name = f"{name or 'Variable'}:0"
        self.initializer: Any = None
        if graph is not None:
            graph.add_created(self, tensor)

    # ------------------------------------------------------------------ description

    @property
    def dtype(self) -> DType:
        """The dtype of the value."""
        return self._key.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape that every value is compatible with."""
        return self._shape

    @property
    def dims(self) -> tuple[Size, ...] | None:
        """Sizes as a tuple; None for an unknown rank."""
        return None if self._shape.rank is None else with_symbols(self._shape)

    @property
    def device(self) -> str:
        """Where the value is."""
        result: str = self._key.device.name
        return result

    @property
    def trainable(self) -> bool:
        """Whether tapes watch it unasked."""
        return self._trainable

    @property
    def handle(self) -> Variable:
        """The Variable itself: its own handle."""
        return self

    def get_shape(self) -> TensorShape:
        """The same as ``shape``."""
        return self._shape

    def without_value(self) -> Variable:
        """Another Variable of the same name, shape and dtype that holds nothing yet."""
        twin = Variable.__new__(Variable)
        twin._shape, twin._key, twin._trainable, twin.name = self._shape, self._key, self._trainable, self.name
        twin._id = next_id()
        twin.initializer = None
        return twin

    # ------------------------------------------------------------------ reading

    def value(self) -> Any:
        """The value it has now, as a tensor."""
        graph = LOCAL.graph
        if graph is not None:
            tensor = graph.read(self)
        else:
            self._alive()
            tensor = Tensor(self._buffer, self._key)
        for tape in LOCAL.tapes:
            tape.record_read(self, tensor)
        return tensor

    read_value = value
    __treadle_tensor__ = value

    def _alive(self) -> None:
        if not hasattr(self, "_buffer"):
            raise no_value(self)

    def eval(self, session: Any = None) -> Any:
        """The value that it has in a session, the default one if None."""
        return default_session(session, f"{self.name}.eval()").run(self)

    def numpy(self) -> Any:
        """A writable NumPy copy of the value."""
        return self._now().numpy()

    def _now(self) -> Tensor:
        if LOCAL.graph is not None:
            result: Tensor = self.value()
            return result
        self._alive()
        return Tensor(self._buffer, self._key)

    def initialized_value(self) -> Any:
        """The same as ``value()``."""
        return self.value()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._now().__array__(dtype, copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self._now().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._now().__dlpack_device__()

    def __bool__(self) -> bool:
        return bool(self._now())

    def __float__(self) -> float:
        return float(self._now())

    def __int__(self) -> int:
        return int(self._now())

    def __complex__(self) -> complex:
        return complex(self._now())

    def __index__(self) -> int:
        return self._now().__index__()

    def __len__(self) -> int:
        return len(self._now())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value())

    def __getitem__(self, index: Any) -> Any:
        piece = registry.role("__getitem__")(self.value(), index)
        piece._origin = (self, index)
        return piece

    def __format__(self, spec: str) -> str:
        return format(self._now(), spec) if spec else str(self)

    # ------------------------------------------------------------------ writing

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Replace the value.

        Args:
            value: of a compatible shape and the same dtype; Python numbers and arrays convert.

        Returns:
            The Variable; in the graph of a session a tensor, the value after the assignment.

        Raises:
            ShapeError: the shape does not fit.
            DTypeError: the dtype differs.
        """
        tensor = value if isinstance(value, Tensor) else convert_to_tensor(value, None, self.dtype)
        if tensor.dtype is not self.dtype:
            raise DTypeError(f"assign: Variable {self.name!r} holds {self.dtype.name}, and the value is {tensor.dtype.name}; use td.cast")
        self.require_fitting(tensor.shape)
        graph = LOCAL.graph
        if graph is not None:
            return graph.assign(self, tensor)
        if isinstance(tensor, SymbolicTensor):
            raise leaked(tensor)
        self._buffer = to_device(tensor, self._key.device)._buffer
        return self

    def require_fitting(self, shape: TensorShape) -> None:
        """Refuse the shape of a value that the Variable cannot take.

        Raises:
            ShapeError: it does not fit.
        """
        if not self._shape.is_compatible_with(shape):
            raise ShapeError(f"assign: Variable {self.name!r} has shape {self._shape}, and the value has {shape}; they must be compatible")

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Add to the value."""
        return self.assign(registry.role("__add__")(self._unwatched(), self._operand(delta)))

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Subtract from the value."""
        return self.assign(registry.role("__sub__")(self._unwatched(), self._operand(delta)))

    def _unwatched(self) -> Any:
        with state.untaped():
            return self.value()

    def _operand(self, delta: Any) -> Any:
        tensor = convert_to_tensor(delta, None, self.dtype)
        if not isinstance(delta, Variable) and self._shape.is_fully_defined() and tensor.shape.rank:
            self.require_fitting(tensor.shape)
            if not tensor.shape.is_fully_defined():
                tensor = registry.role("ensure_shape")(tensor, self._shape)
        return tensor

    def assign_slice(self, index: Any, value: Any) -> Any:
        """Replace the part of the value that ``self[index]`` reads."""
        with state.untaped():
            return self.assign(registry.role("set_item")(self.value(), index, value))

    # ------------------------------------------------------------------ copying and printing

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Add rows to those at the same indices (``td.IndexedSlices``); rows of one index add up."""
        return self._scatter("add", sparse_delta)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Subtract rows from those at the same indices."""
        return self._scatter("sub", sparse_delta)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Multiply the rows at the same indices by rows."""
        return self._scatter("mul", sparse_delta)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Divide the rows at the same indices by rows."""
        return self._scatter("div", sparse_delta)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace elements by those of rows that are larger."""
        return self._scatter("max", sparse_delta)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace elements by those of rows that are smaller."""
        return self._scatter("min", sparse_delta)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace the rows at the same indices; of several for one index the last stays."""
        return self._scatter("update", sparse_delta)

    def _scatter(self, how: str, rows: Any) -> Any:
        with state.untaped():
            return self.assign(registry.role("scatter_rows")(self.value(), rows, how))

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        if LOCAL.graph is not None:
            raise InvalidArgumentError(f"Variable {self.name!r} cannot be copied while tracing")
        twin = Variable(self._now(), self._trainable, name=self.name.removesuffix(":0"), shape=self._shape)
        memo[id(self)] = twin
        return twin

    def __reduce__(self) -> Any:
        return (
            _unpickle,
            (self._now(), self._trainable, self.name.removesuffix(":0"), self._shape.as_list() if self._shape.rank is not None else None),
        )

    def __repr__(self) -> str:
        head = f"<tf.Variable '{self.name}' shape={self._shape} dtype={self.dtype.name}"
        return (
            f"{head}>"
            if LOCAL.graph is not None or not hasattr(self, "_buffer")
            else f"{head}, numpy={self._now().__repr__().partition('numpy=')[2]}"
        )

    __str__ = __repr__


def no_value(variable: Variable) -> FailedPreconditionError:
    """The error of reading a Variable that holds nothing."""
    node = variable.initializer
    where = "" if node is None else f" outside of a session; it was made in graph {node.graph.name!r}, at {node.source}"
    return FailedPreconditionError(
        f"Variable {variable.name!r} has no value{where}. A Variable that is made in a graph gets its value in a session: run "
        "td.compat.v1.global_variables_initializer() first, and read it with session.run"
    )


def _unpickle(value: Tensor, trainable: bool, name: str, shape: Any) -> Variable:
    return Variable(value, trainable, name=name, shape=TensorShape(shape))
