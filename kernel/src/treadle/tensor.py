"""The user's value: an immutable tensor with its buffer on a device, or symbolic while tracing.

Operators are roles that a plugin fills; they are put on ``Operators`` when it does, so that ``x + y`` costs no more than the op.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from treadle import plugins
from treadle.contracts.device import Key
from treadle.contracts.lists import BufferList
from treadle.dtypes import DType
from treadle.registry import registry
from treadle.shapes import TensorShape

OPERATORS = tuple(
    f"__{name}__"
    for name in [
        "add",
        "radd",
        "sub",
        "rsub",
        "mul",
        "rmul",
        "truediv",
        "rtruediv",
        "floordiv",
        "rfloordiv",
        "mod",
        "rmod",
        "pow",
        "rpow",
        "matmul",
        "rmatmul",
        "and",
        "rand",
        "or",
        "ror",
        "xor",
        "rxor",
        "neg",
        "pos",
        "abs",
        "invert",
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "getitem",
        "round",
    ]
)

next_id = itertools.count(1).__next__
"""Identities for tapes: never reused, unlike ``id()``."""


class Reference:
    """A hashable stand-in for a tensor or Variable, equal by identity (TensorFlow's ``Tensor.ref()``)."""

    __slots__ = ("_thing",)

    def __init__(self, thing: Any) -> None:
        self._thing = thing

    def deref(self) -> Any:
        """The tensor or Variable."""
        return self._thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._thing is other._thing

    def __hash__(self) -> int:
        return id(self._thing)

    def __repr__(self) -> str:
        return f"<Reference to {self._thing!r}>"


class Operators:
    """What tensors and Variables share: operators, and the errors that say why something is not a Python value."""

    __slots__ = ()
    __array_priority__ = 100

    if TYPE_CHECKING:
        _id: int
        dtype: Any
        shape: Any

        def __getitem__(self, index: Any) -> Any: ...

    def __hash__(self) -> NoReturn:
        name = type(self).__name__
        noun = "variable" if name == "Variable" else "tensor"
        raise TypeError(f"{name} is unhashable, since == compares by element; use {noun}.ref() as the key instead")

    def ref(self) -> Reference:
        """A hashable reference, to use as a dictionary key or in a set."""
        return Reference(self)


def _bootstrap(name: str) -> Callable[..., Any]:
    """The operator before it was needed: load what fills its role, and put that in place."""

    def operator(self: Any, *args: Any) -> Any:
        plugins.host.load_ops()
        function = registry.role(name)
        setattr(Operators, name, function)
        return function(self, *args)

    operator.__name__ = name
    return operator


def install_operators() -> None:
    """Put what fills the operator roles on ``Operators``; called after every registration."""
    for name in OPERATORS:
        entry = registry.roles.get(name)
        setattr(Operators, name, entry.value if entry is not None and entry.is_loaded else _bootstrap(name))


class Tensor(Operators):
    """An immutable array of one dtype on one device (TensorFlow's ``tf.Tensor``).

    Made by ``td.constant``, ``td.convert_to_tensor`` and by ops, never directly.
    """

    __slots__ = ("__weakref__", "_buffer", "_id", "_key", "_origin")

    _buffer: Any
    _key: Key
    _id: int

    def __init__(self, buffer: Any, key: Key) -> None:
        self._buffer = buffer
        self._key = key
        self._id = 0

    # ------------------------------------------------------------------ description

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._key.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape; sizes that are unknown while tracing are None."""
        return TensorShape._of(self._buffer.shape)

    @property
    def dims(self) -> Any:
        """Sizes as a tuple, symbolic where unknown while tracing; None for an unknown rank."""
        return self._buffer.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._buffer.shape)

    @property
    def device(self) -> str:
        """Where the buffer is, as ``/CPU:0``."""
        result: str = self._key.device.name
        return result

    @property
    def name(self) -> str:
        """Eager tensors have no name; as in TensorFlow, asking is an error."""
        raise AttributeError("Tensor.name is undefined for a tensor that is not symbolic")

    def get_shape(self) -> TensorShape:
        """The same as ``shape``."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Check that ``shape`` is compatible with this tensor's."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {TensorShape(shape)}")

    # ------------------------------------------------------------------ content

    def numpy(self) -> Any:
        """A writable NumPy copy (a NumPy scalar for rank 0)."""
        host = self._host()
        return host[()] if host.ndim == 0 else np.array(host)

    def _host(self) -> np.ndarray[Any, Any]:
        result: np.ndarray[Any, Any] = self._key.device.copy_out(self._buffer)
        return result

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        host = self._host()
        view = np.asarray(host.data.toreadonly()) if host.dtype.isbuiltin == 1 and host.flags.c_contiguous else host.view()
        view.flags.writeable = False
        if dtype is not None and view.dtype != dtype:
            if copy is False:
                raise ValueError(f"a {view.dtype} tensor cannot be seen as {dtype} without a copy")
            return view.astype(dtype)
        return np.array(view) if copy else view

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
        host = self.__array__()
        if max_version is None or tuple(max_version) < (1, 0):
            host = np.array(host)  # a consumer that cannot read the read-only flag gets a copy of its own
            return host.__dlpack__()
        return host.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._host().__dlpack_device__()

    def assign(self, value: Any) -> Any:
        """Assign to the slice of a Variable that this tensor is: ``v[1:].assign(x)``."""
        origin = getattr(self, "_origin", None)
        if origin is None:
            raise TypeError("tensors are immutable; only a slice of a Variable, such as v[1:3], can be assigned to")
        return origin[0].assign_slice(origin[1], value)

    def __bool__(self) -> bool:
        size = self._host().size
        if size != 1:
            raise ValueError(
                f"the truth value of a tensor of shape {self.shape} is ambiguous; use td.reduce_any() or td.reduce_all(), "
                "or td.logical_and() for a chained comparison"
            )
        return bool(self._host().reshape(()))

    def _scalar(self, kind: str) -> Any:
        host = self._host()
        if host.size != 1:
            raise TypeError(f"only tensors with one element convert to a Python {kind}; this one has shape {self.shape}")
        return host.reshape(())[()]

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        if not (self.dtype.is_integer and self._buffer.shape == ()):
            raise TypeError(f"only integer scalar tensors can be an index; this one has dtype {self.dtype.name} and shape {self.shape}")
        return int(self._scalar("int"))

    def __len__(self) -> int:
        shape = self._buffer.shape
        if not shape:
            raise TypeError("scalar tensor has no len()")
        return int(shape[0])

    def __iter__(self) -> Iterator[Any]:
        shape = self._buffer.shape
        if not shape:
            raise TypeError("cannot iterate over a scalar tensor")
        return (self[i] for i in range(shape[0]))

    def __contains__(self, item: Any) -> bool:
        raise TypeError("`in` does not work on tensors; use td.reduce_any(td.equal(tensor, item))")

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec)

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __reduce__(self) -> Any:
        return (_unpickle, (self.numpy() if self.ndim else np.asarray(self.numpy()),))

    # ------------------------------------------------------------------ devices

    def cpu(self) -> Tensor:
        """A copy on the CPU; the tensor itself if it is there."""
        return self._on("/CPU:0")

    def gpu(self, gpu_index: int = 0) -> Tensor:
        """A copy on a GPU; the tensor itself if it is there."""
        return self._on(f"/GPU:{gpu_index}")

    def _on(self, name: str) -> Tensor:
        from treadle.devices import find

        return to_device(self, find(name))

    # ------------------------------------------------------------------ printing

    def __str__(self) -> str:
        if self.dtype.kind == "l":
            return repr(self)
        return f"tf.Tensor({_text(self._host(), str)}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        if self.dtype.kind == "l":
            return f"<tf.Tensor: dtype={self.dtype.name}, {self._buffer!r}>"
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={_text(self._host(), repr)}>"


def _text(host: np.ndarray[Any, Any], form: Callable[[Any], str]) -> str:
    if host.ndim:
        return form(host)
    value = host[()]
    return str(value) if host.dtype.kind in "biufc" else form(value.item())


def _unpickle(array: np.ndarray[Any, Any]) -> Tensor:
    from treadle.conversion import from_array

    return from_array(array)


def to_device(tensor: Tensor, device: Any) -> Tensor:
    """The tensor on ``device``: itself if it is there, else a copy."""
    source, buffer = tensor._key.device, tensor._buffer
    if source is device:
        return tensor
    if type(buffer) is BufferList:
        copied: Any = BufferList({position: device.copy_from(item, source) for position, item in buffer.items.items()}, buffer.size)
    else:
        copied = device.copy_from(buffer, source)
    return Tensor(copied, device.key(tensor._key.dtype))


registry.on_invalidate(install_operators)
install_operators()
