"""What variables hold, as leaves that go through a graph and leaves that do not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treadle import nest
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.dtypes import DType
from treadle.registry import registry
from treadle.tensor import SymbolicTensor, Tensor
from treadle.variable import Variable
from treadle_autograph.cells import EMPTY
from treadle_autograph.errors import UndefinedVariableError
from treadle_autograph.jumps import RESULT
from treadle_autograph.names import HIDDEN

NUMBERS = (bool, int, float, complex)


class Maybe:
    """A value that is there only if a tensor holds; ``defined`` reads it.

    Attributes:
        value: the value, of no meaning if it is not there.
        is_there: a bool scalar tensor.
        name: of the variable.
        where: the branch or loop that may have left it undefined.
    """

    __slots__ = ("is_there", "name", "value", "where")

    def __init__(self, value: Any, is_there: Any, name: str, where: str) -> None:
        self.value = value
        self.is_there = is_there
        self.name = name
        self.where = where


class Taken(NamedTuple):
    """A value taken apart."""

    structure: Any
    leaves: list[Any]


def defined(value: Any) -> Any:
    """The value of a variable that is read; if it may be undefined, with an assertion that it is not."""
    if type(value) is not Maybe:
        return value
    import treadle as td

    td.debugging.Assert(value.is_there, [undefined_message(value.name, value.where)])
    return value.value


def undefined_message(name: str, where: str) -> str:
    """What is said when a variable without a value is read."""
    return f"cannot access local variable {name!r} where it is not associated with a value: the branch or loop at {where} did not set it"


def undefined(name: str, where: str) -> UndefinedVariableError:
    """The error for a variable that surely has no value."""
    return UndefinedVariableError(undefined_message(name, where))


def is_value(leaf: Any) -> bool:
    """True for what can become a tensor: tensors, Variables, arrays and Python numbers."""
    return isinstance(leaf, Tensor | Variable | np.ndarray | np.generic | bool | int | float | complex) or hasattr(type(leaf), "__treadle_tensor__")


def take_apart(value: Any) -> Taken:
    """The structure of a value and its leaves."""
    leaves: list[Any] = []
    try:
        return Taken(nest.flatten_to(value, leaves), leaves)
    except TypeError:  # a mapping whose keys have no order
        return Taken(nest.flatten_to(None, []), [value])


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


def kind_of(number: Any) -> type:
    """The Python type of a number, bools apart."""
    return next(k for k in NUMBERS if isinstance(number, k))


def as_tensor(leaf: Any, dtype: DType | None = None) -> Any:
    """A leaf as a tensor; Python numbers take ``dtype`` where it can hold them."""
    return convert_to_tensor(leaf, None, dtype)


def spec_of(tensor: Any) -> Spec:
    """Dims and dtype of a tensor."""
    return Spec(tensor.dims, tensor.dtype)


def placeholder_value(spec: Spec) -> Any:
    """Zeros to stand where there is no value; unknown sizes are 0."""
    dims = () if spec.dims is None else tuple(d if isinstance(d, int) else 0 for d in spec.dims)
    return registry.role("zeros")(dims, spec.dtype)


def is_symbolic(value: Any) -> bool:
    """True for tensors of a graph being traced."""
    return isinstance(value, SymbolicTensor)
