"""Graphs of nodes in the order of the program, with the uses of every value.

The nodes are a doubly linked list, so that putting one before another and taking one out cost the same in any graph. The order is a topological
one and, for nodes with effects, the order in which they happen.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.dims import with_symbols
from treadle.eager.dispatch import infer
from treadle.errors import GraphError
from treadle.graph.source import Source, caller
from treadle.graph.structural import CALL, CONDS, CONST, CUSTOM, LOOPS, PLACEHOLDER, as_constant
from treadle.shapes import TensorShape
from treadle.symbolic import default_session

_NO_ATTRS: dict[str, Any] = {}


class Value:
    """One output of a node.

    Attributes:
        node: the node that makes it.
        index: which of its outputs.
        spec: what is known of it.
        uses: the nodes that read it (keys only, in the order in which they first did).
        identity: for tapes, the same for every tensor that stands for it; 0 until one asks.
    """

    __slots__ = ("identity", "index", "node", "spec", "uses")

    def __init__(self, node: Node, index: int, spec: Spec) -> None:
        self.node = node
        self.index = index
        self.spec = spec
        self.uses: dict[Node, None] = {}
        self.identity = 0

    @property
    def graph(self) -> Graph:
        """The graph that the value belongs to."""
        return self.node.graph

    @property
    def name(self) -> str:
        """Unique within the graph."""
        return self.node.name if len(self.node.outputs) == 1 else f"{self.node.name}:{self.index}"

    @property
    def constant(self) -> np.ndarray[Any, Any] | None:
        """The host array of a constant, or None."""
        return self.node.attrs["value"] if self.node.op is CONST else None

    def refine(self, shape: TensorShape) -> None:
        """Believe that the value has also this shape."""
        if shape.rank is None:
            return
        dims = self.spec.dims
        if dims is None:
            merged: Any = with_symbols(shape)
        else:
            self.spec.shape.merge_with(shape)
            merged = tuple(d if isinstance(d, int) or s is None else s for d, s in zip(dims, shape.as_list(), strict=True))
        self.spec = Spec(merged, self.spec.dtype, self.spec.value)

    def __repr__(self) -> str:
        return f"<value {self.name}: {self.spec!r}>"


class Node:
    """One call of an op in a graph.

    Attributes:
        op: the contract.
        inputs: the values read, sequences spread out; ``splits`` says how.
        attrs: every attribute.
        outputs: the values made.
        splits: per declared input the length of its sequence, or -1; None when no input is a sequence.
        control: nodes that must have run before.
        device: where it must run, or None.
        source: the user's line.
        copied: for a copy whose gradient reads tensors of the graph that was copied, what stands for the values of that; the first copying first.
        serial: unique within the graph.
        label: a name given by hand, or None.
    """

    __slots__ = (
        "attrs",
        "control",
        "copied",
        "device",
        "graph",
        "inputs",
        "label",
        "next",
        "op",
        "outputs",
        "previous",
        "serial",
        "source",
        "splits",
    )

    def __init__(self, graph: Graph, op: Op, inputs: list[Value], attrs: dict[str, Any], splits: tuple[int, ...] | None, source: Source) -> None:
        self.graph = graph
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.splits = splits
        self.outputs: list[Value] = []
        self.control: tuple[Node, ...] = ()
        self.copied: tuple[Mapping[Value, Value], ...] = ()
        self.device: str | None = None
        self.source = source
        self.serial = graph.next_serial()
        self.label: str | None = None
        self.previous: Node | None = None
        self.next: Node | None = None

    @property
    def out(self) -> Value:
        """The only output."""
        (value,) = self.outputs
        return value

    @property
    def name(self) -> str:
        """Unique within the graph, if labels are; what comes from a serial gives way to the names of inputs."""
        given: str | None = self.attrs["name"] if self.op is PLACEHOLDER else self.label
        if given:
            return given
        name = f"{self.op.name}_{self.serial}"
        while self.graph is not None and name in self.graph._input_names:
            name += "_"
        return name

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run the node in a session, with all that it needs.

        Args:
            feed_dict: see ``Session.run``.
            session: the default one if None.

        Raises:
            ValueError: there is no session.
        """
        default_session(session, f"{self.name}.run()").run(self, feed_dict)

    def grouped(self, items: Iterable[Any]) -> list[Any]:
        """One item per input value, put together as the op declares its inputs."""
        if self.splits is None:
            return list(items)
        iterator = iter(items)
        return [next(iterator) if n < 0 else [next(iterator) for _ in range(n)] for n in self.splits]

    def __repr__(self) -> str:
        return f"<node {self.name}>"


class Graph:
    """Nodes, inputs and outputs. Change it only through its methods, which keep the uses right.

    Attributes:
        name: for messages.
        inputs: the values of the placeholders, in the order of the call.
        has_own_gradients: whether gradients that the user wrote are inside, in functions that it calls too.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.next_serial = itertools.count().__next__
        self.inputs: list[Value] = []
        self._first: Node | None = None
        self._last: Node | None = None
        self._count = 0
        self.has_own_gradients = False
        self._input_names: dict[str, int] = {}
        self._constants: dict[Any, Value] = {}
        self._constant_keys: dict[Node, list[Any]] = {}
        self._return = Node(self, _RETURN, [], _NO_ATTRS, None, Source("", 0, ""))

    # ------------------------------------------------------------------ reading

    @property
    def nodes(self) -> Iterator[Node]:
        """The nodes in order; the node just given may be removed, and others put before it."""
        node = self._first
        while node is not None:
            if node.graph is not None:
                yield node
            node = node.next  # a removed node still knows what followed it

    def __len__(self) -> int:
        return self._count

    @property
    def last(self) -> Node:
        """The last node."""
        if self._last is None:
            raise GraphError(f"{self.name}: the graph has no nodes")
        return self._last

    @property
    def outputs(self) -> list[Value]:
        """The values given back."""
        return self._return.inputs

    @outputs.setter
    def outputs(self, values: list[Value]) -> None:
        for value in self._return.inputs:
            value.uses.pop(self._return, None)
        self._return.inputs = list(values)
        for value in values:
            value.uses[self._return] = None

    # ------------------------------------------------------------------ building

    def add(
        self,
        op: Op,
        inputs: list[Value],
        attrs: dict[str, Any] | None = None,
        *,
        splits: tuple[int, ...] | None = None,
        specs: list[Spec] | None = None,
        before: Node | None = None,
        source: Source | None = None,
    ) -> Node:
        """Put in a node, at the end or ``before`` another.

        Args:
            op: the contract.
            inputs: values of this graph, sequences spread out.
            attrs: every attribute.
            splits: per declared input the length of its sequence, or -1.
            specs: of the outputs; by default what the op infers.
            before: the node to put it before.
            source: the user's line; by default that of ``before``, or of the caller.
        """
        attrs = _NO_ATTRS if attrs is None else attrs
        node = Node(self, op, inputs, attrs, splits, source or (before.source if before is not None else caller()))
        if specs is None:
            specs = infer(op, node.grouped([v.spec for v in inputs]), attrs)
        node.outputs = [Value(node, 0, specs[0])] if len(specs) == 1 else [Value(node, i, spec) for i, spec in enumerate(specs)]
        if before is not None:
            node.device = before.device
        for value in inputs:
            value.uses[node] = None
        if _has_own_gradients(op, attrs):
            self.has_own_gradients = True
            node.copied = self.active_copies()
        self._link(node, before)
        return node

    def active_copies(self) -> tuple[Mapping[Value, Value], ...]:
        """The ``copied`` of a node that is added now; a graph that records nothing translates nothing."""
        return ()

    def apply(self, op: Any, *inputs: Any, before: Node | None = None, **attrs: Any) -> Value:
        """Put in a node by its op or entry point, with attributes as keywords; its only output."""
        contract: Op = getattr(op, "op", op)
        spread: list[Value] = []
        splits: list[int] = []
        for item in inputs:
            spread += item if isinstance(item, list) else [item]
            splits.append(len(item) if isinstance(item, list) else -1)
        full = {name: attrs.get(name, default) for name, default in contract.defaults.items()}
        return self.add(contract, spread, full, splits=tuple(splits) if contract.variadic else None, before=before).out

    def constant(self, array: Any, before: Node | None = None) -> Value:
        """The value of a constant; equal ones are one node.

        Args:
            array: a host array, not changed afterwards.
            before: unused when an equal constant is there, since constants stand first.
        """
        array = np.asarray(array)
        key = (array.dtype.str if array.dtype.kind != "V" else array.dtype.name, array.shape, _digest(array))
        known = self._constants.get(key)
        if known is not None:
            return known
        return self._add_constant(key, np.array(array), caller() if before is None else before.source)

    def adopt_constant(self, array: Any, source: Source | None = None) -> Value:
        """A constant that is this very array, immutable by agreement; asked for again it is the same node."""
        known = self._constants.get(id(array))
        if known is not None:
            return known
        return self._add_constant(id(array), array, source or caller())

    def _add_constant(self, key: Any, array: np.ndarray[Any, Any], source: Source) -> Value:
        kept = as_constant(array)
        node = self.add(CONST, [], {"value": kept}, before=self._first, source=source)
        node.device = None
        self._constant_keys[node] = [key, id(kept)]  # the node keeps the array alive, so its id stays its own
        for k in self._constant_keys[node]:
            self._constants[k] = node.out
        return node.out

    def placeholder(self, spec: Spec, name: str) -> Value:
        """One more input."""
        count = self._input_names.get(name, 0)
        unique = f"{name}_{count}" if count else name
        while unique in self._input_names and unique != name:
            count += 1
            unique = f"{name}_{count}"
        self._input_names[name] = count + 1
        self._input_names.setdefault(unique, 1)
        node = self.add(PLACEHOLDER, [], {"spec": spec, "name": unique}, specs=[spec], before=self._after_inputs())
        self.inputs.append(node.out)
        return node.out

    def _after_inputs(self) -> Node | None:
        return self.inputs[-1].node.next if self.inputs else self._first

    # ------------------------------------------------------------------ rewriting

    def replace(self, old: Value, new: Value) -> None:
        """Let every user of ``old`` read ``new`` instead. The node of ``old`` stays until it is pruned."""
        if old is new:
            return
        if old.spec.dtype is not new.spec.dtype:
            raise GraphError(f"{self.name}: {old!r} cannot be replaced by {new!r}, which has another dtype")
        for user in list(old.uses):
            user.inputs = [new if value is old else value for value in user.inputs]
            new.uses[user] = None
        old.uses = {}

    def remove(self, node: Node) -> None:
        """Take out a node that nobody reads.

        Raises:
            GraphError: somebody does.
        """
        for value in node.outputs:
            if value.uses:
                raise GraphError(f"{self.name}: {node!r} cannot be removed, {next(iter(value.uses))!r} reads it")
        for value in node.inputs:
            value.uses.pop(node, None)
        if node.op is PLACEHOLDER:
            self.inputs = [value for value in self.inputs if value.node is not node]
        before, after = node.previous, node.next
        if before is None:
            self._first = after
        else:
            before.next = after
        if after is None:
            self._last = before
        else:
            after.previous = before
        self._count -= 1
        for key in self._constant_keys.pop(node, ()):
            self._constants.pop(key, None)
        node.graph = _GONE

    def _link(self, node: Node, before: Node | None) -> None:
        if before is None:
            node.previous = self._last
            if self._last is None:
                self._first = node
            else:
                self._last.next = node
            self._last = node
        else:
            node.next = before
            node.previous = before.previous
            if before.previous is None:
                self._first = node
            else:
                before.previous.next = node
            before.previous = node
        self._count += 1

    # ------------------------------------------------------------------ copying

    def copy_into(self, target: Graph, bound: dict[Value, Value] | None = None) -> dict[Value, Value]:
        """Copy every node into ``target``; placeholders that are ``bound`` to values of it are not.

        Returns:
            This graph's values to the target's.
        """
        values: dict[Value, Value] = dict(bound or {})
        for node in self.nodes:
            self.copy_node(node, target, values)
        return values

    def copy_node(
        self, node: Node, target: Graph, values: dict[Value, Value], before: Node | None = None, around: tuple[Mapping[Value, Value], ...] = ()
    ) -> None:
        """Copy one node into ``target``.

        Args:
            node: of this graph.
            target: another graph, or the same.
            values: this graph's values to the target's; read, and added to.
            before: a node of the target to put the copy before, instead of at the end.
            around: what stands for the values of the graphs that this one was traced in, to be looked up in that order.
        """
        if node.op is PLACEHOLDER:
            if node.outputs[0] not in values:
                copy = values[node.outputs[0]] = target.placeholder(node.outputs[0].spec, node.attrs["name"])
                copy.node.source = node.source
            return
        if node.op is CONST:
            values[node.outputs[0]] = target.adopt_constant(node.attrs["value"], node.source)
            return
        copied = target.add(
            node.op,
            [values[v] for v in node.inputs],
            dict(node.attrs),
            splits=node.splits,
            specs=[v.spec for v in node.outputs],
            before=before,
            source=node.source,
        )
        copied.device = node.device
        if _has_own_gradients(node.op, node.attrs):
            copied.copied = (*node.copied, values, *around)
        values.update(zip(node.outputs, copied.outputs, strict=True))

    def copy(self) -> tuple[Graph, dict[Value, Value]]:
        """A graph of its own with the same nodes, and this one's values to the copy's."""
        twin = Graph(self.name)
        values = self.copy_into(twin)
        twin.inputs = [values[v] for v in self.inputs]
        twin.outputs = [values[v] for v in self.outputs]
        return twin, values

    def __repr__(self) -> str:
        return f"<graph {self.name!r}: {self._count} nodes>"


def inner_graphs(attrs: Mapping[str, Any]) -> list[Graph]:
    """The graphs in the attributes of a call, a branch or a loop."""
    found = []
    for value in attrs.values():
        for item in value if isinstance(value, tuple) else (value,):
            graph = getattr(item, "graph", item)
            if isinstance(graph, Graph):
                found.append(graph)
    return found


def _has_own_gradients(op: Op, attrs: Mapping[str, Any]) -> bool:
    return op is CUSTOM or (op in _CALLING and any(graph.has_own_gradients for graph in inner_graphs(attrs)))


def _digest(array: np.ndarray[Any, Any]) -> Any:
    if array.nbytes <= 1024:
        return array.tobytes()
    import hashlib

    return hashlib.blake2b(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, digest_size=16).digest()


def _no_infer() -> None:
    """The values that the graph gives back."""


_RETURN = Op("return", _no_infer, structural=True, effect="io")
_GONE: Any = None
_CALLING = frozenset({CALL, *CONDS, *LOOPS})
