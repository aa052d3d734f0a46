"""What can be asked of values without running anything: whether they are tensors, what is known of them, the shape of a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treadle import nest, state
from treadle.contracts.spec import Spec, is_concrete
from treadle.dims import Dim, with_symbols
from treadle.graph.func_graph import FuncGraph
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.tensorspec import TensorSpec
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


def eval_shape(function: Callable[..., Any], *specs: Any, **keywords: Any) -> Any:
    """The shapes and dtypes of a function's results, found by tracing it on specs (after ``jax.eval_shape``).

    Args:
        function: a Python function of tensors.
        *specs: ``TensorSpec``s, tensors or structures of them, one per argument.
        **keywords: the same by name.

    Returns:
        The structure of the results with a ``TensorSpec`` for each tensor.
    """
    graph = FuncGraph(getattr(function, "__name__", "function"))

    def symbolic(leaf: Any) -> Any:
        if not isinstance(leaf, TensorSpec | Tensor | Variable):
            return leaf
        dims = None if leaf.shape.rank is None else with_symbols(leaf.shape)
        return SymbolicTensor(graph.placeholder(Spec(dims, leaf.dtype), "x"))

    with state.recording(graph):
        args = nest.map_structure(symbolic, list(specs))
        result = function(*args, **{k: nest.map_structure(symbolic, v) for k, v in keywords.items()})
    return nest.map_structure(lambda leaf: TensorSpec(leaf.shape, leaf.dtype) if isinstance(leaf, Tensor | Variable) else leaf, result)
