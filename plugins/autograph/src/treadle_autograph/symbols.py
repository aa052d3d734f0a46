"""What has no value while a function is traced."""

from __future__ import annotations

from typing import Any

from treadle.conversion import convert_to_tensor
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.variable import Variable


def symbolic(value: Any) -> Any:
    """The value as a symbolic tensor if it has none yet: for tensors and Variables of a trace; else None."""
    if isinstance(value, SymbolicTensor):
        return value
    if LOCAL.graph is None or isinstance(value, Tensor):
        return None
    if isinstance(value, Variable) or hasattr(type(value), "__treadle_tensor__"):
        tensor = convert_to_tensor(value)
        return tensor if isinstance(tensor, SymbolicTensor) else None
    return None
