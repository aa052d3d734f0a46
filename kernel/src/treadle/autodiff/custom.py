"""Gradients given by the user: ``custom_gradient`` and ``stop_gradient``'s kin."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from treadle import nest
from treadle.autodiff.tape import GradientTape
from treadle.conversion import convert_to_tensor
from treadle.errors import InvalidArgumentError
from treadle.graph.structural import CUSTOM
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Operators, Tensor
from treadle.variable import Variable


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Give a function a gradient of its own (TensorFlow's ``tf.custom_gradient``).

    Args:
        f: ``f(*args, **kwargs) -> (result, grad)``, with ``grad(*upstream) -> gradients of args``, in the order of the parameters however they are
            given. Parameters that can be given by keyword only may be left out of the gradients, and then have none. If ``f`` reads trainable
            Variables, ``grad`` must also take ``variables=None`` and give ``(gradients of args, gradients of variables)``.

    Returns:
        A function that gives the result.

    Raises:
        TypeError: Variables are read and ``grad`` does not take ``variables``.
    """
    if f is None:
        return custom_gradient
    function = f
    signature = _signature(function)

    @functools.wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs and signature is not None:
            bound = signature.bind(*args, **kwargs)
            args, kwargs = bound.args, bound.kwargs
        with_tensors = [convert_to_tensor(a) if _is_tensor_like(a) else a for a in args]
        with GradientTape() as watcher:  # tapes outside see the body too: the gradient may read what it computed
            pair = function(*with_tensors, **kwargs)
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not callable(pair[1]):
            raise TypeError(f"{function.__name__!r} must give (result, gradient function), as td.custom_gradient says; it gives {pair!r}")
        result, gradient = pair
        variables = [v for v in watcher.watched_variables() if v.trainable and not any(v is a for a in args)]
        if not LOCAL.tapes and LOCAL.graph is None:
            return result
        takes_variables = _takes_variables(gradient)
        if variables and not takes_variables:
            names = ", ".join(v.name for v in variables)
            raise TypeError(
                f"{function.__name__!r} reads the trainable Variables {names}, so its gradient function must take `variables=None` and give "
                "(gradients of the arguments, gradients of the variables)"
            )
        leaves = nest.flatten(with_tensors)
        by_position = [leaf for leaf in leaves if isinstance(leaf, Operators)]
        by_name = [leaf for leaf in nest.flatten(list(kwargs.values())) if isinstance(leaf, Operators)]
        sources = by_position + by_name

        def pull(upstream: list[Any]) -> list[Any]:
            if variables:
                given, of_variables = gradient(*upstream, variables=variables)
            else:
                given, of_variables = gradient(*upstream), []
            flat = nest.flatten(given) if isinstance(given, list | tuple | dict) else [given]
            if len(flat) == len(by_position):
                flat += [None] * len(by_name)
            if len(flat) != len(sources):
                raise InvalidArgumentError(f"the gradient function of {function.__name__!r} gives {len(flat)} gradients for {len(sources)} arguments")
            return [_fitting(g, source, function.__name__) for g, source in zip([*flat, *of_variables], [*sources, *variables], strict=True)]

        outputs = _marked([convert_to_tensor(t) for t in nest.flatten(result)], [*sources, *variables], pull)
        for tape in LOCAL.tapes:
            for variable in variables:
                tape.touch(variable)
            tape.record_call(function.__name__, [*sources, *variables], outputs, pull)
        return nest.pack_sequence_as(result, outputs)

    return decorated


def _marked(results: list[Any], sources: list[Any], pull: Callable[[list[Any]], list[Any]]) -> list[Any]:
    """Tensors of their own with the values of ``results``; while tracing, the graph remembers their gradient."""
    graph = LOCAL.graph
    if graph is None:
        return [Tensor(t._buffer, t._key) for t in results]
    inputs = [graph.value_of(t) for t in results]
    inputs += [graph.resource_of(s) if isinstance(s, Variable) else graph.value_of(s) for s in sources]
    specs = [v.spec for v in inputs[: len(results)]]
    node = graph.add(CUSTOM, inputs, {"pull": pull, "count": len(results)}, specs=specs)
    return [SymbolicTensor(v) for v in node.outputs]


def _fitting(gradient: Any, source: Any, name: str) -> Any:
    """A gradient that the user gave, as a tensor of the dtype and a shape that fit what it is of."""
    if gradient is None:
        return None
    tensor = convert_to_tensor(gradient, None, source.dtype)
    if tensor.dtype is not source.dtype or not tensor.shape.is_compatible_with(source.shape):
        raise InvalidArgumentError(
            f"the gradient function of {name!r} gives {tensor.dtype.name} of shape {tensor.shape} for an argument that is {source.dtype.name} "
            f"of shape {source.shape}"
        )
    return tensor


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _is_tensor_like(value: Any) -> bool:
    return isinstance(value, int | float | complex) or hasattr(value, "__array__")


def _takes_variables(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters
    return "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function ``f`` with the gradient of the identity (TensorFlow's ``tf.grad_pass_through``)."""

    @custom_gradient
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        def gradient(*upstream: Any, **variables: Any) -> Any:
            given = upstream[0] if len(upstream) == 1 else upstream
            return (given, [None] * len(variables["variables"])) if variables.get("variables") else given

        return f(*args, **kwargs), gradient

    return functools.wraps(f)(wrapped)
