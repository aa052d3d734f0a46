"""Graphs run on many elements at once, node by node, by the batching rules of their ops.

A node whose inputs all elements share runs as it is. An elementwise op needs no rule: its inputs are aligned behind the batch axis. A node that has
no rule, or whose rule cannot serve it, runs once per element in a loop, while the rest stays batched. Branches and loops of the graph become
branches and loops of whole batches. All of it calls ordinary ops, eagerly or into the graph being traced, so tapes see them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from treadle.autodiff.custom import custom_gradient
from treadle.contracts.batching import rule_of
from treadle.contracts.op import Op
from treadle.conversion import from_array
from treadle.devices import device
from treadle.errors import OpError, UnimplementedError
from treadle.functions.branches import cond
from treadle.functions.loops import while_loop
from treadle.graph.effects import needed_nodes
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Node, Value
from treadle.graph.source import in_place_of
from treadle.graph.structural import CALL, CONDS, CONST, CUSTOM, LOOPS, NOTHING, READ
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle_ops import batching_of_arrays, batching_of_images, batching_of_indices, batching_of_lists, batching_of_random  # noqa: F401 - rules
from treadle_ops.batch_analysis import differing_in_loop, differing_outputs, effect_without_rule, equal_sizes, lists_to_batch, symbols_of
from treadle_ops.batch_operands import Drawn, NotBatchedError, Operand, aligned
from treadle_ops.broadcasting import axis_size
from treadle_ops.coordinates import gather_nd_op
from treadle_ops.logic import logical_not
from treadle_ops.masking import nonzero_op
from treadle_ops.own_gradients import own_gradient
from treadle_ops.partitioning import dynamic_stitch_op
from treadle_ops.randomness import random_key
from treadle_ops.ranges import range as range_of
from treadle_ops.reductions import reduce_any_op, reduce_sum_op
from treadle_ops.row_loops import Gathered, Rows, over_rows
from treadle_ops.scattering import tensor_scatter_nd_update_op
from treadle_ops.shaping import expand_dims_op, reshape_op
from treadle_ops.tensor_lists import UNKNOWN, tensor_list_get_item, tensor_list_length, tensor_list_reserve, tensor_list_set_item, zeros

Note = Callable[[Op], None]

LISTS = "needs a list of tensors of its own for every element"
SIZES = "gives results whose sizes may differ between elements"
GRADIENT = "has a gradient that was copied from another graph"
ORDERED = (
    "vectorized_map: op {op!r}, in the gradient of a td.custom_gradient that was differentiated in turn, does what must happen in the order of a "
    "loop; use td.map_fn instead"
)


class UnbatchableError(Exception):
    """A graph cannot be batched at all, for the sake of this op.

    Args:
        op: the contract.
        why: what of it; a sentence that begins with the op.
    """

    def __init__(self, op: Op, why: str) -> None:
        super().__init__(f"{op.name} {why}")
        self.op = op
        self.why = why


class Batch:
    """So many elements on which a graph is run.

    Args:
        count: how many: an int, or a scalar tensor.
        note: called with an op that runs once per element.
    """

    def __init__(self, count: Any, note: Note) -> None:
        self.count = count
        self._note = note

    def share(self, tensor: Any) -> Operand:
        """What all elements have in common."""
        return Operand(tensor, False, self.count)

    def run(self, graph: FuncGraph, inputs: list[Operand]) -> list[Operand]:
        """The outputs of a graph.

        Args:
            graph: of one element.
            inputs: one per input of the graph.

        Raises:
            UnbatchableError: not even a loop over one node can serve.
        """
        known = dict(zip(graph.inputs, inputs, strict=True))
        lists = lists_to_batch(graph, [o.is_batched for o in inputs])
        known.update((value, self.share(tensor)) for tensor, value in graph.captured_constants)
        needed = needed_nodes(graph)
        for node in graph.nodes:
            if node in needed and not all(value in known for value in node.outputs or (None,)):
                with device(node.device) if node.device is not None else contextlib.nullcontext():
                    results = self._run_for(node, [known[v] for v in node.inputs], known)
                for value, operand in zip(node.outputs, results, strict=True):
                    known[value] = _as_inferred(operand, value)
                    operand.is_batched |= value in lists and operand.is_empty
        return [known[v] for v in graph.outputs]

    def _run_for(self, node: Node, operands: list[Operand], known: dict[Value, Operand]) -> list[Operand]:
        """What stands for a node: nodes that come from its line, or results whose errors name it."""
        try:
            results: list[Operand] = in_place_of(node.source, self._run_node, node, operands, known)
        except OpError as error:
            if not getattr(error, "_explained", False) and str(node.source) not in error.message:
                error.message = f"{error.message} [in op {node.op.name!r}, made at {node.source}]"
                error.args = (error.message,)
            error._explained = True  # type: ignore[attr-defined]  # as plans mark an error that names its line
            raise
        return results

    def _run_node(self, node: Node, operands: list[Operand], known: dict[Value, Operand] | None = None) -> list[Operand]:
        op = node.op
        if op is CONST:
            return [self.share(from_array(node.attrs["value"]))]
        if op is READ:
            return [self.share(operands[0].tensor.value())]
        if op is NOTHING:
            spec = node.attrs["spec"]
            return [self.share(zeros(spec.dims, spec.dtype))]
        if op is CALL:
            return self.run(node.attrs["function"].graph, operands)
        if op is CUSTOM:
            return self._with_own_gradient(node, operands, known or {})
        try:
            if op in CONDS:
                return self._branch(node, operands)
            if op in LOOPS:
                return self._loop(node, operands)
            found = self._apply(node, operands)
        except NotBatchedError:
            found = NotImplemented
        return self._one_by_one(node, operands) if found is NotImplemented else found

    def _apply(self, node: Node, operands: list[Operand]) -> Any:
        """What an op gives: as it is for what all elements share, else by its rule, else ``NotImplemented``."""
        op, grouped = node.op, node.grouped(operands)
        if op is random_key.op:
            return [Drawn(op.entry(**node.attrs), self.count)]
        draws = op.effect == "random"
        if not draws and not any(o.is_batched for o in operands):
            return self._plain(node, operands)
        rule = rule_of(op)
        if rule is not None:
            result = rule.run(op.entry, *grouped, **node.attrs)
        elif op.elementwise and not draws:
            result = op.entry(*aligned(grouped), **node.attrs)
        else:
            return NotImplemented
        if result is NotImplemented:
            return result
        return [Operand(t, rule is None or not rule.shared, self.count) for t in _listed(result)]

    def _plain(self, node: Node, operands: list[Operand]) -> list[Operand]:
        """Run an op on what all elements share."""
        inputs = [[o.tensor for o in entry] if isinstance(entry, list) else entry.tensor for entry in node.grouped(operands)]
        results = [self.share(t) for t in _listed(node.op.entry(*inputs, **node.attrs))]
        for result in results:
            result.is_empty = node.op is tensor_list_reserve.op
        return results

    def _one_by_one(self, node: Node, operands: list[Operand]) -> list[Operand]:
        """Run one node once per element."""
        if any(thing.dtype.kind == "l" for thing in [*(o for o in operands if o.is_batched), *(v.spec for v in node.outputs)]):
            raise UnbatchableError(node.op, LISTS)
        known = {symbol for v in node.inputs for symbol in symbols_of(v.spec)}
        if any(v.spec.dims is None or not symbols_of(v.spec) <= known for v in node.outputs):
            raise UnbatchableError(node.op, SIZES)
        if not isinstance(self.count, int) or self.count:
            self._note(node.op)
        batched = [o.batched() for o in operands if o.is_batched] or [range_of(self.count)]
        run = self._run_node if node.op.structural else self._plain

        def step(carried: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
            given = iter(row)
            alone = [self.share(next(given)) if o.is_batched else o for o in operands]
            return carried, [o.tensor for o in run(node, alone)]

        gathered = [Gathered(v.spec.dtype, v.spec.shape) for v in node.outputs]
        _, results = over_rows(Rows(batched, node.op.name), step, [], gathered)
        return [Operand(t, True, self.count) for t in results]

    # ------------------------------------------------------------------ gradients of the user's

    def _with_own_gradient(self, node: Node, operands: list[Operand], known: dict[Value, Operand]) -> list[Operand]:
        count = node.attrs["count"]
        if node.copied:
            raise UnbatchableError(node.op, GRADIENT)
        results, sources = operands[:count], operands[count:]

        def gradient(*upstream: Any) -> list[Any]:
            graph, is_there = own_gradient(node)
            effect = effect_without_rule(graph)
            if effect is not None:
                raise UnimplementedError(ORDERED.format(op=effect.name))
            things = {value: thing for thing, value in graph.captures}
            arrived = iter(upstream)
            inputs = []
            for value in graph.inputs:
                if value not in things:
                    inputs.append(Operand(next(arrived), results[len(inputs)].is_batched, self.count))
                else:
                    inputs.append(self._reached(things[value], node, known))
            found = iter(self.run(graph, inputs))
            return [self._gradient_of(source, next(found), results) if has else None for has, source in zip(is_there, sources, strict=True)]

        @custom_gradient
        def marked(*_: Any) -> Any:
            return [o.tensor for o in results], gradient

        outputs = marked(*(o.tensor for o in sources))
        return [Operand(t, o.is_batched, self.count) for t, o in zip(outputs, results, strict=True)]

    def _reached(self, thing: Any, node: Node, known: dict[Value, Operand]) -> Operand:
        """What stands for a tensor or Variable that the gradient of a node reads, from around the node or from outside its graph.

        Raises:
            UnimplementedError: the gradient alone reads it, so that nothing stands for it in the graph of the node.
        """
        if not isinstance(thing, SymbolicTensor):
            return self.share(thing)
        inside = node.graph.captured(thing)  # type: ignore[attr-defined]  # it was traced
        for value in (thing.value, inside):
            if value in known:
                return known[value]
        if thing.value.node.graph in _around(LOCAL.graph):
            return self.share(thing)
        raise UnimplementedError(
            f"vectorized_map: the gradient of the user's at {node.source} reads {thing!r} from outside of the branch or loop that it is in, which "
            "itself does not read it. Use td.map_fn, or hand the tensor to the function whose gradient it is"
        )

    def _gradient_of(self, source: Operand, gradient: Operand, results: list[Operand]) -> Any:
        """A gradient as a tensor: what elements give for what they share is added up."""
        if source.is_batched:
            return gradient.batched()
        return reduce_sum_op(gradient.batched(), axis=(0,), keepdims=False) if any(r.is_batched for r in results) else gradient.tensor

    # ------------------------------------------------------------------ branches

    def _branch(self, node: Node, operands: list[Operand]) -> list[Operand]:
        predicate, *inputs = operands
        graphs = [b.graph for b in node.attrs["branches"]]
        if predicate.is_batched:
            if not all(equal_sizes(a.spec, b.spec) for a, b in zip(*(g.outputs for g in graphs), strict=True)):
                raise UnbatchableError(node.op, SIZES)
            return self._by_each_predicate(predicate.batched(), graphs, inputs)
        flags = differing_outputs(node, [o.is_batched for o in operands])

        def run(graph: FuncGraph) -> Callable[[], list[Any]]:
            return lambda: _tensors(self.run(graph, inputs), flags)

        results = cond(predicate.tensor, run(graphs[0]), run(graphs[1]))
        return self._operands(results, flags)

    def _by_each_predicate(self, predicate: Any, graphs: list[FuncGraph], inputs: list[Operand]) -> list[Operand]:
        """Run each branch on the elements that choose it, and put the results together."""
        places = [_places(predicate), _places(logical_not(predicate))]
        results = []
        for graph, at in zip(graphs, places, strict=True):
            chosen = Batch(axis_size(at, axis=0) if isinstance(at, SymbolicTensor) else int(at.shape[0]), self._note)
            results.append([o.batched() for o in chosen.run(graph, [chosen.pick(o, at) for o in inputs])])
        if any(t.dtype.kind == "l" for t in results[0]):
            raise NotBatchedError
        return [Operand(dynamic_stitch_op(places, list(pair)), True, self.count) for pair in zip(*results, strict=True)]

    def pick(self, operand: Operand, places: Any) -> Operand:
        """An operand of a larger batch for the elements at some places, which are those of this one."""
        if not operand.is_batched:
            return operand if isinstance(operand.tensor, Variable) else self.share(operand.tensor)
        if operand.dtype.kind == "l":
            raise NotBatchedError
        chosen = gather_nd_op(operand.batched(), expand_dims_op(places, axis=1), batch_dims=0, ignore=False)
        return Operand(chosen, True, self.count)

    # ------------------------------------------------------------------ loops

    def _loop(self, node: Node, operands: list[Operand]) -> list[Operand]:
        carried, popped = node.attrs["carried"], node.attrs["popped"]
        condition, body = node.attrs["condition"], node.attrs["body"].graph
        flags, decides = differing_in_loop(node, [o.is_batched for o in operands])
        middle = len(operands) - popped
        first, captured, lists = operands[:carried], operands[carried:middle], operands[middle:]
        if decides:
            if popped or len(flags) > carried:
                raise NotBatchedError
            if not all(equal_sizes(a.spec, b.spec) for a, b in zip(body.inputs, body.outputs, strict=False)):
                raise UnbatchableError(node.op, SIZES)
            return self._by_each_condition(condition.graph, body, first, captured)
        element_lists = [v.spec.dtype for v in node.outputs[carried:]]

        def holds(turn: Any, variables: list[Any], pushed: list[Any]) -> Any:
            if condition is None:
                return turn < tensor_list_length(lists[0].tensor)
            return self.run(condition.graph, [*self._operands(variables, flags), *captured])[0].shared()

        def step(turn: Any, variables: list[Any], pushed: list[Any]) -> Any:
            given = [self._popped(o, turn, v) for o, v in zip(lists, body.inputs[middle:], strict=True)]
            results = _tensors(self.run(body, [*self._operands(variables, flags), *captured, *given]), flags)
            grown = [tensor_list_set_item(o, turn, item, grow=True) for o, item in zip(pushed, results[carried:], strict=True)]
            return turn + 1, results[:carried], grown

        start = [o.batched() if flag else o.tensor for o, flag in zip(first, flags, strict=False)]
        empty = [tensor_list_reserve(0, dtype=dtype) for dtype in element_lists]
        _, variables, pushed = while_loop(holds, step, (0, start, empty))
        return self._operands([*variables, *pushed], flags)

    def _popped(self, operand: Operand, turn: Any, value: Value) -> Operand:
        """What a turn of a loop on the way back takes from the end of a list."""
        dims = value.spec.dims
        shape: Any = UNKNOWN
        if dims is not None:
            shape = [size if isinstance(size, int) else UNKNOWN for size in dims]
            shape = [self.count, *shape] if operand.is_batched else shape
        at = tensor_list_length(operand.tensor) - 1 - turn
        return Operand(tensor_list_get_item(operand.tensor, at, shape, dtype=value.spec.dtype, strict=False), operand.is_batched, self.count)

    def _by_each_condition(self, condition: FuncGraph, body: FuncGraph, first: list[Operand], captured: list[Operand]) -> list[Operand]:
        """Turn after turn, run the body on those elements whose condition still holds."""
        start = [o.batched() for o in first]
        if any(t.dtype.kind == "l" for t in start):
            raise NotBatchedError

        def holds(variables: list[Any]) -> Any:
            return self.run(condition, [*self._operands(variables), *captured])[0].batched()

        def step(active: Any, variables: list[Any]) -> Any:
            at = _places(active)
            going = Batch(axis_size(at, axis=0) if isinstance(at, SymbolicTensor) else int(at.shape[0]), self._note)
            inputs = [going.pick(o, at) for o in [*self._operands(variables), *captured]]
            results = [o.batched() for o in going.run(body, inputs)]
            variables = [tensor_scatter_nd_update_op(whole, expand_dims_op(at, axis=1), new) for whole, new in zip(variables, results, strict=True)]
            still = going.run(condition, [*going._operands(results), *inputs[len(first) :]])[0].batched()
            return tensor_scatter_nd_update_op(active, expand_dims_op(at, axis=1), still), variables

        _, variables = while_loop(lambda active, _: reduce_any_op(active, axis=None, keepdims=False), step, (holds(start), start))
        return self._operands(variables)

    def _operands(self, tensors: list[Any], flags: list[bool] | None = None) -> list[Operand]:
        return [Operand(t, True if flags is None else flags[i], self.count) for i, t in enumerate(tensors)]


def _tensors(operands: list[Operand], flags: list[bool]) -> list[Any]:
    return [o.batched() if flag else o.shared() for o, flag in zip(operands, flags, strict=True)]


def _places(mask: Any) -> Any:
    return reshape_op(nonzero_op(mask), (-1,))


def _listed(result: Any) -> list[Any]:
    """The results of an entry point in a list."""
    return [] if result is None else [result] if isinstance(result, Tensor) else list(result)


def _around(graph: Any) -> Iterator[Any]:
    """A graph and those that it is traced in."""
    while graph is not None:
        yield graph
        graph = graph.outer


def _as_inferred(operand: Operand, value: Value) -> Operand:
    """The operand of a value, with what its graph knows of the shape of one element."""
    shape = value.spec.shape
    tensor = operand.tensor
    if isinstance(tensor, SymbolicTensor) and shape.rank is not None and not isinstance(operand, Drawn) and tensor.dtype.kind != "l":
        known = operand.count if isinstance(operand.count, int) else None
        tensor.set_shape([known, *shape.as_list()] if operand.is_batched else shape)
    return operand
