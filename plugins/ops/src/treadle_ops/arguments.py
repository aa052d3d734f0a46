"""How public functions turn TensorFlow's arguments into an op's: axes, shapes, dtypes and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.conversion import convert_to_tensor, host_value
from treadle.dtypes import DType, as_dtype
from treadle.errors import InvalidArgumentError
from treadle.inspection import get_static_value
from treadle.shapes import TensorShape
from treadle.tensor import SymbolicTensor, Tensor
from treadle.variable import Variable


def axes_argument(axis: Any, what: str = "axis") -> tuple[int, ...] | None:
    """An axis argument (None, an int, a list, or a tensor whose value is known) as a tuple of ints, or None.

    Raises:
        InvalidArgumentError: its value is not known while tracing.
    """
    if axis is None:
        return None
    if type(axis) is int:
        return (axis,)
    known = static_value(axis, what)
    return tuple(int(a) for a in known) if isinstance(known, tuple) else (int(known),)


def axis_argument(axis: Any, what: str = "axis") -> int:
    """One axis as an int."""
    return axis if type(axis) is int else int(static_value(axis, what))


def static_value(value: Any, what: str) -> Any:
    """The value of an argument that must be known while tracing, as nested tuples of numbers.

    Raises:
        InvalidArgumentError: it is a tensor whose value is not known.
    """
    if isinstance(value, SymbolicTensor):
        known = get_static_value(value)
        if known is None:
            raise InvalidArgumentError(f"{what} is a tensor whose value is not known while tracing ({value!r}); it must be a Python number or a constant")
        return host_value(known)
    return host_value(value)


def shape_argument(shape: Any) -> Any:
    """A shape as a tuple of ints where it is known, else as it came: a tensor, or a list with tensors inside.

    Raises:
        InvalidArgumentError: a size is not an integer.
    """
    if type(shape) is tuple and all(type(s) is int for s in shape):
        return shape
    if isinstance(shape, Tensor | Variable):
        if not isinstance(shape, SymbolicTensor):
            host = np.asarray(shape)
            if host.dtype.kind not in "iu":
                raise InvalidArgumentError(f"a shape must be integers, got a tensor of dtype {host.dtype}")
            return tuple(int(s) for s in host.reshape(-1)) if host.ndim else (int(host),)
        return shape
    if isinstance(shape, TensorShape):
        return tuple(shape.as_list())
    if isinstance(shape, np.ndarray | np.generic):
        return tuple(int(s) for s in shape.reshape(-1))
    if isinstance(shape, list | tuple):
        if any(isinstance(s, Tensor) for s in shape):
            if any(isinstance(s, SymbolicTensor) for s in shape):
                return list(shape)
            return tuple(int(s) for s in shape)
        for size in shape:
            if isinstance(size, float | bool) or not hasattr(size, "__index__"):
                raise InvalidArgumentError(f"a shape must be integers, got {size!r} in {list(shape)}")
        return tuple(int(s) for s in shape)
    if hasattr(shape, "__index__"):
        return (int(shape),)
    raise InvalidArgumentError(f"{shape!r} ({type(shape).__name__}) is not a shape")


def dtype_argument(dtype: Any, default: DType) -> DType:
    """A dtype argument, or the default for None."""
    return default if dtype is None else as_dtype(dtype)


def tensor(value: Any, like: Any = None) -> Any:
    """A value as a tensor, Python numbers by the dtype of ``like``."""
    return value if isinstance(value, Tensor) else convert_to_tensor(value, None, None if like is None else like.dtype)
