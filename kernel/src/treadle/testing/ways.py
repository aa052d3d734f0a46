"""The ways to run one call of an op that must all give the same: eagerly, traced with more or less known, folded, with other memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treadle import devices, state
from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor, host_spec, host_value
from treadle.dims import Dim
from treadle.dtypes import from_numpy
from treadle.errors import OpError
from treadle.functions.atomic import AtomicFunction
from treadle.graph.func_graph import FuncGraph
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle.testing.samples import RANKS, SIZES, STATIC, Case, listed

Array = np.ndarray[Any, Any]


class Outcome:
    """What a call gave: host arrays, or the error it raised.

    Attributes:
        arrays: of the results, in order.
        error: what was raised, or None.
        tensors: the results themselves.
    """

    def __init__(self, call: Callable[[], list[Any]]) -> None:
        self.arrays: list[Array] = []
        self.error: Exception | None = None
        self.tensors: list[Any] = []
        try:
            self.tensors = call()
            self.arrays = [np.asarray(t) for t in self.tensors]
        except Exception as error:  # a kernel's or a gradient's
            self.error = error

    @property
    def value(self) -> Any:
        """The arrays, or the error."""
        return self.arrays if self.error is None else self.error


def tensor_of(array: Array, layout: str = "") -> Tensor:
    """A tensor of a host array: of a copy, or of a buffer laid out otherwise (``strided`` or ``offset``, on devices of host memory)."""
    device = devices.default()
    buffer = device.copy_in(array)
    if layout and isinstance(buffer, np.ndarray):
        buffer = _LAYOUTS[layout](array)
    return Tensor(buffer, device.key(from_numpy[array.dtype]))


def _strided(array: Array) -> Array:
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]) if array.ndim else (2,), array.dtype)
    view = wide[..., ::2] if array.ndim else wide[1:].reshape(())
    view[...] = array
    return view


def _offset(array: Array) -> Array:
    raw = np.zeros(array.nbytes + 192, np.uint8)
    start = -raw.ctypes.data % 64 + array.itemsize
    view = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


_LAYOUTS = {"strided": _strided, "offset": _offset}


def flat_results(case: Case, result: Any) -> list[Any]:
    """What the entry point gave back, as a list."""
    outputs = case.op.outputs
    return [result] if outputs == "one" else [] if outputs == "none" else list(result)


def call_entry(case: Case, inputs: list[Any]) -> list[Any]:
    """Call the op's entry point; the results as a list."""
    entry: Any = case.op.entry
    return flat_results(case, entry(*inputs, **case.attrs))


def tensors_of(case: Case, layout: str = "") -> list[Any]:
    """The case's inputs with a tensor for each array."""
    return [
        given if declared.kind == "host" else [tensor_of(a, layout) for a in given] if declared.sequence else tensor_of(given, layout)
        for declared, given in zip(case.op.inputs, case.inputs, strict=True)
    ]


def eager(case: Case, layout: str = "") -> Outcome:
    """Run at once."""
    return Outcome(lambda: call_entry(case, tensors_of(case, layout)))


def named(unknown: str) -> str:
    """A way to trace in words."""
    return "traced" if unknown == STATIC else f"traced with unknown {unknown}"


def spec_for(array: Array, unknown: str) -> Spec:
    """What a trace knows of an input."""
    dims: Any = None if unknown == RANKS else tuple(Dim.symbol() for _ in array.shape) if unknown == SIZES else array.shape
    return Spec(dims, from_numpy[array.dtype])


def host_array_of(value: Any) -> Array:
    """A host value as the array that a traced program would have for it."""
    array: Array = np.asarray(value, host_spec(value).dtype.numpy)
    return array


class Trace:
    """A call of a function of tensors recorded once.

    Args:
        function: gets what ``inputs`` has, symbolic, and gives a list of tensors.
        inputs: arrays, lists of arrays, and host values.
        is_host: per input, whether it is a host value.
        unknown: what the trace does not know of its inputs.
        hosts_known: host values are constants of the trace, as they are where nothing is unknown.

    Attributes:
        atomic: the function recorded.
        arrays: what to call it with, in order.
        sizes: symbol to the size that it stands for.
        specs: of the results.
    """

    def __init__(
        self, function: Callable[[list[Any]], list[Any]], inputs: list[Any], is_host: list[bool], unknown: str, hosts_known: bool = False
    ) -> None:
        graph = FuncGraph("check")
        self.arrays: list[Array] = []
        self.sizes: dict[Dim, int] = {}

        def symbolic(array: Array) -> SymbolicTensor:
            spec = spec_for(array, unknown)
            self.arrays.append(array)
            if unknown == SIZES:
                self.sizes.update(zip(spec.dims or (), array.shape, strict=True))  # type: ignore[arg-type]  # known sizes are bound to themselves
            return SymbolicTensor(graph.placeholder(spec, "x"))

        with state.recording(graph):
            given: list[Any] = []
            for entry, host in zip(inputs, is_host, strict=True):
                if host:
                    given.append(entry if hosts_known or unknown == STATIC else symbolic(host_array_of(entry)))
                else:
                    given.append([symbolic(a) for a in entry] if isinstance(entry, list) else symbolic(entry))
            results = [convert_to_tensor(t) for t in function(given)]
            graph.outputs = [graph.value_of(t) for t in results]
        self.specs = [value.spec for value in graph.outputs]
        self.atomic = AtomicFunction(graph, "check")

    def run(self) -> list[Any]:
        """Run it on what it was traced for."""
        return self.atomic.call([tensor_of(a) for a in self.arrays])


def trace(case: Case, unknown: str, hosts_known: bool = False) -> Trace:
    """Record the call of a case."""
    return Trace(lambda inputs: call_entry(case, inputs), case.inputs, [d.kind == "host" for d in case.op.inputs], unknown, hosts_known)


def folded(case: Case) -> Outcome:
    """Run a trace in which every input is a constant."""

    def call() -> list[Any]:
        recorded = Trace(lambda _: call_entry(case, [_constants(given) for given in case.inputs]), [], [], STATIC)
        return recorded.run()

    return Outcome(call)


def _constants(given: Any) -> Any:
    return [convert_to_tensor(a) for a in given] if isinstance(given, list) else convert_to_tensor(given) if isinstance(given, np.ndarray) else given


def buffers_of(case: Case, tensors: list[Any]) -> list[Any]:
    """What a kernel gets."""
    return [
        host_value(t) if declared.kind == "host" else [item._buffer for item in t] if declared.sequence else t._buffer
        for declared, t in zip(case.op.inputs, tensors, strict=True)
    ]


def flat_buffers(case: Case, tensors: list[Any]) -> list[Any]:
    """The buffers of the tensor inputs in order."""
    return [t._buffer for declared, given in zip(case.op.inputs, tensors, strict=True) if declared.kind != "host" for t in listed(given)]


def same_bits(a: Array, b: Array) -> bool:
    """True if two arrays have the same dtype, shape and bits, any NaN counting as any other."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.tobytes() == b.tobytes():
        return True
    if a.dtype.kind == "c":
        return same_bits(a.real.copy(), b.real.copy()) and same_bits(a.imag.copy(), b.imag.copy())
    if from_numpy[a.dtype].kind != "f":
        return False
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    equal = np.ascontiguousarray(a).reshape(-1).view(unsigned) == np.ascontiguousarray(b).reshape(-1).view(unsigned)
    with np.errstate(all="ignore"):
        nans = (a != a) & (b != b)
    return bool(np.all(equal | nans.reshape(-1)))


def same_outcome(a: Outcome, b: Outcome) -> bool:
    """True if both gave the same bits, or errors of one kind."""
    if a.error is not None or b.error is not None:
        return a.error is not None and b.error is not None and bool(_kinds(a.error) & _kinds(b.error))
    return len(a.arrays) == len(b.arrays) and all(same_bits(x, y) for x, y in zip(a.arrays, b.arrays, strict=True))


def _kinds(error: Exception) -> set[type]:
    """The classes that TensorFlow tells errors by."""
    ours = {c for c in type(error).__mro__ if issubclass(c, OpError) and c is not OpError}
    return ours or {type(error)}
