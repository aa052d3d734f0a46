"""The shapes and dtypes of a function's results, found without running it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle import nest, state
from treadle.contracts.spec import Spec
from treadle.dims import with_symbols
from treadle.graph.func_graph import FuncGraph
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.tensorspec import TensorSpec
from treadle.variable import Variable


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
