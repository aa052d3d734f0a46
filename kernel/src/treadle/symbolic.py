"""The tensor while tracing: a value of a graph, which has a dtype and a shape and no content yet.

Whatever would need the content raises, and says what to do instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from treadle.contracts.device import Key
from treadle.dtypes import DType, float32
from treadle.errors import InvalidArgumentError, SymbolicTensorError
from treadle.shapes import TensorShape
from treadle.state import LOCAL
from treadle.tensor import Tensor


class _SymbolicDevice:
    name = ""


class SymbolicTensor(Tensor):
    """A tensor while tracing: a value of a graph, with no content yet."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key = SYMBOLIC

    @property
    def _id(self) -> int:
        result: int = self.value.identity
        return result

    @_id.setter
    def _id(self, identity: int) -> None:
        self.value.identity = identity

    @property
    def dtype(self) -> DType:
        result: DType = self.value.spec.dtype
        return result

    @property
    def shape(self) -> TensorShape:
        result: TensorShape = self.value.spec.shape
        return result

    @property
    def dims(self) -> Any:
        return self.value.spec.dims

    @property
    def ndim(self) -> int:
        result: int = self.value.spec.rank
        return result

    @property
    def graph(self) -> Any:
        """The graph that this value belongs to."""
        return self.value.graph

    @property
    def op(self) -> Any:
        """The node that makes this value; ``session.run`` takes it as an operation."""
        return self.value.node

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value as a NumPy array, from a session of the tensor's graph.

        Args:
            feed_dict: see ``Session.run``.
            session: the default one if None.

        Raises:
            ValueError: there is no session.
        """
        return default_session(session, f"{self.name}.eval()").run(self, feed_dict)

    def __hash__(self) -> int:  # type: ignore[override]  # in the graph of a session a tensor is a key of feed_dict
        return super().__hash__() if self.value.graph.building_function else id(self)

    @property
    def device(self) -> str:
        return self.value.node.device or ""

    @property
    def name(self) -> str:
        return f"{self.value.node.name}:{self.value.index}"

    def set_shape(self, shape: Any) -> None:
        """Assert while tracing that the shape is also this; the graph believes it."""
        self.value.refine(TensorShape(shape))

    def _refuse(self, what: str, instead: str, undecided: Any = None) -> NoReturn:
        graph = LOCAL.graph
        while graph is not None and graph is not self.value.graph:
            graph = graph.outer
        if not self.value.graph.building_function:
            instead = f"session.run gives its value. {instead}"
        elif graph is None:
            raise SymbolicTensorError(f"{what}: {leaked(self)}")
        error = SymbolicTensorError(
            f"{what}: this is a symbolic tensor of shape {self.shape} and dtype {self.dtype.name}, made at {self.value.node.source} while "
            f"tracing {self.value.graph.name!r}; it has no value yet. {instead}"
        )
        error.undecided = undecided
        raise error

    def numpy(self) -> Any:
        self._refuse(
            "numpy() is not available", "Return the tensor from the function, or use td.print to see it; outside its graph it has no meaning."
        )

    def _host(self) -> Any:
        self._refuse("a tensor cannot become a NumPy array here", "Use td ops instead of NumPy's on it, or td.numpy_function.")

    def __bool__(self) -> bool:  # noqa: PLE0304 - it always raises
        self._refuse(
            "using a tensor as a Python bool is not allowed",
            "Use td.cond or td.where to choose by a tensor; a Python `if`, `while`, `and`, `or` or `not` that AutoGraph does not convert, "
            "for instance as its source is not available, decides while tracing, when the value is not known.",
            undecided=self,
        )

    def _scalar(self, kind: str) -> Any:
        self._refuse(
            f"a tensor cannot become a Python {kind} here",
            f"Use td.cast to change its dtype, or compute with the tensor itself instead of a Python {kind}.",
        )

    def __index__(self) -> int:  # noqa: PLE0305 - it always raises
        self._refuse("a tensor cannot be a Python index here", "Use td.range for a loop over a tensor's value, or td.gather to pick by it.")

    def __len__(self) -> int:
        dims = self.value.spec.dims
        if dims and isinstance(dims[0], int):
            return dims[0]
        return self._refuse("len() is not known", "Use td.shape(x)[0].")

    def __iter__(self) -> Iterator[Any]:
        dims = self.value.spec.dims
        if dims is None or not dims or not isinstance(dims[0], int):
            self._refuse(
                "iterating over this tensor is not possible",
                "Its first size is not known while tracing; use td.map_fn, td.while_loop, or td.unstack with num.",
            )
        return (self[i] for i in range(dims[0]))

    def __format__(self, spec: str) -> str:
        return str(self)

    def __reduce__(self) -> Any:
        self._refuse("a symbolic tensor cannot be pickled", "Return it from the function first.")

    def __str__(self) -> str:
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


def default_session(session: Any, what: str) -> Any:
    """The session given, or the thread's default one.

    Raises:
        ValueError: there is neither.
    """
    found = session or LOCAL.session
    if found is None:
        raise ValueError(f"{what}: there is no default session; call it inside `with td.compat.v1.Session(graph=...):`, or give session=")
    return found


SYMBOLIC = Key(_SymbolicDevice(), float32)
"""The dispatch key of every symbolic tensor: no kernel is ever found for it."""


def leaked(tensor: SymbolicTensor) -> InvalidArgumentError:
    """The error for a symbolic tensor that is used outside the graph it belongs to."""
    graph = tensor.value.graph
    where = f"a symbolic tensor of graph {graph.name!r}, made at {tensor.value.node.source}, is used outside that graph's scope. "
    if not graph.building_function:
        return SymbolicTensorError(f"{where}Use it inside `with graph:`, and get its value by session.run.")
    return SymbolicTensorError(
        f"{where}"
        "It leaked out of the traced function, through a global, an attribute, a list or a closure. "
        "Return it from the function instead, or keep it in a td.Variable with assign()."
    )
