"""What of a graph may differ between the elements that it is run on, and what keeps it from being batched."""

from __future__ import annotations

from treadle.contracts.batching import rule_of
from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.dims import Dim, known_equal
from treadle.graph.graph import Graph, Node, Value, inner_graphs
from treadle.graph.structural import CALL, CONDS, CUSTOM, LOOPS, PLACEHOLDER
from treadle_ops.own_gradients import own_gradient
from treadle_ops.tensor_lists import tensor_list_reserve


def effect_without_rule(graph: Graph, of_gradients: bool = False) -> Op | None:
    """An op of the graph that changes something outside it, in an order that only a loop keeps; None if there is none.

    Args:
        graph: of one element.
        of_gradients: look also at the gradients that the user wrote, but not at their own gradients.
    """
    for node in graph.nodes:
        inner = inner_graphs(node.attrs) if node.op is CALL or node.op in CONDS | LOOPS else []
        for found in [effect_without_rule(i, of_gradients) for i in inner]:
            if found is not None:
                return found
        if not inner and node.op.effect in ("writes", "io") and rule_of(node.op) is None:
            return node.op
        if of_gradients and node.op is CUSTOM and (found := _effect_of_gradient(node)) is not None:
            return found
    return None


def _effect_of_gradient(node: Node) -> Op | None:
    if node.copied:  # it cannot be batched in any case
        return None
    try:
        graph = own_gradient(node).graph
    except Exception:  # it says what is wrong with it when it is asked for, if it ever is
        return None
    return effect_without_rule(graph)


def differing(graph: Graph, given: list[bool]) -> dict[Value, bool]:
    """Which values of a graph may differ between elements, if these inputs do."""
    flags = dict(zip(graph.inputs, given, strict=True))
    for node in graph.nodes:
        if node.op is not PLACEHOLDER:
            flags.update(zip(node.outputs, differing_outputs(node, [flags.get(v, False) for v in node.inputs]), strict=True))
    return flags


def _outputs_differing(graph: Graph, given: list[bool]) -> list[bool]:
    flags = differing(graph, given)
    return [flags[v] for v in graph.outputs]


def differing_outputs(node: Node, given: list[bool]) -> list[bool]:
    """Which outputs of a node may differ, if these inputs do."""
    if node.op is CALL:
        return _outputs_differing(node.attrs["function"].graph, given)
    if node.op in CONDS:
        either = zip(*(_outputs_differing(b.graph, given[1:]) for b in node.attrs["branches"]), strict=True)
        return [given[0] or any(flags) for flags in either]
    if node.op in LOOPS:
        return differing_in_loop(node, given)[0]
    rule = rule_of(node.op)
    differs = node.op.effect == "random" or (any(given) and not (rule is not None and rule.shared))
    return [differs] * len(node.outputs)


def differing_in_loop(node: Node, given: list[bool]) -> tuple[list[bool], bool]:
    """The outputs of a loop that differ between elements, and whether its condition does."""
    carried, popped = node.attrs["carried"], node.attrs["popped"]
    condition, body = node.attrs["condition"], node.attrs["body"]
    carries, captured = given[:carried], given[carried:]
    while True:
        outputs = _outputs_differing(body.graph, carries + captured)
        decides = condition is not None and _outputs_differing(condition.graph, carries + captured[: len(captured) - popped])[0]
        wider = [decides or before or after for before, after in zip(carries, outputs, strict=False)]
        if wider == carries:
            return [*carries, *(decides or flag for flag in outputs[carried:])], decides
        carries = wider


def lists_to_batch(graph: Graph, given: list[bool]) -> set[Value]:
    """Lists of tensors that become others in which elements differ: such a list begins without tensors, and is batched from the beginning."""
    if not any(node.op is tensor_list_reserve.op for node in graph.nodes):
        return set()
    marked = {value for value, flag in differing(graph, given).items() if flag and value.spec.dtype.kind == "l"}
    for node in reversed(list(graph.nodes)):
        if any(value in marked for value in node.outputs):
            marked.update(value for value in node.inputs if value.spec.dtype.kind == "l")
    return marked


def symbols_of(spec: Spec) -> set[Dim]:
    """What stands for unknown sizes in a spec."""
    return {symbol for size in spec.dims or () if isinstance(size, Dim) for symbol in size.symbols()}


def equal_sizes(a: Spec, b: Spec) -> bool:
    """Whether two specs are known to have the same shape."""
    return a.dims is not None and b.dims is not None and len(a.dims) == len(b.dims) and all(map(known_equal, a.dims, b.dims))
