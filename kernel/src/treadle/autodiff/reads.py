"""What the gradient of an op reads, found by tracing it once on specs, so that a tape keeps nothing else."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from treadle import nest, state
from treadle.autodiff.sweep import GradientContext
from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.dims import Dim
from treadle.graph.func_graph import FuncGraph
from treadle.graph.graph import Value
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Operators


class Reads(NamedTuple):
    """What a gradient reads.

    Attributes:
        inputs: per flat tensor input, whether its content is read.
        outputs: the same per output.
        all_inputs: every input's content is.
        no_input: no input's content is.
        all_outputs: every output's content is.
        no_output: the gradient does not look at the outputs at all, not even at their shapes.
    """

    inputs: tuple[bool, ...]
    outputs: tuple[bool, ...]
    all_inputs: bool
    no_input: bool
    all_outputs: bool
    no_output: bool


def _reads(inputs: tuple[bool, ...], outputs: tuple[bool, ...], looked_at_outputs: bool) -> Reads:
    return Reads(inputs, outputs, all(inputs), not any(inputs), all(outputs), not looked_at_outputs)


class _Watched(GradientContext):
    """A context that notices whether its outputs are asked for."""

    __slots__ = ("_outputs", "asked")

    @property
    def outputs(self) -> list[Any]:
        self.asked = True
        return self._outputs

    @outputs.setter
    def outputs(self, given: list[Any]) -> None:
        self._outputs = given
        self.asked = False


def reads_of(op: Op, inputs: Any, tensors: list[Any], outputs: list[Any], attrs: dict[str, Any], needs: list[int]) -> Reads:
    """What the gradient of this call reads for the inputs that need one; remembered per dtypes, ranks, sizes of 1, and attributes."""
    if not op.reads_content:
        return _nothing(len(tensors), len(outputs))
    try:
        key = (
            tuple([(t._key, _ones(s) if 1 in (s := t._buffer.shape) else len(s), not n) for t, n in zip(tensors, needs, strict=True)]),
            tuple([len(i) if type(i) is list else i for i in inputs if type(i) in (tuple, list)]),
            *attrs.values(),
        )
        known = op.reads.get(key)
    except TypeError:
        return _everything(tensors, outputs)
    if known is None:
        known = op.reads[key] = _find_out(op, inputs, tensors, outputs, attrs, needs)
    return known


def _ones(shape: tuple[int, ...]) -> tuple[bool, ...]:
    """Where a shape is 1: all but the rank that a trace knows of it."""
    return tuple([size == 1 for size in shape])


@cache
def _nothing(inputs: int, outputs: int) -> Reads:
    return _reads((False,) * inputs, (False,) * outputs, True)


def _everything(tensors: list[Any], outputs: list[Any]) -> Reads:
    return _reads((True,) * len(tensors), (True,) * len(outputs), True)


def _find_out(op: Op, inputs: Any, tensors: list[Any], outputs: list[Any], attrs: dict[str, Any], needs: list[int]) -> Reads:
    assert op.gradient is not None
    graph = FuncGraph(f"gradient of {op.name}")
    try:
        with state.recording(graph):
            stand_ins = {id(t): _stand_in(graph, t) for t in tensors}
            results = [_stand_in(graph, t) for t in outputs]
            cotangents = [_stand_in(graph, t) if t.dtype.is_differentiable else None for t in outputs]
            arguments = [
                [stand_ins[id(t)] for t in entry] if isinstance(entry, list) else stand_ins[id(entry)] if isinstance(entry, Operators) else entry
                for entry in inputs
            ]
            context = _Watched(op, arguments, results, attrs, [int(n != 0) for n in needs], [], [])
            wanted = [g for g, need in zip(context.pull(cotangents), needs, strict=True) if need]
            given = [g for g in nest.flatten(wanted, expand_composites=True) if isinstance(g, SymbolicTensor)]
    except Exception:
        return _everything(tensors, outputs)  # the gradient itself will say what is wrong when it is called
    returned = {g.value for g in given}
    return _reads(
        tuple(_is_read(stand_ins[id(t)].value, returned) for t in tensors),
        tuple(_is_read(t.value, returned) for t in results),
        context.asked,
    )


def _stand_in(graph: FuncGraph, tensor: Any) -> SymbolicTensor:
    dims = None if tensor.dims is None else tuple(1 if d == 1 else Dim.symbol() for d in tensor.dims)
    return SymbolicTensor(graph.placeholder(Spec(dims, tensor.dtype), "x"))


def _is_read(value: Value, returned: set[Value]) -> bool:
    return value in returned or any(not user.op.spec_only for user in value.uses)
