"""Python's ``x[index]`` on tensors, and ``x`` with a part of it replaced, which assigning to a slice of a Variable needs.

Ints, slices, ``...`` and None mean what they mean in NumPy; so does one bool tensor. Lists and tensors that are not scalar are no indices:
``td.gather`` and ``td.gather_nd`` select by them.
"""

from __future__ import annotations

import operator
from typing import Any

from treadle.declare import offer
from treadle.dtypes import int64
from treadle.symbolic import SymbolicTensor
from treadle_ops.arguments import tensor
from treadle_ops.casting import cast_op
from treadle_ops.masking import boolean_mask
from treadle_ops.selection import ELLIPSIS, UNKNOWN
from treadle_ops.slicing import dynamic_strided_slice_op, strided_slice_op, tensor_strided_slice_update_op

offer(__name__, newaxis=None)


def getitem(x: Any, index: Any) -> Any:
    """``x[index]``.

    Args:
        x: a tensor.
        index: an int, slice, None, ``...``, a scalar integer tensor, or a tuple of these; or one bool tensor, as for ``td.boolean_mask``.

    Returns:
        The selected part, of the dtype of ``x``.

    Raises:
        IndexOutOfRangeError: an int is out of range.
        InvalidArgumentError: there are too many indices, or a step is 0.
        TypeError: something is no index.
    """
    if type(index) is int:
        return strided_slice_op(x, index=(index,))
    if is_mask(index):
        return boolean_mask(x, index)
    entries, numbers = canonical(index)
    return dynamic_strided_slice_op(x, numbers, index=entries) if numbers else strided_slice_op(x, index=entries)


def set_item(x: Any, index: Any, new: Any) -> Any:
    """``x`` with ``new`` in the place of ``x[index]``.

    Args:
        x: a tensor.
        index: as for ``x[index]``, but no bool tensor.
        new: of the dtype of ``x``, of a shape that broadcasts to that of ``x[index]``.

    Returns:
        The shape and dtype of ``x``.

    Raises:
        ShapeError: ``new`` does not broadcast.
        TypeError: something is no index, or the dtypes differ.
    """
    if is_mask(index):
        raise TypeError("a bool tensor as an index cannot be assigned to; use v.assign(td.where(mask, new, v))")
    entries, numbers = canonical(index)
    return tensor_strided_slice_update_op(x, numbers or (), tensor(new, x), index=entries)


def is_mask(index: Any) -> bool:
    """True for a bool tensor, array or value."""
    return isinstance(index, bool) or getattr(getattr(index, "dtype", None), "kind", None) == "b"


def canonical(index: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """An index in canonical form, and the scalar tensors that stand for what is unknown in it."""
    numbers: list[Any] = []
    entries: list[Any] = []
    for item in index if type(index) is tuple else (index,):
        if item is None or type(item) is int:
            entries.append(item)
        elif item is ...:
            entries.append(ELLIPSIS)
        elif type(item) is slice:
            entries.append((_number(item.start, numbers, item), _number(item.stop, numbers, item), _number(item.step, numbers, item)))
        else:
            entries.append(_number(item, numbers, item))
    if len({number.dtype for number in numbers}) > 1:
        numbers = [cast_op(number, dtype=int64) for number in numbers]
    return tuple(entries), numbers


def _number(value: Any, numbers: list[Any], item: Any) -> Any:
    """An int, None, or the mark of an unknown, whose tensor joins ``numbers``."""
    if value is None or type(value) is int:
        return value
    protocol = getattr(type(value), "__treadle_tensor__", None)
    if protocol is not None:
        value = protocol(value)
    if isinstance(value, SymbolicTensor):
        if value.dtype.is_integer and value.dims in ((), None):
            known = value.value.spec.value
            if type(known) is int:
                return known
            numbers.append(value)
            return UNKNOWN
    elif not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), td.newaxis (`None`) and scalar integer tensors are valid indices, "
        f"got {item!r} ({type(item).__name__}). Use td.gather or td.gather_nd to select by a list or tensor of indices."
    )
