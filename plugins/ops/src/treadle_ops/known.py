"""Known values of shape-like results as arrays of ints and symbolic sizes, so that inference computes with them as NumPy would.

A value is known while tracing when it follows from constants and from sizes of axes; ``Spec.value`` holds it as nested tuples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treadle.contracts.spec import Dims, Spec
from treadle.conversion import to_tuples
from treadle.dtypes import DType, int32

LARGEST = 64
"""Elements up to which a value is carried along; shapes are shorter."""


def known(spec: Spec) -> np.ndarray[Any, Any] | None:
    """The known value of a spec as an array of objects of its shape, or None."""
    if spec.value is None or not spec.is_static:
        return None
    return np.array(spec.value, object).reshape(spec.dims)


def carried(function: Callable[..., Any], *specs: Spec) -> Any:
    """The value of a result whose inputs have these specs, as ``Spec`` holds it.

    Args:
        function: of one array of objects per spec; an array of objects.
        *specs: of integer or bool values.

    Returns:
        The value; None if one of the inputs' is not known, or if it is too large.
    """
    arrays = [known(s) for s in specs]
    if any(a is None for a in arrays):
        return None
    return value_of(function(*arrays))


def value_of(array: np.ndarray[Any, Any]) -> Any:
    """An array of objects as ``Spec`` holds a value; None if it is too large, or if nested tuples cannot tell its shape."""
    return to_tuples(array.tolist()) if array.size <= LARGEST and (array.size or array.ndim < 2) else None


def is_short(dims: Dims) -> bool:
    """True if a result of these dims is small enough to carry its value along."""
    size = Spec(dims, int32).size
    return isinstance(size, int) and size <= LARGEST


def repeated(number: Any, dims: Dims, dtype: DType) -> Any:
    """The value of a tensor that holds one number everywhere; None if it is not shape-like, or if its size is unknown."""
    if number is None or dtype.kind not in "iub" or not is_short(dims) or not all(isinstance(d, int) for d in dims or ()):
        return None
    result = np.empty(dims or (), object)
    result[...] = number
    return value_of(result)
