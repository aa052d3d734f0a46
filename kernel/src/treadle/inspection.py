"""What can be asked of values without running anything: whether they are tensors, and what is known of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.contracts.spec import is_concrete
from treadle.dims import Dim
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.variable import Variable


def is_tensor(x: Any) -> bool:
    """True for tensors, symbolic ones too, and Variables (TensorFlow's ``tf.is_tensor``)."""
    return isinstance(x, Tensor | Variable) or hasattr(type(x), "__treadle_tensor__")


def is_symbolic_tensor(tensor: Any) -> bool:
    """True for a tensor of a graph being traced (TensorFlow's ``tf.is_symbolic_tensor``)."""
    return isinstance(tensor, SymbolicTensor)


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor where it is known without running anything, as a NumPy array; else None.

    Args:
        tensor: a tensor; anything else is given back.
        partial: give an array of objects with None where a part is not known.
    """
    if not isinstance(tensor, SymbolicTensor):
        if isinstance(tensor, Variable):
            return None
        return tensor.numpy() if isinstance(tensor, Tensor) else tensor
    constant = tensor.value.constant
    if constant is not None:
        return np.array(constant) if constant.ndim else constant[()]
    known = tensor.value.spec.value
    if is_concrete(known):
        array = np.asarray(known, tensor.dtype.numpy)
        return array if array.ndim else array[()]
    if partial and isinstance(known, tuple):
        return np.array([None if isinstance(v, Dim) else v for v in known], object)
    return None
