"""Turning Python numbers, nested lists and NumPy arrays into tensors, by TensorFlow's rules.

Python ints become int32 (int64 where they do not fit), floats float32, complex numbers complex128, bools bool; NumPy values keep their dtype, but not
inside a list. A wanted dtype is met by Python numbers that it can hold and by NumPy values, which are cast. Where numbers are wanted, bools are 1 and
0. Arrays handed in are copied.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treadle import devices, dtypes
from treadle.contracts.spec import Spec
from treadle.dtypes import DType, as_dtype, from_numpy
from treadle.errors import DTypeError, InvalidArgumentError
from treadle.registry import registry
from treadle.shapes import TensorShape
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor, leaked
from treadle.tensor import Tensor

_NUMBERS = (bool, int, float, complex)
_KIND_ORDER = {"b": -1, "i": 0, "u": 0, "f": 1, "c": 2}
_INT32 = range(-(2**31), 2**31)


def from_array(array: np.ndarray[Any, Any], device: Any = None) -> Tensor:
    """An eager tensor with a copy of a host array."""
    dtype = from_numpy.get(array.dtype)
    if dtype is None:
        dtype = as_dtype(array.dtype)  # raises for what is not numeric; else only the byte order is foreign
        array = array.astype(dtype.numpy)
    device = device or devices.default()
    return Tensor(device.copy_in(array), device.key(dtype))


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """A tensor of a value (TensorFlow's ``tf.convert_to_tensor``).

    Args:
        value: a tensor, Variable, Python number, nested list or tuple of these, NumPy array, or an object with ``__array__``.
        dtype: the dtype that the result must have.
        dtype_hint: a dtype to prefer where ``value`` has none of its own.
        name: ignored; tensors of a graph are named by their node.

    Returns:
        The tensor; ``value`` itself if it is one.

    Raises:
        DTypeError: ``value`` has another dtype, or cannot be held by the wanted one.
        ValueError: a nested list is not rectangular.
    """
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype is not as_dtype(dtype):
            raise DTypeError(
                f"a tensor of dtype {value.dtype.name} was given where {as_dtype(dtype).name} is wanted: {value!r}. Use td.cast to convert it."
            )
        return value
    wanted = None if dtype is None else as_dtype(dtype)
    protocol = getattr(type(value), "__treadle_tensor__", None)
    if protocol is not None:
        return convert_to_tensor(protocol(value), dtype)
    array = host_array(value, wanted, None if dtype_hint is None else as_dtype(dtype_hint))
    if array is None:
        return _pack(value, wanted or (None if dtype_hint is None else as_dtype(dtype_hint)))
    return place(array)


def place(array: np.ndarray[Any, Any]) -> Any:
    """A host array as a tensor: a constant of the graph being traced, or an eager tensor."""
    graph = LOCAL.graph
    if graph is not None:
        return SymbolicTensor(graph.constant(array))
    return from_array(array)


_MOST_REPEATED = 1024
"""Elements up to which a number repeated to a shape is kept in a graph as they are; more of them are computed there."""


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """A constant tensor (TensorFlow's ``tf.constant``).

    Args:
        value: a Python number, nested list, or NumPy array.
        dtype: of the result; by default that of the value.
        shape: of the result; a scalar is repeated to fill it, other values must have as many elements.
        name: ignored.

    Returns:
        The tensor.

    Raises:
        DTypeError: the value cannot be held by ``dtype``.
        ValueError: the value is not rectangular, or does not fit ``shape``.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor) or hasattr(type(value), "__treadle_tensor__"):
        tensor = convert_to_tensor(value)
        if wanted is not None and tensor.dtype is not wanted:
            tensor = registry.role("cast")(tensor, wanted)
        return tensor if shape is None else registry.role("reshape")(tensor, TensorShape(shape).as_list())
    array = host_array(value, wanted, None)
    if array is None:
        packed = _pack(value, wanted)
        return packed if shape is None else registry.role("reshape")(packed, TensorShape(shape).as_list())
    if shape is not None:
        dims: Any = tuple(TensorShape(shape).as_list())
        if array.ndim == 0 or (array.size == 1 and array.shape != dims):
            if LOCAL.graph is not None and math.prod(dims) > _MOST_REPEATED:
                return registry.role("broadcast_to")(place(array.reshape(())), dims)
            array = np.broadcast_to(array.reshape(()), dims)
        elif array.size != TensorShape(shape).num_elements():
            raise DTypeOrShape(
                f"a constant of shape {TensorShape(shape)} needs {TensorShape(shape).num_elements()} elements, and the value has {array.size}"
            )
        else:
            array = array.reshape(dims)
    return place(array)


DTypeOrShape = DTypeError
"""TensorFlow raises TypeError for a constant whose value does not fill its shape."""


def host_array(value: Any, wanted: DType | None, hint: DType | None) -> np.ndarray[Any, Any] | None:
    """A value as a NumPy array of the dtype it gets as a tensor; None if tensors are nested in it."""
    kind = type(value)
    if kind in _NUMBERS:
        return _of_numbers(value, value, kind, wanted, hint)
    if isinstance(value, np.ndarray | np.generic):
        return _of_numpy(np.asarray(value), wanted, hint)
    if isinstance(value, TensorShape):
        return host_array(value.as_list(), wanted, hint or dtypes.int32)
    if value is None:
        raise ValueError(
            "Attempt to convert a value (None) with an unsupported type (NoneType) to a Tensor: None is no value; was a `return` forgotten?"
        )
    if isinstance(value, str | bytes):
        raise DTypeError(f"{value!r} cannot become a tensor: treadle has no string dtype")
    if isinstance(value, list | tuple | range):
        return _of_sequence(value, wanted, hint)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return _of_numpy(np.asarray(value), wanted, hint)
    if isinstance(value, DType):
        raise DTypeError(f"a dtype ({value.name}) was given where a tensor is wanted")
    raise _unconvertible(value)


def _unconvertible(value: Any) -> Exception:
    text = f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value).__name__}) to a Tensor"
    return UnconvertibleError(text)


class UnconvertibleError(DTypeError):
    """TensorFlow raises ValueError eagerly and TypeError while tracing."""


def _of_sequence(value: Any, wanted: DType | None, hint: DType | None) -> np.ndarray[Any, Any] | None:
    leaves: list[Any] = []
    shape = _measure(value, leaves)
    if shape is None:
        return None
    kinds = {type(leaf) for leaf in leaves}
    if not kinds <= {bool, int, float, complex}:
        for leaf in leaves:
            if leaf is None or isinstance(leaf, str | bytes | dict | set):
                host_array(leaf, wanted, hint) if not isinstance(leaf, dict | set) else None
                raise _unconvertible(leaf)
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise ValueError(f"a nested list that is not rectangular cannot become a tensor: {error}") from None
        if array.dtype == object:
            raise _unconvertible(value)
        return _of_mixed(array, leaves, wanted, hint)
    if bool in kinds and len(kinds) > 1:
        raise DTypeError(f"bools and numbers are mixed in {value!r}; a tensor has one dtype. Use td.cast on a bool tensor, or int(...)")
    kind = complex if complex in kinds else float if float in kinds else int if int in kinds else bool
    if not leaves:
        return np.zeros(shape, (wanted or hint or dtypes.float32).numpy)
    return _of_numbers(value, leaves, kind, wanted, hint, shape)


def _of_mixed(array: np.ndarray[Any, Any], leaves: list[Any], wanted: DType | None, hint: DType | None) -> np.ndarray[Any, Any]:
    """A nested list with NumPy's numbers or arrays in it: as of Python's, but floats are as wide as the first one, as in TensorFlow."""
    kinds = {leaf.dtype.kind if isinstance(leaf, np.ndarray | np.generic) else np.dtype(type(leaf)).kind for leaf in leaves}
    if "b" in kinds and len(kinds) > 1:
        raise DTypeError("bools and numbers are mixed in a list; a tensor has one dtype. Use td.cast on a bool tensor, or int(...)")
    if not kinds <= set("biufc"):
        return _of_numpy(array, wanted, hint)
    if wanted is None and (hint is None or not _keeps_integers(array, from_numpy[array.dtype], hint)):
        if array.dtype.kind == "f":
            own = getattr(leaves[0], "dtype", None)
            return array.astype(own if own is not None and own.kind == "f" else np.float32)
        if array.dtype.kind in "iu" and _keeps_integers(array, from_numpy[array.dtype], dtypes.int32):
            return array.astype(np.int32)
        return array.astype(np.complex128) if array.dtype.kind == "c" else array
    return _of_numpy(array, wanted, hint)


def _measure(value: Any, leaves: list[Any]) -> tuple[int, ...] | None:
    """The shape of a nested list, its leaves put in ``leaves``; None if a tensor is inside.

    Raises:
        ValueError: the list is not rectangular.
    """
    inner: tuple[int, ...] | None = None
    nested = 0
    for item in value:
        if isinstance(item, Tensor) or hasattr(type(item), "__treadle_tensor__"):
            return None
        if isinstance(item, list | tuple | range):
            below = _measure(item, leaves)
            if below is None:
                return None
        elif isinstance(item, np.ndarray):
            leaves.append(item)
            below = item.shape
        else:
            leaves.append(item)
            below = ()
        if nested and below != inner:
            raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor: {value!r} has items of the shapes {inner} and {below}")
        inner = below
        nested += 1
    return (nested, *(inner or ()))


def _of_numbers(value: Any, leaves: Any, kind: type, wanted: DType | None, hint: DType | None, shape: tuple[int, ...] = ()) -> np.ndarray[Any, Any]:
    if wanted is None and hint is not None and (kind is bool or _holds(hint, kind)):
        wanted = hint
    if wanted is None:
        if kind is int:
            numbers = leaves if isinstance(leaves, list) else (leaves,)
            if all(n in _INT32 for n in numbers):
                return np.array(value, np.int32)
            try:
                return np.array(value, np.int64)
            except OverflowError:
                raise DTypeError(
                    f"{value!r} does not fit int64, the widest integer dtype for a Python number; give a dtype such as td.uint64"
                ) from None
        with np.errstate(all="ignore"):
            return np.array(value, {float: np.float32, complex: np.complex128, bool: np.bool_}[kind])
    if not _holds(wanted, kind) and kind is not bool:
        shown = repr(value) if len(repr(value)) < 60 else repr(value)[:57] + "..."
        raise DTypeError(f"Cannot convert {shown} (Python {kind.__name__}) to a tensor of dtype {wanted.name}. Use td.cast, or a value of that kind.")
    if kind is int and wanted.is_integer:
        try:
            return np.array(value, wanted.numpy)
        except OverflowError:
            numbers = leaves if isinstance(leaves, list) else (leaves,)
            wrong = next((n for n in numbers if not wanted.min <= n <= wanted.max), value)
            raise NumberOutOfRange(f"{wrong} is out of range for {wanted.name}, which holds {wanted.min} to {wanted.max}") from None
    try:
        return _cast_numbers(value, kind, wanted)
    except OverflowError:
        raise NumberOutOfRange(f"{repr(value)[:60]} is out of range for {wanted.name}") from None


def _cast_numbers(value: Any, kind: type, wanted: DType) -> np.ndarray[Any, Any]:
    with np.errstate(all="ignore"):
        return (
            np.array(value, np.float64 if kind is not complex else np.complex128).astype(wanted.numpy)
            if wanted.kind == "f" and wanted.size < 4
            else np.array(value, wanted.numpy)
        )


class NumberOutOfRange(DTypeError, OverflowError):
    """A Python number that the tensor's dtype cannot hold."""


def _holds(dtype: DType, kind: type) -> bool:
    if kind is bool:
        return dtype.is_bool
    if dtype.is_bool:
        return False
    return {int: 0, float: 1, complex: 2}[kind] <= _KIND_ORDER.get(dtype.kind, 0)


def _of_numpy(array: np.ndarray[Any, Any], wanted: DType | None, hint: DType | None) -> np.ndarray[Any, Any]:
    own = from_numpy.get(array.dtype) or as_dtype(array.dtype)
    target = wanted or hint
    if target is None or target is own or (wanted is None and not _keeps_integers(array, own, target)):
        return array if array.dtype.isnative else array.astype(own.numpy)
    if wanted is None and (target.is_bool or _KIND_ORDER[own.kind] > _KIND_ORDER[target.kind]):
        return array
    if own.kind == "c" and target.kind != "c":
        raise DTypeError(
            f"Cannot convert a NumPy {own.name} value to a tensor of dtype {target.name}. Use td.cast on the tensor, or .astype on the array."
        )
    with np.errstate(all="ignore"):
        return array.astype(target.numpy)


def _keeps_integers(array: np.ndarray[Any, Any], own: DType, target: DType) -> bool:
    """Whether all of an array of integers is in the range of another integer dtype; True for anything else."""
    if not (own.is_integer and target.is_integer) or (own.min >= target.min and own.max <= target.max) or not array.size:
        return True
    return bool(array.min() >= target.min and array.max() <= target.max)


def _pack(value: Any, dtype: DType | None) -> Any:
    """A nested list with tensors inside: converted item by item, then stacked."""
    if dtype is None:
        dtype = next((leaf.dtype for leaf in _tensors_in(value)), None)
    items = [item if isinstance(item, Tensor) else convert_to_tensor(item, None, dtype) for item in value]
    return registry.role("stack")(items)


def _tensors_in(value: Any) -> Any:
    for item in value:
        if isinstance(item, Tensor) or hasattr(type(item), "__treadle_tensor__"):
            yield item
        elif isinstance(item, list | tuple):
            yield from _tensors_in(item)


def host_value(value: Any) -> Any:
    """The value of a host input as nested tuples of Python numbers.

    Raises:
        InvalidArgumentError: it is a symbolic tensor.
    """
    if isinstance(value, Tensor):
        if isinstance(value, SymbolicTensor):
            raise leaked(value)
        return to_tuples(value._host().tolist())
    if isinstance(value, list | tuple):
        return tuple(host_value(v) for v in value)
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return to_tuples(value.tolist())
    if isinstance(value, TensorShape):
        return tuple(value.as_list())
    protocol = getattr(type(value), "__treadle_tensor__", None)
    if protocol is not None:
        return host_value(protocol(value))
    if hasattr(value, "__index__"):
        return int(value)
    raise InvalidArgumentError(f"{value!r} ({type(value).__name__}) is not a number, nor a list of numbers")


def to_tuples(value: Any) -> Any:
    """Nested lists as nested tuples."""
    return tuple(to_tuples(v) for v in value) if isinstance(value, list) else value


def host_spec(value: Any) -> Spec:
    """The spec of a host value given as nested tuples of numbers (or symbolic sizes)."""
    dims = []
    inner = value
    while isinstance(inner, tuple):
        dims.append(len(inner))
        if not inner:
            return Spec(tuple(dims), dtypes.int32, value)
        inner = inner[0]
    if isinstance(inner, bool):
        return Spec(tuple(dims), dtypes.bool, value)
    if isinstance(inner, float):
        return Spec(tuple(dims), dtypes.float32, value)
    return Spec(tuple(dims), _integer_dtype(value), value)


def _integer_dtype(value: Any) -> DType:
    """The narrowest of int32, int64 and uint64 for nested tuples of ints (and symbolic sizes)."""
    if isinstance(value, tuple):
        found = {_integer_dtype(v) for v in value}
        return next((wide for wide in (dtypes.uint64, dtypes.int64) if wide in found), dtypes.int32)
    if not isinstance(value, int) or value in _INT32:
        return dtypes.int32
    return dtypes.uint64 if value > dtypes.int64.max else dtypes.int64
