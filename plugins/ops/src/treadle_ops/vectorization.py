"""vectorized_map: a function of one element, traced once and run on all elements together."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

from treadle import nest, state
from treadle.contracts.op import Op
from treadle.conversion import convert_to_tensor
from treadle.declare import public
from treadle.functions.polymorphic import converted
from treadle.graph.func_graph import FuncGraph
from treadle.state import LOCAL
from treadle_ops.batch_analysis import effect_without_rule
from treadle_ops.batch_operands import Operand, prefixed
from treadle_ops.batching import Batch, UnbatchableError
from treadle_ops.broadcasting import broadcast_to_op
from treadle_ops.functional_loops import mapped, require_callable
from treadle_ops.indexing import getitem
from treadle_ops.joining import stack
from treadle_ops.row_loops import Rows


@public("vectorized_map")
def vectorized_map(fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """Apply a function to every element of tensors, all at once.

    The function is traced for one element; then each op of the trace runs on the whole batch, by its batching rule. An op without a rule runs once
    per element, in a loop, while the rest stays batched. Effects such as assignments keep the order of a loop: a function that has any, or whose
    ``td.custom_gradient`` has, runs once per element as a whole. Random draws are other ones for every element.

    Args:
        fn: a function of one element, which has the structure of ``elems``.
        elems: a tensor or a structure of tensors; their first sizes are equal, or 1 for what is the same in every element.
        fallback_to_while_loop: False refuses what would run once per element.
        warn: False logs nothing of what runs once per element; by default the first call of ``fn`` does, in the log of ``treadle``.

    Returns:
        The structure of the function's result; each tensor has a first axis with one entry per element.

    Raises:
        ValueError: an element is a scalar; or an op has no batching rule, and ``fallback_to_while_loop`` is False.
        ShapeError: the first sizes differ.

    Sources:
        TensorFlow ``tf.vectorized_map``.
    """
    require_callable(fn, "vectorized_map")
    rows = Rows(elems, "vectorized_map", broadcasts=True)
    graph = FuncGraph("vectorized_map", LOCAL.graph)
    function = fn if LOCAL.graph is not None else converted(fn)
    with state.recording(graph):
        result = function(rows.pack(rows.symbolic(graph)))
        leaves = [convert_to_tensor(leaf) for leaf in nest.flatten(result)]
        graph.outputs = [graph.value_of(leaf) for leaf in leaves]
    if LOCAL.graph is not None:
        LOCAL.graph.created += graph.created
    notes = _Notes(fn, fallback_to_while_loop, warn)
    effect = effect_without_rule(graph, of_gradients=LOCAL.graph is not None or bool(LOCAL.tapes))
    if effect is not None:
        notes.whole(effect, "does what must happen in the order of a loop")
    else:
        try:
            return nest.pack_sequence_as(result, _batched(graph, rows, notes))
        except UnbatchableError as error:
            notes.whole(error.op, error.why)
    return _one_by_one(fn, rows, nest.pack_sequence_as(result, [leaf.dtype for leaf in leaves]))


def _batched(graph: FuncGraph, rows: Rows, notes: _Notes) -> list[Any]:
    count = rows.size()
    batch = Batch(count, notes.node)
    elements = [_element(rows, i, count) for i in range(len(rows.tensors))]
    captured = {value: thing for thing, value in graph.captures}
    given = iter(elements)
    inputs = [batch.share(captured[v]) if v in captured else next(given) for v in graph.inputs]
    return [o.batched() for o in batch.run(graph, inputs)]


def _element(rows: Rows, i: int, count: Any) -> Operand:
    tensor = rows.tensors[i]
    if rows.is_repeated(i):
        return Operand(getitem(tensor, 0), False, count)
    if rows.may_be_repeated(i):
        tensor = broadcast_to_op(tensor, prefixed(Operand(tensor, True, count).shape(), count))
    return Operand(tensor, True, count)


def _one_by_one(fn: Callable[..., Any], rows: Rows, signature: Any) -> Any:
    if LOCAL.graph is None and rows.count:
        found = [fn(rows.pack(row)) for row in rows.each()]
        return nest.map_structure(lambda *column: stack(list(column)), *found)
    return mapped(fn, rows, signature)


_said: set[tuple[str, str]] = set()
"""Places of functions, and ops of theirs, of which something was logged."""


class _Notes:
    """Says once per function and op what runs once per element, or refuses it.

    Args:
        fn: the function that is mapped.
        allowed: False refuses.
        warn: False says nothing.
    """

    def __init__(self, fn: Any, allowed: bool, warn: bool) -> None:
        inside = inspect.unwrap(getattr(fn, "python_function", None) or getattr(fn, "func", fn))  # of a traced function, of a functools.partial
        code = getattr(inside, "__code__", None)
        name = getattr(inside, "__name__", type(inside).__name__)
        self._place = name if code is None else f"{name} ({code.co_filename}:{code.co_firstlineno})"
        self._allowed = allowed
        self._warn = warn

    def node(self, op: Op) -> None:
        """An op has no rule that serves."""
        self._say(op, "has no batching rule for this use, so it runs once per element while the rest is batched")

    def whole(self, op: Op, why: str) -> None:
        """The function runs once per element for the sake of an op."""
        self._say(op, f"{why}, so the whole function runs once per element")

    def _say(self, op: Op, what: str) -> None:
        if not self._allowed:
            raise ValueError(
                f"vectorized_map of {self._place}: op {op.name!r} {what}, which fallback_to_while_loop=False refuses. "
                "Give the op a rule with treadle.declare.batching, compute it outside, or use td.map_fn"
            )
        if self._warn and (self._place, op.name) not in _said:
            _said.add((self._place, op.name))
            logging.getLogger("treadle").warning(
                "vectorized_map of %s: op %r %s. Give it a rule with treadle.declare.batching, compute it outside, or use td.map_fn",
                self._place,
                op.name,
                what,
            )
