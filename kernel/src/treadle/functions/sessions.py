"""Sessions: run what is asked of a graph that was defined before, with values fed into it, as in TensorFlow 1.

For each set of fetches and fed tensors the nodes that they need are cut out of the graph as a function, which is compiled once. Effects come along
only if they are needed, and happen in the order in which the program defined them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from treadle import nest
from treadle.contracts.spec import Dims
from treadle.conversion import convert_to_tensor
from treadle.dims import Dim
from treadle.dtypes import DType, from_numpy
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle.functions.atomic import AtomicFunction
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Node, Value
from treadle.graph.session_graph import Scope, SessionGraph, get_default_graph, observed
from treadle.graph.structural import NO_OP, PLACEHOLDER
from treadle.registry import registry
from treadle.state import LOCAL
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Reference, Tensor
from treadle.variable import Variable

MOST_FUNCTIONS = 128
"""How many sets of fetches and fed tensors a session remembers; the oldest is forgotten."""


class Session(Scope):
    """Runs a graph, and holds the values of its Variables (TensorFlow 1's ``tf.Session``).

    Inside ``with session:`` it is the default session and its graph the default graph; after it, it is closed. Any number of threads may run it.
    Its random draws begin anew from the seeds in force when it is made.

    Args:
        target: only the empty one, this process.
        graph: to run; the default graph if None.
        config: ignored; see ``td.config`` and the settings.

    Raises:
        ValueError: there is a target.
        RuntimeError: the default graph is that of a function.

    Sources:
        TensorFlow ``tf.compat.v1.Session``.
    """

    def __init__(self, target: str = "", graph: SessionGraph | None = None, config: Any = None) -> None:
        if target:
            raise ValueError(f"Session: the target {target!r} is another process; sessions run in this one, so leave it out")
        graph = get_default_graph() if graph is None else graph
        if not isinstance(graph, SessionGraph):
            raise RuntimeError(f"Session: {getattr(graph, 'name', graph)!r} is no td.Graph(); call a traced function instead of running its graph")
        self._graph = graph
        self._values: dict[Reference, Variable] = {}
        self._functions: dict[Any, AtomicFunction] = {}
        self._streams = _random_streams()
        self._lock = threading.Lock()
        self._is_closed = False

    @property
    def graph(self) -> SessionGraph:
        """The graph that it runs."""
        return self._graph

    def close(self) -> None:
        """Let go of all values; nothing can be run afterwards."""
        self._is_closed = True
        self._values, self._functions = {}, {}

    @contextmanager
    def as_default(self) -> Iterator[Session]:
        """A context in which it is this thread's default session; it is not closed afterwards."""
        outer = LOCAL.session
        LOCAL.session = self
        try:
            yield self
        finally:
            LOCAL.session = outer

    @contextmanager
    def scope(self) -> Iterator[Session]:
        """See the class."""
        self._require_open()
        with self._graph.as_default(), self.as_default():
            try:
                yield self
            finally:
                self.close()

    def _require_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("Attempted to use a closed Session. Make a new one: td.compat.v1.Session(graph=...)")

    # ------------------------------------------------------------------ running

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run what the fetches need, and nothing else.

        Args:
            fetches: a tensor of the graph, a Variable, what an op without results gave, or a structure of these; the same one may stand there often.
            feed_dict: tensors of the graph to values that replace theirs: numbers, lists, arrays. Where two fed tensors share a size, as the graph
                knows, the values must too.
            options: ignored.
            run_metadata: ignored.

        Returns:
            The fetches' structure with NumPy arrays in the place of tensors and Variables, which are read last, and None in that of ops.

        Raises:
            InvalidArgumentError: a placeholder that is needed was not fed.
            ShapeError: a value fed does not fit its tensor's shape.
            DTypeError: a value fed cannot be converted to its tensor's dtype.
            FailedPreconditionError: a Variable is read that has not been initialised.
            TypeError: something cannot be fetched, or fed.
            ValueError: a fetch or a fed tensor belongs to another graph.
            RuntimeError: the session is closed.

        Sources:
            TensorFlow ``tf.compat.v1.Session.run``.
        """
        self._require_open()
        wanted = tuple(self._wanted(leaf) for leaf in nest.flatten(fetches, expand_composites=True))
        feeds = self._feeds({} if feed_dict is None else feed_dict)
        with observed(None), self._streams():
            arguments = [_fed(value, given) for value, given in feeds.items()]
            function = self._function(wanted, tuple(feeds))
            _require_same_sizes(function.arguments, arguments)
            results = function.call(arguments)
            given = dict(zip(_with_values(wanted), results, strict=True))
            arrays = [None if isinstance(thing, Node) else given[thing].numpy() for thing in wanted]
        return nest.pack_sequence_as(fetches, arrays, expand_composites=True)

    def _wanted(self, leaf: Any) -> Value | Node | Reference:
        """What a fetch stands for, to be the key of a function; a Variable by its reference."""
        if isinstance(leaf, Variable):
            return leaf.ref()
        if isinstance(leaf, SymbolicTensor | Node):
            self._require_own(leaf, "fetch")
            if isinstance(leaf, SymbolicTensor) and leaf.dtype.kind == "l":
                raise TypeError(f"Session.run: cannot fetch {leaf!r}: it is a list of tensors, as a TensorArray holds; fetch what stack() gives")
            return leaf if isinstance(leaf, Node) else leaf.value
        if isinstance(leaf, Tensor):
            raise ValueError(f"Session.run: cannot fetch {leaf!r}: it was made outside of graph {self._graph.name!r}, so it has its value already")
        raise TypeError(
            f"Session.run: cannot fetch {leaf!r} ({type(leaf).__name__}); fetch tensors, Variables, what ops without results gave, "
            "and structures of these"
        )

    def _require_own(self, thing: Any, what: str) -> None:
        node: Node = thing if isinstance(thing, Node) else thing.value.node
        if node.graph is not self._graph:
            raise ValueError(
                f"Session.run: cannot {what} {thing!r}, made at {node.source}: it is of {node.graph.name!r}, and the session runs "
                f"{self._graph.name!r}; give Session(graph=...) the graph that it was made in"
            )

    def _feeds(self, feed_dict: Mapping[Any, Any]) -> dict[Value, Any]:
        if not isinstance(feed_dict, Mapping):
            raise TypeError(
                f"Session.run: feed_dict must be a dict from tensors of the graph to values, got {feed_dict!r} ({type(feed_dict).__name__})"
            )
        feeds: dict[Value, Any] = {}
        for key, given in feed_dict.items():
            tensor = key.deref() if isinstance(key, Reference) else key
            if not isinstance(tensor, SymbolicTensor):
                raise TypeError(f"Session.run: feed_dict has the key {tensor!r} ({type(tensor).__name__}); its keys must be tensors of the graph")
            self._require_own(tensor, "feed")
            feeds[tensor.value] = given
        return feeds

    def _function(self, wanted: tuple[Any, ...], fed: tuple[Value, ...]) -> AtomicFunction:
        """What computes the fetches from the fed tensors, made at the first question."""
        key = (wanted, fed)
        found = self._functions.get(key)
        if found is None:
            with self._lock:
                found = self._functions.get(key)
                if found is None:
                    found = AtomicFunction(self._cut(wanted, fed), self._graph.name)
                    while len(self._functions) >= MOST_FUNCTIONS:
                        del self._functions[next(iter(self._functions))]
                    self._functions[key] = found
        return found

    def _cut(self, wanted: tuple[Any, ...], fed: tuple[Value, ...]) -> FuncGraph:
        """The part of the graph that gives what is wanted, with the fed tensors as its inputs."""
        piece = FuncGraph(self._graph.name)
        given = {value: piece.placeholder(value.spec.without_value(), value.node.name) for value in fed}
        stale = {value for value in fed if value.spec.value is not None}
        values = dict(given)
        things = {value: thing for thing, value in self._graph.captures}
        for node in _needed([thing for thing in wanted if not isinstance(thing, Reference)], given):
            if node.op is PLACEHOLDER and node.out not in given:
                values[node.out] = self._capture(things.get(node.out), node, piece)
            elif node.op is PLACEHOLDER or node.op is NO_OP:
                continue
            elif stale.isdisjoint(node.inputs) or node.op.structural:
                self._graph.copy_node(node, piece, values)
            else:  # what the graph knows of it was computed from a value that is replaced now
                copy = piece.add(node.op, [values[v] for v in node.inputs], node.attrs, splits=node.splits, source=node.source)
                copy.device = node.device
                values.update(zip(node.outputs, copy.outputs, strict=True))
                stale.update(node.outputs)
            values.update((v, given[v]) for v in node.outputs if v in given)
        piece.outputs = [
            piece.read(self._value_of(thing.deref())).value if isinstance(thing, Reference) else values[thing] for thing in _with_values(wanted)
        ]
        return piece

    def _capture(self, thing: Any, node: Node, piece: FuncGraph) -> Value:
        """What a placeholder stands for in a piece of the graph.

        Raises:
            InvalidArgumentError: a value that was not fed.
        """
        if thing is None:
            spec = node.out.spec
            raise InvalidArgumentError(
                f"Session.run: placeholder {node.name!r} of dtype {spec.dtype.name} and shape {spec.shape} needs a value, and feed_dict has none "
                f"for it; it was made at {node.source}"
            )
        return piece.resource_of(self._value_of(thing)) if isinstance(thing, Variable) else piece.value_of(thing)

    def _value_of(self, variable: Variable) -> Variable:
        """The Variable that holds a Variable's value here: itself, unless it was made in a graph."""
        if variable.initializer is None:
            return variable
        return self._values.setdefault(variable.ref(), variable.without_value())


def _random_streams() -> Callable[[], AbstractContextManager[Any]]:
    """What is entered for every run of one session, so that its random draws are its own."""
    entry = registry.roles.get("session_streams")
    streams: Callable[[], AbstractContextManager[Any]] = nullcontext if entry is None else entry.value()
    return streams


def get_default_session() -> Session | None:
    """The session of the innermost ``with session:`` of this thread, or None (TensorFlow's ``tf.compat.v1.get_default_session``)."""
    session: Session | None = LOCAL.session
    return session


def _with_values(wanted: Iterable[Any]) -> list[Any]:
    """The fetches that give a value, each once."""
    return [thing for thing in dict.fromkeys(wanted) if not isinstance(thing, Node)]


def _needed(wanted: Iterable[Value | Node], given: Mapping[Value, Value]) -> list[Node]:
    """The nodes that must run, in the order of the program, when some values are given."""
    found: set[Node] = set()
    waiting = [thing if isinstance(thing, Node) else thing.node for thing in wanted if thing not in given]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += [value.node for value in node.inputs if value not in given]
            waiting += node.control
    return sorted(found, key=lambda node: node.serial)


def _fed(value: Value, given: Any) -> Tensor:
    """A value of ``feed_dict`` as a tensor that can stand for one of the graph."""
    spec, name = value.spec, value.node.name
    if isinstance(given, SymbolicTensor):
        raise TypeError(f"Session.run: the value fed for {name!r} is the symbolic tensor {given!r}; feed numbers, lists or arrays")
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise ShapeError(f"Session.run: the value fed for {name!r} is no rectangular array: {error}") from error
    dtype = from_numpy.get(array.dtype)
    if dtype is None or _width(dtype) > _width(spec.dtype):
        raise DTypeError(
            f"Session.run: a value of dtype {array.dtype} cannot be fed for {name!r}, which has dtype {spec.dtype.name}; convert it first"
        )
    if not _fits(array.shape, spec.dims):
        raise ShapeError(
            f"Session.run: a value of shape {array.shape} cannot be fed for {name!r}, which has shape {spec.shape}, made at {value.node.source}"
        )
    converted = array.astype(spec.dtype.numpy)
    if spec.dtype.is_integer and not np.array_equal(converted, array):
        raise DTypeError(f"Session.run: the value fed for {name!r} does not fit its dtype {spec.dtype.name}: {array!r}")
    tensor: Tensor = convert_to_tensor(converted)
    return tensor


def _fits(shape: tuple[int, ...], dims: Dims) -> bool:
    return dims is None or (len(shape) == len(dims) and all(size == dim or isinstance(dim, Dim) for size, dim in zip(shape, dims, strict=True)))


def _width(dtype: DType) -> int:
    """Feeding converts to the same kind or a wider one."""
    return "biufc".find(dtype.kind.replace("u", "i")) if dtype.kind != "l" else -1


def _require_same_sizes(placeholders: list[Value], arguments: list[Tensor]) -> None:
    """Check that values agree where the graph knows that sizes are equal, as it was optimised by that.

    Raises:
        ShapeError: they do not.
    """
    sizes: dict[Dim, int] = {}
    derived: list[tuple[Dim, int, Value]] = []
    for value, tensor in zip(placeholders, arguments, strict=True):
        if value.uses:
            for size, actual in zip(value.spec.dims or (), tensor.dims, strict=False):
                if isinstance(size, Dim) and (size.name is None or sizes.setdefault(size, actual) != actual):
                    derived.append((size, actual, value))
    for size, actual, value in derived:
        if size.symbols() <= sizes.keys() and size.evaluate(sizes) != actual:
            raise ShapeError(
                f"Session.run: the value fed for {value.name!r} has a size {actual} where the other values fed make it {size.evaluate(sizes)}; "
                "in the graph these sizes are equal"
            )
