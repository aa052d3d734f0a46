"""How public functions turn TensorFlow's arguments into an op's: numbers, axes, shapes, dtypes and tensors.

What they raise names the public function that was called and the argument.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.conversion import convert_to_tensor, host_value, to_tuples
from treadle.dtypes import DType, as_dtype
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError, prefix
from treadle.inspection import get_static_value
from treadle.registry import registry
from treadle.shapes import TensorShape
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle_ops.called_function import blame, subject


def axes_argument(axis: Any, what: str = "axis") -> tuple[int, ...] | None:
    """An axis argument (None, an int, a list, or a tensor whose value is known) as a tuple of ints, or None.

    Raises:
        InvalidArgumentError: its value is not known while tracing.
    """
    if axis is None:
        return None
    if type(axis) is int:
        return (axis,)
    known = axes_or_tensor(axis, what)
    if isinstance(known, Tensor):
        raise _unknown(known, what)
    return known if isinstance(known, tuple) else (known,)


def axis_argument(axis: Any, what: str = "axis") -> int:
    """One axis as an int."""
    if type(axis) is int:
        return axis
    axes = axes_argument(axis, what)
    if axes is None or len(axes) != 1:
        raise InvalidArgumentError(f"{subject()}{what} must be one integer, got {axis!r}")
    return axes[0]


def axes_or_tensor(axis: Any, what: str = "axis") -> Any:
    """An axis argument as an int or a tuple of ints where it is known, else an integer tensor.

    Raises:
        DTypeError: it is not of integers.
    """
    if type(axis) is int:
        return axis
    axes = integers_argument(axis, what)
    if isinstance(axes, Tensor):
        known = get_static_value(axes)
        axes = axes if known is None else to_tuples(known.tolist())
    if type(axes) is tuple and any(type(a) is tuple for a in axes):
        raise ShapeError(f"{subject()}{what} must be an integer or a vector of them, got {axis!r}")
    return axes


def static_value(value: Any, what: str) -> Any:
    """The value of an argument that must be known while tracing, as nested tuples of numbers.

    Raises:
        InvalidArgumentError: it is a tensor whose value is not known.
    """
    if isinstance(value, SymbolicTensor):
        known = get_static_value(value)
        if known is None:
            raise _unknown(value, what)
        return host_value(known)
    try:
        return host_value(value)
    except (TypeError, ValueError) as error:
        prefix(error, f"{subject()}{what}")
        raise


def static_integer(value: Any, what: str) -> int:
    """The value of an integer argument that must be known while tracing.

    Raises:
        InvalidArgumentError: it is not one integer, or a tensor whose value is not known.
    """
    if type(value) is int:
        return value
    known = static_value(value, what)
    if type(known) is not int:
        raise InvalidArgumentError(f"{subject()}{what} must be one integer, got {value!r}")
    return known


def static_number(value: Any, what: str) -> float:
    """The value of a real argument that must be known while tracing.

    Raises:
        InvalidArgumentError: it is not one real number, or a tensor whose value is not known.
    """
    known = static_value(value, what)
    if type(known) not in (int, float):
        raise InvalidArgumentError(f"{subject()}{what} must be one real number, got {value!r}")
    return known


def _unknown(value: Any, what: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{subject()}{what} is a tensor whose value is not known while tracing ({value!r}); it must be a Python number or a constant"
    )


def integer_argument(value: Any, what: str) -> Any:
    """One integer whose value shapes a result: an int where it is known, else an integer tensor.

    Raises:
        DTypeError: it is not an integer.
        ShapeError: it is more than one.
    """
    if type(value) is int:
        return value
    found = integers_argument(value, what)
    if type(found) is tuple or (isinstance(found, Tensor) and found.dims not in ((), None)):
        raise ShapeError(f"{subject()}{what} must be one integer, got {value!r}")
    return found


def integers_argument(value: Any, what: str) -> Any:
    """Integers whose value shapes a result: an int or nested tuples of ints where they are known, else an integer tensor.

    Args:
        value: an int, nested lists of ints and tensors, an array, a shape, a tensor or a Variable.
        what: for messages, such as ``"a shape"``.

    Raises:
        DTypeError: something in it is not an integer.
    """
    kind = type(value)
    if kind is int:
        return value
    if kind is tuple or kind is list:
        for item in value:
            if type(item) is not int:
                break
        else:
            return tuple(value)
        items = [integers_argument(item, what) for item in value]
        if any(_has_tensor(item) for item in items):
            return convert_to_tensor(items)
        if len({len(item) if type(item) is tuple else None for item in items}) > 1:
            raise ShapeError(f"{subject()}{what} must be a rectangular list of integers, got {value!r}")
        return tuple(items)
    if isinstance(value, TensorShape):
        if not value.is_fully_defined():
            raise ShapeError(f"{subject()}{what} cannot be {value}, which is not fully known; use td.shape(x) instead of x.shape while tracing")
        return tuple(value.as_list())
    if hasattr(kind, "__treadle_tensor__"):
        value = convert_to_tensor(value)
    if isinstance(value, SymbolicTensor):
        if not value.dtype.is_integer:
            raise DTypeError(f"{subject()}{what} must be integers, got a tensor of dtype {value.dtype.name}. Use td.cast to convert it.")
        return value
    if isinstance(value, Tensor | np.ndarray | np.generic):
        host = np.asarray(value)
        if host.dtype.kind not in "iu" and host.size:
            raise DTypeError(f"{subject()}{what} must be integers, got a tensor of dtype {host.dtype}. Use td.cast to convert it.")
        return to_tuples(host.tolist())
    if hasattr(value, "__index__") and not isinstance(value, bool):
        return int(value)
    raise DTypeError(f"{subject()}{what} must be integers, got {value!r} ({kind.__name__})")


def list_argument(values: Any, what: str) -> list[Any]:
    """Tensors in a list.

    Raises:
        DTypeError: it is no list, nor anything else to go through.
    """
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise DTypeError(f"{subject()}{what} must be a list of tensors, not {values!r} ({type(values).__name__})")
    return list(values)


def _has_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, tuple) and any(_has_tensor(v) for v in value))


def shape_argument(shape: Any) -> Any:
    """A shape as a tuple of ints where it is known, else a tensor.

    Raises:
        DTypeError: a size is not an integer.
    """
    if type(shape) is tuple or type(shape) is list:
        for size in shape:
            if type(size) is not int:
                break
        else:
            return tuple(shape)
    sizes = integers_argument(shape, "a shape")
    if isinstance(sizes, Tensor):
        return registry.role("reshape")(sizes, (1,)) if sizes.dims == () else sizes
    if type(sizes) is not tuple:
        return (sizes,)
    if any(type(size) is tuple for size in sizes):
        raise ShapeError(f"{subject()}a shape must be a vector of integers, got {shape!r}")
    return sizes


def dtype_argument(dtype: Any, default: DType) -> DType:
    """A dtype argument, or the default for None."""
    return default if dtype is None else as_dtype(dtype)


def tensor(value: Any, like: Any = None) -> Any:
    """A value as a tensor, Python numbers by the dtype of ``like``."""
    return value if isinstance(value, Tensor) else tensor_argument(value, hint=None if like is None else like.dtype)


def tensor_argument(value: Any, dtype: DType | None = None, hint: DType | None = None) -> Any:
    """A value as a tensor of a dtype, or of the hint where it has none of its own.

    Raises:
        DTypeError: it cannot become one, or has another dtype.
    """
    try:
        return convert_to_tensor(value, dtype, hint)
    except (TypeError, ValueError) as error:
        blame(error, value)
        raise
