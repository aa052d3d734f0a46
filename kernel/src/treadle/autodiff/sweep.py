"""The reverse sweep: from the cotangents of results to those of their sources, through records of what was called.

One sweep serves eager tapes, tapes inside a trace and gradients of whole graphs: a record says which identities went in and came out, and how to
pull cotangents back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from treadle.contracts.lists import BufferList
from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.dtypes import DType
from treadle.errors import InvalidArgumentError, PluginError
from treadle.graph.source import Source, back
from treadle.registry import registry
from treadle.state import LOCAL
from treadle.symbolic import SYMBOLIC, SymbolicTensor
from treadle.tensor import Tensor


class SpecOnly(Tensor):
    """The shape and dtype of a tensor that a gradient does not read; it has no content."""

    __slots__ = ("_dims", "_dtype")

    def __init__(self, dims: Any, dtype: DType) -> None:
        self._dims = dims
        self._dtype = dtype
        self._key = SYMBOLIC
        self._id = 0

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def dims(self) -> Any:
        return self._dims

    @property
    def shape(self) -> Any:
        return Spec(self._dims, self._dtype).shape

    @property
    def ndim(self) -> int:
        return len(self._dims)

    def _host(self) -> Any:
        raise InvalidArgumentError("a gradient reads the content of a tensor of which only shape and dtype were kept")

    def __repr__(self) -> str:
        return f"<shape {self.shape} and dtype {self._dtype.name} of a tensor that was not kept>"

    __str__ = __repr__


class LazyZeros(Tensor):
    """Zeros that are made when something reads them, as most gradients do not."""

    __slots__ = ("_made", "_shape")

    def __init__(self, shape: tuple[int, ...], key: Any) -> None:
        self._shape = shape
        self._key = key
        self._id = 0
        self._made = None

    @property
    def _buffer(self) -> Any:
        if self._made is None:
            self._made = _zero_buffer(self._shape, self._key)
        return self._made


_checked: set[Op] = set()
"""Ops whose gradient was checked against its inputs."""


class GradientContext:
    """One call of an op that a tape saw: what its gradient may look at, and where cotangents go.

    Attributes:
        op: the contract.
        inputs: as the op declares them: tensors, lists of tensors, host values.
        outputs: the results, as tensors.
        attrs: every attribute; each can be read as ``ctx.<name>`` too.
        needs: identity per flat tensor input; 0 where no gradient is wanted.
        results: identity per output.
        specs: per output what zeros are made from; None where nothing ever flows back.
    """

    __slots__ = ("attrs", "inputs", "needs", "op", "outputs", "results", "specs")
    zeros = True

    def __init__(
        self, op: Op, inputs: Any, outputs: list[Any], attrs: dict[str, Any], needs: list[int], results: list[int], specs: list[Any]
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = attrs
        self.needs = needs
        self.results = results
        self.specs = specs

    @property
    def name(self) -> str:
        """For messages."""
        return self.op.name

    @property
    def source(self) -> Source | None:
        """The line that called the op, if that is known."""
        return _source_of(self.outputs)

    @property
    def output(self) -> Any:
        """The only result."""
        (only,) = self.outputs
        return only

    def __getattr__(self, name: str) -> Any:
        try:
            return self.attrs[name]
        except KeyError:
            raise AttributeError(f"op {self.op.name!r} has no attribute {name!r}") from None

    def pull(self, cotangents: list[Any]) -> Any:
        """The gradient per flat tensor input."""
        op = self.op
        assert op.gradient is not None
        result = op.gradient(self, *cotangents)
        if op.is_plain:
            flat: Any = result if type(result) is tuple else (result,)
            if len(flat) != len(op.inputs):
                raise self._miscounted(len(flat))
        else:
            flat = self._flattened(result)
        if op not in _checked:
            self._check(flat)
        return flat

    def _flattened(self, result: Any) -> list[Any]:
        op = self.op
        results = list(result) if isinstance(result, tuple | list) and not (len(op.inputs) == 1 and op.inputs[0].sequence) else [result]
        if len(results) != len(op.inputs):
            raise self._miscounted(len(results))
        flat: list[Any] = []
        for declared, given, entry in zip(op.inputs, results, self.inputs, strict=True):
            if declared.kind == "host":
                continue
            if declared.sequence:
                flat += [None] * len(entry) if given is None else list(given)
            else:
                flat.append(given)
        return flat

    def _miscounted(self, count: int) -> InvalidArgumentError:
        return InvalidArgumentError(f"the gradient of op {self.op.name!r} gives {count} gradients for {len(self.op.inputs)} inputs")

    def _check(self, gradients: Any) -> None:
        """Refuse what the sweep cannot use: per input a gradient is a tensor of its dtype and shape, or None."""
        entries: list[Any] = []
        for declared, entry in zip(self.op.inputs, self.inputs, strict=True):
            if declared.kind != "host":
                entries += entry if declared.sequence else [entry]
        known = True
        for i, (entry, need, gradient) in enumerate(zip(entries, self.needs, gradients, strict=True)):
            if gradient is None or not need:
                continue
            if not isinstance(gradient, Tensor) and not hasattr(type(gradient), "__treadle_tensor__"):
                raise self._refused(i, f"{gradient!r} ({type(gradient).__name__})", "a tensor, or None")
            if isinstance(entry, Tensor) and not (gradient.dtype is entry.dtype and gradient.shape.is_compatible_with(entry.shape)):
                found = f"{gradient.dtype.name} of shape {gradient.shape}"
                raise self._refused(i, found, f"{entry.dtype.name} of shape {entry.shape}, as the input is")
            known = known and isinstance(entry, Tensor) and entry.shape.is_fully_defined() and gradient.shape.is_fully_defined()
        if known:  # a trace with unknown sizes, as that which learns what a gradient reads, proves little
            _checked.add(self.op)

    def _refused(self, position: int, found: str, expected: str) -> PluginError:
        op = self.op
        return PluginError(f"the gradient of op {op.name!r} (plugin {op.plugin!r}) gives {found} for input {position}; expected {expected}")


class Record:
    """One call that brings its own way back: a function, a custom gradient, the reading of a Variable.

    Attributes:
        name: for messages.
        pull: cotangents of the outputs to gradients of the inputs.
        needs: identity per input; 0 where no gradient is wanted.
        results: identity per output.
        specs: per output what zeros are made from; None where nothing ever flows back.
        zeros: whether ``pull`` wants zeros instead of None.
    """

    __slots__ = ("name", "needs", "pull", "results", "specs", "zeros")

    def __init__(
        self, name: str, pull: Callable[[list[Any]], list[Any]], needs: list[int], results: list[int], specs: list[Any], zeros: bool = True
    ) -> None:
        self.name = name
        self.pull = pull
        self.needs = needs
        self.results = results
        self.specs = specs
        self.zeros = zeros

    @property
    def source(self) -> Source | None:
        """The line that made the call, if that is known."""
        return _source_of(self.specs)


def _source_of(outputs: list[Any]) -> Source | None:
    return next((output.value.node.source for output in outputs if type(output) is SymbolicTensor), None)


def sweep(records: Iterable[Any], cotangents: dict[int, Any], keep: set[int]) -> dict[int, Any]:
    """Pull cotangents back through records, the latest first.

    Args:
        records: in reverse order of the calls.
        cotangents: identity to cotangent; used up.
        keep: identities whose cotangents are wanted; others are dropped when they have been passed on.

    Returns:
        Identity to cotangent for those of ``keep`` that anything reached.
    """
    found: dict[int, Any] = {}
    take = cotangents.pop
    is_looked_at = LOCAL.graph is not None or LOCAL.tapes
    for record in records:
        if len(record.results) == 1:
            identity = record.results[0]
            cotangent = take(identity, None)
            if cotangent is None:
                continue
            if identity in keep:
                found[identity] = cotangent
            arrived = [cotangent if isinstance(cotangent, Tensor) else _for(record, cotangent)]
        else:
            arrived = [take(identity, None) for identity in record.results]
            missing = 0
            for identity, cotangent in zip(record.results, arrived, strict=True):
                if cotangent is None:
                    missing += 1
                elif identity in keep:
                    found[identity] = cotangent
            if missing == len(arrived):
                continue
            arrived = [c if c is None or isinstance(c, Tensor) else _for(record, c) for c in arrived]
            if missing and record.zeros:
                arrived = [zeros(spec) if c is None and spec is not None else c for c, spec in zip(arrived, record.specs, strict=True)]
        pulled = back(record, record.pull, arrived) if is_looked_at else record.pull(arrived)
        for identity, gradient in zip(record.needs, pulled, strict=True):
            if identity and gradient is not None:
                before = cotangents.get(identity)
                cotangents[identity] = gradient if before is None else registry.role("accumulate")(before, gradient)
    for identity in keep:
        if identity in cotangents:
            found[identity] = cotangents[identity]
    return found


def dense(cotangent: Any) -> Any:
    """A cotangent as a tensor; one that holds a few rows of it (``td.IndexedSlices``) is filled up with zeros."""
    return cotangent if cotangent is None or isinstance(cotangent, Tensor) else cotangent.__treadle_tensor__()


def passed_on(cotangents: list[Any]) -> list[Any]:
    """The way back through the reading of a Variable."""
    return cotangents


def _for(record: Any, cotangent: Any) -> Any:
    return cotangent if record.pull is passed_on else dense(cotangent)


def zeros(spec: Any) -> Any:
    """Zeros of a record's output, from the symbolic tensor, or from its shape and dispatch key."""
    return registry.role("zeros_like")(spec) if isinstance(spec, Tensor) else LazyZeros(*spec)


def zeros_for(output: Any) -> Any:
    """Zeros of a result of a function."""
    return registry.role("zeros_like")(output) if type(output) is not Tensor else LazyZeros(output._buffer.shape, output._key)


def _zero_buffer(shape: tuple[int, ...], key: Any) -> Any:
    """A buffer of zeros; a list of tensors is zero when it has none."""
    if key.dtype.kind == "l":
        return BufferList({}, 0)
    return key.device.copy_in(np.zeros(shape, key.dtype.numpy))
