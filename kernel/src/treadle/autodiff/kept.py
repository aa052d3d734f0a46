"""What a tape keeps of a call: the inputs and outputs whose content the gradient reads, and stand-ins for the others."""

from __future__ import annotations

from typing import Any

from treadle.autodiff.reads import Reads, reads_of
from treadle.autodiff.sweep import SpecOnly
from treadle.contracts.op import Op
from treadle.tensor import Tensor
from treadle.variable import Variable

_UNREAD: list[Any] = []
_MOST_SHAPES = 4096


def kept(op: Op, inputs: Any, tensors: Any, outputs: Any, attrs: dict[str, Any], needs: list[int]) -> tuple[Any, Any]:
    """The inputs, as the op declares them, and the outputs that a record of an eager call holds on to.

    Args:
        op: the contract.
        inputs: as the op declares them; a Variable stands for the value it has now.
        tensors: the tensor inputs in order.
        outputs: the results.
        attrs: every attribute.
        needs: per tensor input whether a gradient is wanted: 0 if not.
    """
    if not op.is_plain:
        reads = reads_of(op, inputs, tensors, outputs, attrs, needs)
        held = [_value(t) if is_read else _shape_only(t) for t, is_read in zip(tensors, reads.inputs, strict=True)]
        return _regrouped(op, inputs, held), _outputs(reads, outputs)
    try:
        if len(tensors) == 1:
            (a,) = tensors
            key: Any = (a._key, a._buffer.shape, *attrs.values()) if attrs else (a._key, a._buffer.shape)
        elif len(tensors) == 2:
            a, b = tensors
            key = (a._key, a._buffer.shape, not needs[0], b._key, b._buffer.shape, not needs[1])
            if attrs:
                key += tuple(attrs.values())
        else:
            key = (*[(t._key, t._buffer.shape, not n) for t, n in zip(tensors, needs, strict=True)], *attrs.values())
        plan = op.kept.get(key)
    except TypeError:  # an attribute that cannot be hashed
        plan, key = None, None
    if plan is None:
        plan = _plan(op, inputs, tensors, outputs, attrs, needs, key)
    stand_ins, reads = plan
    if reads.no_input:
        inputs = stand_ins
    elif reads.all_inputs:
        for tensor in tensors:
            if type(tensor) is not Tensor:
                inputs = [_value(t) for t in tensors]
                break
    else:
        inputs = [_value(t) if s is None else s for t, s in zip(tensors, stand_ins, strict=True)]
    return inputs, _UNREAD if reads.no_output else _outputs(reads, outputs)


def _plan(
    op: Op, inputs: Any, tensors: Any, outputs: Any, attrs: dict[str, Any], needs: list[int], key: Any
) -> tuple[tuple[SpecOnly | None, ...], Reads]:
    """Per input of these shapes what stands in for it, None for one that is kept; and what is read. Remembered under ``key``."""
    reads = reads_of(op, inputs, tensors, outputs, attrs, needs)
    plan = tuple(None if is_read else _shape_only(t) for t, is_read in zip(tensors, reads.inputs, strict=True)), reads
    if key is not None:
        if len(op.kept) >= _MOST_SHAPES:
            op.kept.clear()
        op.kept[key] = plan
    return plan


def _outputs(reads: Reads, outputs: Any) -> Any:
    if reads.no_output:
        return _UNREAD
    return outputs if reads.all_outputs else [t if is_read else _shape_only(t) for t, is_read in zip(outputs, reads.outputs, strict=True)]


def _value(tensor: Any) -> Any:
    """A tensor; of a Variable its value now, which tapes outside take for it."""
    if not isinstance(tensor, Variable):
        return tensor
    value = Tensor(tensor._buffer, tensor._key)
    value._id = tensor._id
    return value


def _shape_only(tensor: Any) -> SpecOnly:
    """The stand-in for a tensor that is not kept; one per shape and key, as they are immutable."""
    key, shape = tensor._key, tensor._buffer.shape
    found: SpecOnly | None = key.stand_ins.get(shape)
    if found is None:
        if len(key.stand_ins) >= _MOST_SHAPES:
            key.stand_ins.clear()
        found = key.stand_ins[shape] = SpecOnly(shape, key.dtype)
    return found


def _regrouped(op: Op, inputs: Any, held: list[Any]) -> list[Any]:
    """Inputs with their tensors replaced in order; host values stay."""
    replaced = iter(held)
    return [
        entry if declared.kind == "host" else [next(replaced) for _ in entry] if declared.sequence else next(replaced)
        for declared, entry in zip(op.inputs, inputs, strict=True)
    ]
