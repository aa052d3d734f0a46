"""What variables hold, as leaves that go through a graph and leaves that do not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treadle.conversion import convert_to_tensor, host_array
from treadle.dtypes import DType, complex128, float32, from_numpy, int32, int64
from treadle.dtypes import bool as bool_
from treadle.registry import registry
from treadle.tensor import Tensor
from treadle.treedef import flatten_to
from treadle.variable import Variable
from treadle_autograph.cells import EMPTY, Maybe
from treadle_autograph.jumps import RESULT
from treadle_autograph.names import HIDDEN

NUMBERS = (bool, int, float, complex)


class Taken(NamedTuple):
    """A value taken apart."""

    structure: Any
    leaves: list[Any]


def is_value(leaf: Any) -> bool:
    """True for what can become a tensor: tensors, Variables, arrays and Python numbers."""
    return isinstance(leaf, Tensor | Variable | np.ndarray | np.generic | bool | int | float | complex) or hasattr(type(leaf), "__treadle_tensor__")


def is_bool(leaf: Any) -> bool:
    """True for a bool, and what becomes a tensor of bools."""
    return is_value(leaf) and dtype_of(leaf).is_bool


def is_number(leaf: Any) -> bool:
    """True for a number, and what becomes a tensor of numbers."""
    return is_value(leaf) and not dtype_of(leaf).is_bool


def take_apart(value: Any) -> Taken:
    """The structure of a value and its leaves."""
    leaves: list[Any] = []
    try:
        return Taken(flatten_to(value, leaves), leaves)
    except TypeError:  # a mapping whose keys have no order
        return Taken(flatten_to(None, []), [value])


def as_it_is(value: Any) -> Any:
    """A structure that later changes of its containers do not show in."""
    structure, leaves = take_apart(value)
    return structure.unflatten(leaves)


def are_same(a: Any, b: Any) -> bool:
    """True if two leaves are one object, or equal Python values."""
    if a is b:
        return True
    if type(a) is not type(b) or isinstance(a, Tensor | Variable | np.ndarray | np.generic):
        return False
    if isinstance(a, float | complex):
        return repr(a) == repr(b)
    try:
        return bool(a == b)
    except Exception:
        return False


def shown(name: str) -> str:
    """A variable in a message."""
    return "the return value" if name == RESULT else name if " " in name else repr(name)


def is_internal(name: str) -> bool:
    """True for the converter's own variables."""
    return name.startswith(HIDDEN)


def described(value: Any) -> str:
    """A value in a message: what kind it is, with shape and dtype."""
    if isinstance(value, Maybe):
        return described(value.value)
    if isinstance(value, Tensor | Variable):
        return f"a tensor of shape {value.shape} and dtype {value.dtype.name}"
    if value is EMPTY:
        return "undefined"
    if value is None or isinstance(value, NUMBERS):
        return f"the Python value {value!r}" if value is not None else "None"
    if isinstance(value, list | tuple | dict):
        return f"a {type(value).__name__} of {len(value)} items"
    text = repr(value)
    return text if len(text) < 60 else f"a {type(value).__name__}"


def as_tensor(leaf: Any, dtype: DType | None = None) -> Any:
    """A leaf as a tensor; Python numbers take ``dtype`` where it can hold them."""
    return convert_to_tensor(leaf, None, dtype)


def dtype_of(leaf: Any) -> DType:
    """The dtype that a leaf has as a tensor."""
    if isinstance(leaf, Tensor | Variable):
        return leaf.dtype
    array = host_array(leaf, None, None) if not hasattr(type(leaf), "__treadle_tensor__") else None
    return convert_to_tensor(leaf).dtype if array is None else from_numpy[array.dtype]


def common_dtype(a: Any, b: Any) -> tuple[DType | None, str]:
    """The dtype that two leaves have in common, Python numbers adapting; None, and the dtypes in words, if there is none."""
    numbers = [isinstance(x, NUMBERS) for x in (a, b)]
    dtypes = [dtype_of(x) for x in (a, b)]
    if dtypes[0] is not dtypes[1] and any(numbers):
        if all(numbers):
            wide = max(dtypes, key=_WIDTH.index)
        else:
            wide = dtypes[numbers.index(False)]
        if all(not is_number or d is wide or fits(d, wide) for is_number, d in zip(numbers, dtypes, strict=True)):
            return wide, ""
    if dtypes[0] is dtypes[1]:
        return dtypes[0], ""
    return None, f"{dtypes[0].name} and {dtypes[1].name}"


_WIDTH = (bool_, int32, int64, float32, complex128)
"""What Python numbers become, the widest last."""


def fits(number: DType, dtype: DType) -> bool:
    """True if a Python number that would be of dtype ``number`` can be of ``dtype`` instead."""
    if number.is_bool or dtype.is_bool:
        return False
    order = [d.is_integer + 2 * d.is_floating + 3 * d.is_complex for d in (number, dtype)]
    return order[0] <= order[1]


def dims_of(leaf: Any) -> Any:
    """The sizes of a leaf's axes, or None."""
    return leaf.dims if isinstance(leaf, Tensor | Variable) else np.shape(leaf)


def zeros_like(leaf: Any) -> Any:
    """Zeros to stand where there is no value, like one that is elsewhere; unknown sizes are 0."""
    return registry.role("zeros")(tuple(d if isinstance(d, int) else 0 for d in dims_of(leaf) or ()), dtype_of(leaf))
