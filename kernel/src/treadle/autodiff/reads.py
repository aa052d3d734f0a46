"""What the gradient of an op reads, found by tracing it once on specs, so that a tape keeps nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle import state
from treadle.autodiff.sweep import GradientContext
from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.dims import Dim
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Value
from treadle.tensor import SymbolicTensor, Tensor


class Reads(NamedTuple):
    """Per flat tensor input and per output, whether its content is read."""

    inputs: tuple[bool, ...]
    outputs: tuple[bool, ...]


def reads_of(op: Op, inputs: list[Any], tensors: list[Tensor], outputs: list[Any], attrs: dict[str, Any]) -> Reads:
    """What the gradient of this call reads; remembered per dtypes, ranks and attributes."""
    try:
        key = (tuple([(t.dtype, t.ndim) for t in tensors]), tuple(attrs.values()), tuple(i for i in inputs if type(i) is tuple))
        known = op.reads.get(key)
    except TypeError:
        return _everything(tensors, outputs)
    if known is None:
        known = op.reads[key] = _find_out(op, inputs, tensors, outputs, attrs)
    return known  # type: ignore[no-any-return]


def _everything(tensors: list[Tensor], outputs: list[Any]) -> Reads:
    return Reads((True,) * len(tensors), (True,) * len(outputs))


def _find_out(op: Op, inputs: list[Any], tensors: list[Tensor], outputs: list[Any], attrs: dict[str, Any]) -> Reads:
    assert op.gradient is not None
    graph = FuncGraph(f"gradient of {op.name}")
    try:
        with state.recording(graph):
            stand_ins = {id(t): _stand_in(graph, t) for t in tensors}
            results = [_stand_in(graph, t) for t in outputs]
            cotangents = [_stand_in(graph, t) if t.dtype.is_differentiable else None for t in outputs]
            arguments = [
                [stand_ins[id(t)] for t in entry] if isinstance(entry, list) else stand_ins[id(entry)] if isinstance(entry, Tensor) else entry
                for entry in inputs
            ]
            context = GradientContext(op, arguments, results, attrs, (True,) * len(tensors))
            given = [g for g in context.pull(cotangents) if isinstance(g, SymbolicTensor)]
    except Exception:
        return _everything(tensors, outputs)  # the gradient itself will say what is wrong when it is called
    returned = {g.value for g in given}
    return Reads(
        tuple(_is_read(stand_ins[id(t)].value, returned) for t in tensors),
        tuple(_is_read(t.value, returned) for t in results),
    )


def _stand_in(graph: FuncGraph, tensor: Any) -> SymbolicTensor:
    rank = len(tensor.dims) if tensor.dims is not None else None
    dims = None if rank is None else tuple(1 if d == 1 else Dim.symbol() for d in tensor.dims)
    return SymbolicTensor(graph.placeholder(Spec(dims, tensor.dtype), "x"))


def _is_read(value: Value, returned: set[Value]) -> bool:
    return value in returned or any(not user.op.spec_only for user in value.uses)
