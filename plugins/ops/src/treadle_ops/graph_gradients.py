"""Gradients by the graph instead of a tape: td.gradients and td.hessians, for use while a function is traced."""

from __future__ import annotations

from typing import Any

from treadle import nest
from treadle.autodiff.tape import UnconnectedGradients
from treadle.conversion import convert_to_tensor
from treadle.declare import public
from treadle.errors import ShapeError
from treadle.functions.halves import graph_gradients
from treadle.graph.graph import Node, Value
from treadle.state import LOCAL
from treadle.tensor import Operators, Tensor
from treadle.variable import Variable
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import shape_of
from treadle_ops.creation import ones_like, zeros_like
from treadle_ops.functional_loops import map_fn
from treadle_ops.joining import concat_op
from treadle_ops.one_hot import unit_vector
from treadle_ops.ranges import range as range_of
from treadle_ops.shaping import reshape
from treadle_ops.sizes import size


@public("AggregationMethod")
class AggregationMethod:
    """How gradients are added up, as ``td.gradients`` takes it; here it makes no difference.

    Sources:
        TensorFlow ``tf.AggregationMethod``.
    """

    ADD_N = 0
    DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class _Graph:
    """The graph being traced, as it stands now, to go back through.

    Args:
        ys: what is differentiated.
        stops: tensors that count as constants.
        what: the function's name, for messages.
    """

    def __init__(self, ys: list[Any], stops: list[Any], what: str) -> None:
        graph = LOCAL.graph
        if graph is None:
            raise RuntimeError(
                f"tf.{what} is not supported when eager execution is enabled. Use tf.GradientTape instead, or call it inside td.function"
            )
        self.what = what
        self.graph = graph
        self.targets = [graph.value_of(y) for y in ys]
        self.ends = frozenset(self.value(s) for s in stops)
        self.nodes = _leading_to(self.targets)

    def value(self, source: Any) -> Any:
        """The value that a tensor or Variable stands for."""
        if not isinstance(source, Operators):
            raise TypeError(f"{self.what}: a gradient is asked with respect to {source!r} ({type(source).__name__}); give tensors and Variables")
        return self.graph.resource_of(source) if isinstance(source, Variable) else self.graph.value_of(source)

    def gradients(self, sources: list[Any], cotangents: list[Any]) -> list[Any]:
        """Per source the gradient of the sum of the targets weighted by their cotangents, or None."""
        values = [self.value(s) for s in sources]
        wanted = [value for value in values if value.spec.dtype.is_differentiable]
        arrived = {i: c for i, (target, c) in enumerate(zip(self.targets, cotangents, strict=True)) if target.spec.dtype.is_differentiable}
        found = dict(zip(wanted, graph_gradients(self.nodes, self.targets, arrived, wanted, self.ends), strict=True))
        return [found.get(value) for value in values]


def _leading_to(targets: list[Value]) -> list[Node]:
    """The nodes that the targets are computed from, in the order of the program; the rest of the graph costs nothing."""
    found = {target.node for target in targets}
    waiting = list(found)
    while waiting:
        for value in waiting.pop().inputs:
            if value.node not in found:
                found.add(value.node)
                waiting.append(value.node)
    return sorted(found, key=lambda node: node.serial)


def _listed(things: Any) -> list[Any]:
    return [things] if isinstance(things, Operators) else nest.flatten(things)


@public("gradients")
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The gradient of the sum of ``ys`` with respect to each of ``xs``, within the function being traced.

    Args:
        ys: a tensor or a list of them.
        xs: a tensor or Variable, or a list of them.
        grad_ys: one cotangent per tensor of ``ys``, ones by default; None in a list means ones too.
        name: ignored.
        gate_gradients: ignored.
        aggregation_method: ignored.
        stop_gradients: tensors that count as constants.
        unconnected_gradients: ``"none"`` or ``"zero"`` for those of ``xs`` that ``ys`` does not depend on.

    Returns:
        A list with a tensor, or None, for each of ``xs``.

    Raises:
        RuntimeError: no function is being traced.

    Sources:
        TensorFlow ``tf.gradients``.
    """
    targets = [tensor(y) for y in _listed(ys)]
    sources = _listed(xs)
    graph = _Graph(targets, [] if stop_gradients is None else _listed(stop_gradients), "gradients")
    given = [None] * len(targets) if grad_ys is None else [grad_ys] if isinstance(grad_ys, Tensor) else list(grad_ys)
    if len(given) != len(targets):
        raise ValueError(f"gradients: grad_ys has {len(given)} entries for {len(targets)} of ys; give one for each")
    found = graph.gradients(sources, [_cotangent(y, g) for y, g in zip(targets, given, strict=True)])
    if UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO:
        return [zeros_like(x) if g is None else g for x, g in zip(sources, found, strict=True)]
    return found


def _cotangent(y: Any, given: Any) -> Any:
    if given is None:
        return ones_like(y)
    cotangent = convert_to_tensor(given, y.dtype)
    if not cotangent.shape.is_compatible_with(y.shape):
        raise ShapeError(f"gradients: a grad_ys of shape {cotangent.shape} was given for a tensor of shape {y.shape}; they must be equal")
    return cotangent


@public("hessians")
def hessians(ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: Any = None, name: str = "hessians") -> list[Any]:
    """The second derivatives of the sum of ``ys`` with respect to each of ``xs``, within the function being traced.

    Args:
        ys: a tensor or a list of them.
        xs: a tensor or a list of them.
        gate_gradients: ignored.
        aggregation_method: ignored.
        name: ignored.

    Returns:
        A list with a tensor of shape ``x.shape + x.shape`` for each of ``xs``.

    Raises:
        RuntimeError: no function is being traced.
        ValueError: ``ys`` does not depend on one of ``xs``.

    Sources:
        TensorFlow ``tf.hessians``.
    """
    sources = _listed(xs)
    targets = [tensor(y) for y in _listed(ys)]
    found = _Graph(targets, [], "hessians").gradients(sources, [ones_like(y) for y in targets])
    return [_hessian(x, gradient) for x, gradient in zip(sources, found, strict=True)]


def _hessian(x: Any, gradient: Any) -> Any:
    if gradient is None:
        raise ValueError(f"hessians: ys does not depend on {x!r}, so there is no gradient to differentiate again")
    value = tensor(x)
    flat = reshape(gradient, (-1,))
    graph = _Graph([flat], [], "hessians")
    elements = value.shape.num_elements()
    count = size(value) if elements is None else elements

    def row(i: Any) -> Any:
        (second,) = graph.gradients([x], [unit_vector(i, count, value.dtype)])
        return zeros_like(value) if second is None else second

    rows = map_fn(row, range_of(count), fn_output_signature=value.dtype)
    shape = shape_of(value)
    return reshape(rows, (*shape, *shape) if isinstance(shape, tuple) else concat_op([shape, shape], axis=0))
