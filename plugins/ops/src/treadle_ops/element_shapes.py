"""What is known of the shape of the tensors in a list while tracing: the way back to what was put into it, through loops, branches and calls."""

from __future__ import annotations

from typing import Any

from treadle.graph.structural import CALL, CONDS, LOOPS, PLACEHOLDER
from treadle.shapes import TensorShape

_ANY = TensorShape(None)


def element_shape(value: Any) -> TensorShape:
    """The shape that all tensors of a list have, as far as it is known.

    Args:
        value: of a graph, a list.
    """
    return _shape(value, {}, set()) or _ANY


def _shape(value: Any, outside: dict[Any, Any], visited: set[Any]) -> TensorShape | None:
    """The shape; None if nothing is put in on the way, or the way was gone already.

    Args:
        value: a list.
        outside: the inputs of inner graphs to the values that are given for them.
        visited: values that were asked about, which add nothing more.
    """
    if value in visited:
        return None
    visited.add(value)
    node = value.node
    name, inputs = node.op.name, node.inputs
    if node.op is PLACEHOLDER:
        return _shape(outside[value], outside, visited) if value in outside else _ANY
    if node.op is CALL:
        return _result(node.attrs["function"].graph, inputs, value.index, outside, visited)
    if node.op in LOOPS and value.index < node.attrs["carried"]:
        first = _shape(inputs[value.index], outside, visited)
        return _common(first, _result(node.attrs["body"].graph, inputs, value.index, outside, visited))
    if node.op in CONDS:
        found = None
        for branch in node.attrs["branches"]:
            found = _common(found, _result(branch.graph, inputs[1:], value.index, outside, visited))
        return found
    if name == "tensor_list_reserve":
        return None
    if name == "tensor_list_from_tensor":
        return _rows(inputs[0])
    if name == "tensor_list_set_item":
        return _common(_shape(inputs[0], outside, visited), inputs[-1].spec.shape)
    if name == "tensor_list_scatter":
        return _common(_shape(inputs[0], outside, visited), _rows(inputs[-1]))
    if name == "tensor_list_clear":
        return _shape(inputs[0], outside, visited)
    return _ANY


def _result(graph: Any, given: list[Any], index: int, outside: dict[Any, Any], visited: set[Any]) -> TensorShape | None:
    """The shape for a result of an inner graph; of one that is run at two places on the way nothing is known."""
    for inner, outer in zip(graph.inputs, given, strict=False):
        if outside.setdefault(inner, outer) is not outer:
            return _ANY
    return _shape(graph.outputs[index], outside, visited)


def _rows(value: Any) -> TensorShape:
    """The shape of the slices of a tensor along its first axis."""
    shape: TensorShape = value.spec.shape
    return shape[1:] if shape.rank else _ANY


def _common(a: TensorShape | None, b: TensorShape | None) -> TensorShape | None:
    """What one shape has that two are known of; nothing where they contradict each other, which the ops will find."""
    if a is None or b is None:
        return a if b is None else b
    return a.merge_with(b) if a.is_compatible_with(b) else _ANY
