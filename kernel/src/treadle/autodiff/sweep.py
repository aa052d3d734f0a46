"""The reverse sweep: from the cotangents of results to those of their sources, through records of what was called.

One sweep serves eager tapes, tapes inside a trace and gradients of whole graphs: a record says which identities went in and came out, and how to
pull cotangents back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.dtypes import DType
from treadle.errors import InvalidArgumentError
from treadle.registry import registry
from treadle.tensor import SYMBOLIC, Tensor


class SpecOnly(Tensor):
    """The shape and dtype of a tensor that a gradient does not read; it has no content."""

    __slots__ = ("_dims", "_dtype")

    def __init__(self, dims: Any, dtype: DType) -> None:
        self._dims = dims
        self._dtype = dtype
        self._key = SYMBOLIC

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


class GradientContext:
    """What the gradient of an op may look at.

    Attributes:
        inputs: as the op declares them: tensors, lists of tensors, host values.
        outputs: the results, as tensors.
        attrs: every attribute.
        needs: per flat tensor input, whether its gradient is wanted.
    """

    __slots__ = ("attrs", "inputs", "needs", "op", "outputs")

    def __init__(self, op: Op, inputs: list[Any], outputs: list[Any], attrs: dict[str, Any], needs: tuple[bool, ...]) -> None:
        self.op = op
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = attrs
        self.needs = needs

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

    def pull(self, cotangents: list[Any]) -> list[Any]:
        """The gradient per flat tensor input."""
        assert self.op.gradient is not None
        result = self.op.gradient(self, *cotangents)
        results = list(result) if isinstance(result, tuple | list) and not (len(self.op.inputs) == 1 and self.op.inputs[0].sequence) else [result]
        if len(results) != len(self.op.inputs):
            raise InvalidArgumentError(f"the gradient of op {self.op.name!r} gives {len(results)} gradients for {len(self.op.inputs)} inputs")
        flat: list[Any] = []
        for declared, given, entry in zip(self.op.inputs, results, self.inputs, strict=True):
            if declared.kind == "host":
                continue
            if declared.sequence:
                flat += [None] * len(entry) if given is None else list(given)
            else:
                flat.append(given)
        return flat


class Record:
    """One call that a tape saw.

    Attributes:
        name: of the op or function, for messages.
        pull: cotangents of the outputs to gradients of the inputs.
        inputs: identity per input; 0 where no gradient is wanted.
        outputs: identity per output.
        specs: (dims, dtype) per output, to make zeros where nothing flows back; None where nothing ever can.
        zeros: whether ``pull`` wants zeros instead of None.
    """

    __slots__ = ("inputs", "name", "outputs", "pull", "specs", "zeros")

    def __init__(
        self, name: str, pull: Callable[[list[Any]], list[Any]], inputs: list[int], outputs: list[int], specs: list[Any], zeros: bool = True
    ) -> None:
        self.name = name
        self.pull = pull
        self.inputs = inputs
        self.outputs = outputs
        self.specs = specs
        self.zeros = zeros


def sweep(records: Iterable[Record], cotangents: dict[int, Any], keep: set[int]) -> dict[int, Any]:
    """Pull cotangents back through records, the latest first.

    Args:
        records: in reverse order of the calls.
        cotangents: identity to cotangent; used up.
        keep: identities whose cotangents are wanted; others are dropped when they have been passed on.

    Returns:
        Identity to cotangent for those of ``keep`` that anything reached.
    """
    accumulate = registry.role("accumulate")
    found: dict[int, Any] = {}
    for record in records:
        arrived = []
        for identity in record.outputs:
            cotangent = cotangents.pop(identity, None)
            if cotangent is not None and identity in keep:
                found[identity] = cotangent
            arrived.append(cotangent)
        if all(c is None for c in arrived):
            continue
        if record.zeros and None in [None if c is None else 0 for c in arrived]:
            arrived = [zeros(spec) if c is None and spec is not None else c for c, spec in zip(arrived, record.specs, strict=True)]
        for identity, gradient in zip(record.inputs, record.pull(arrived), strict=True):
            if identity and gradient is not None:
                before = cotangents.get(identity)
                cotangents[identity] = gradient if before is None else accumulate(before, gradient)
    for identity in keep:
        if identity in cotangents:
            found[identity] = cotangents[identity]
    return found


def zeros(spec: Any) -> Any:
    """Zeros of a record's output: of its dims and dtype, or like the tensor itself where dims are unknown."""
    return registry.role("zeros_like")(spec if isinstance(spec, Tensor) else SpecOnly(*spec))
