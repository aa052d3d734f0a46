"""Pieces of a tensor by ints and slices: the ops under Python's ``x[...]``, and TensorFlow's slice and strided_slice.

Indices are tuples in the canonical form of ``treadle_ops.selection``. Python's operator itself is in ``indexing``.
"""

from __future__ import annotations

import builtins
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op, public
from treadle.dims import Dim, Size
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.symbolic import SymbolicTensor
from treadle.tensor import Tensor
from treadle_ops.arguments import shape_argument, static_integer, static_value, tensor
from treadle_ops.broadcasting import shape_of, sum_like
from treadle_ops.creation import zeros_op
from treadle_ops.inference import dims_of_value, same_dtype
from treadle_ops.known import carried
from treadle_ops.selection import ELLIPSIS, UNKNOWN, filled, is_static, selected, shown


@op("strided_slice", aliases=True, can_fail=True)
def strided_slice_op(x: Spec, *, index: tuple[Any, ...]) -> Spec:
    """``x[index]`` for an index of known numbers."""
    return selected(x, index)


@op("dynamic_strided_slice", aliases=True, can_fail=True)
def dynamic_strided_slice_op(x: Spec, numbers: HostSpec, *, index: tuple[Any, ...]) -> Spec:
    """``x[index]``, where ``numbers`` stand in order for what is unknown in the index."""
    return selected(x, _known(index, numbers))


@op("strided_slice_grad")
def strided_slice_grad(g: Spec, shape: HostSpec, numbers: HostSpec, *, index: tuple[Any, ...]) -> Spec:
    """Zeros of a shape, with ``g`` put where the index selects."""
    return Spec(dims_of_value(shape), g.dtype)


@op("tensor_strided_slice_update", can_fail=True)
def tensor_strided_slice_update_op(x: Spec, numbers: HostSpec, value: Spec, *, index: tuple[Any, ...]) -> Spec:
    """``x`` with ``value``, which broadcasts, put where the index selects."""
    dtype = same_dtype(x, value)
    target = selected(x, _known(index, numbers))
    if target.dims is not None and value.dims is not None and not _broadcasts_to(value.dims, target.dims):
        raise ShapeError(f"a value of shape {value.shape} is assigned to {shown(index)}, which has shape {target.shape}; it must broadcast to that")
    return Spec(x.dims, dtype)


def _broadcasts_to(dims: tuple[Size, ...], wanted: tuple[Size, ...]) -> bool:
    pairs = zip(reversed(dims), reversed(wanted), strict=False)
    return len(dims) <= len(wanted) and not any(have != 1 and sizes.known_different(have, want) for have, want in pairs)


def _known(index: tuple[Any, ...], numbers: Spec) -> tuple[Any, ...]:
    return index if numbers.value is None else filled(index, numbers.value)


@gradient(strided_slice_op, reads_content=False)
def _(ctx: Any, g: Any) -> Any:
    return strided_slice_grad(g, shape_of(ctx.inputs[0]), (), index=ctx.index)


@gradient(dynamic_strided_slice_op, reads_content=False)
def _(ctx: Any, g: Any) -> Any:
    x, numbers = ctx.inputs
    return strided_slice_grad(g, shape_of(x), numbers, index=ctx.index), None


@gradient(strided_slice_grad, reads_content=False)
def _(ctx: Any, g: Any) -> Any:
    return piece(g, ctx.inputs[2], ctx.index), None, None


@gradient(tensor_strided_slice_update_op)
def _(ctx: Any, g: Any) -> Any:
    _, numbers, value = ctx.inputs
    kept = tensor_strided_slice_update_op(g, numbers, zeros_op((), dtype=g.dtype), index=ctx.index) if ctx.needs[0] else None
    return kept, None, sum_like(piece(g, numbers, ctx.index), value) if ctx.needs[1] else None


def piece(x: Any, numbers: Any, index: tuple[Any, ...]) -> Any:
    """``x[index]``, with numbers in place of its unknowns."""
    return strided_slice_op(x, index=index) if is_static(index) else dynamic_strided_slice_op(x, numbers, index=index)


# ---------------------------------------------------------------------- slice


@op("slice", aliases=True, can_fail=True)
def slice_op(x: Spec, begin: HostSpec, size: HostSpec) -> Spec:
    """``size`` elements from ``begin`` along every axis; a size of -1 takes what is left."""
    rank = next((len(s.dims) for s in (x,) if s.dims is not None), None)
    for name, given in (("begin", begin), ("size", size)):
        if given.dims is not None and len(given.dims) != 1:
            raise ShapeError(f"{name} must be a vector, not of shape {given.shape}")
        length = None if given.dims is None else given.dims[0]
        if isinstance(length, int) and rank is not None and length != rank:
            raise InvalidArgumentError(f"{name} has {length} numbers for a tensor of rank {rank} (shape {x.shape}); give one for each axis")
        rank = length if rank is None and isinstance(length, int) else rank
    if rank is None:
        return Spec(None, x.dtype)
    begins = begin.value if begin.value is not None else (UNKNOWN,) * rank
    counts = size.value if size.value is not None else (UNKNOWN,) * rank
    wholes = x.dims if x.dims is not None else (UNKNOWN,) * rank
    dims = tuple(_count(i, *axis, x) for i, axis in enumerate(zip(begins, counts, wholes, strict=True)))
    if x.value is None or not all(isinstance(n, int) for n in (*begins, *dims)):
        return Spec(dims, x.dtype)
    box = tuple(builtins.slice(b, b + n) for b, n in zip(begins, dims, strict=True))
    return Spec(dims, x.dtype, carried(lambda array: array[box], x))


def _count(axis: int, begin: Any, count: Any, whole: Any, x: Spec) -> Size:
    """The size of one axis of a slice."""
    rest = UNKNOWN if UNKNOWN in (begin, whole) else whole - begin
    wrong = (isinstance(begin, int) and begin < 0) or (isinstance(count, int) and count < -1)
    wrong = wrong or (isinstance(rest, int) and (rest < 0 or (isinstance(count, int) and count > rest)))
    if wrong:
        raise InvalidArgumentError(
            f"begin {begin} and size {count} do not fit axis {axis} with size {whole} (shape {x.shape}); "
            f"expected 0 <= begin and begin + size <= {whole}, or size -1 for what is left"
        )
    if isinstance(count, int):
        taken = rest if count == -1 else count
    else:
        taken = count if count != UNKNOWN and sizes.maximum(count, 0) == count else UNKNOWN
    return Dim.symbol() if taken == UNKNOWN else taken


@op("slice_grad")
def slice_grad(g: Spec, begin: HostSpec, shape: HostSpec) -> Spec:
    """Zeros of a shape, with ``g`` put at ``begin``."""
    return Spec(dims_of_value(shape), g.dtype)


@gradient(slice_op, reads_content=False)
def _(ctx: Any, g: Any) -> Any:
    x, begin, _ = ctx.inputs
    return slice_grad(g, begin, shape_of(x)), None, None


@gradient(slice_grad, reads_content=False)
def _(ctx: Any, g: Any) -> Any:
    inner, begin, _ = ctx.inputs
    return slice_op(g, begin, shape_of(inner)), None, None


@public("slice")
def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """A box of a tensor.

    Args:
        input_: any shape, any dtype.
        begin: a vector of integers, where the box begins along every axis.
        size: a vector of integers, how many elements it has along every axis; -1 takes what is left.
        name: ignored.

    Returns:
        A tensor of shape ``size`` and the dtype of ``input_``.

    Raises:
        InvalidArgumentError: the box reaches out of the tensor.
        ShapeError: ``begin`` or ``size`` is no vector.

    Sources:
        TensorFlow ``tf.slice``.
    """
    return slice_op(tensor(input_), shape_argument(begin), shape_argument(size))


# ---------------------------------------------------------------------- strided_slice


@public("strided_slice")
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Any:
    """What ``input_[begin[0]:end[0]:strides[0], begin[1]:end[1]:strides[1], ...]`` selects.

    Bit i of a mask is about entry i: the bound is left out, the entry is ``...``, a new axis, or the int ``begin[i]`` alone.

    Args:
        input_: any shape, any dtype.
        begin: a vector of integers, of a length known while tracing.
        end: as many integers.
        strides: as many integers, not 0; ones by default.
        begin_mask: which ``begin`` to leave out.
        end_mask: which ``end`` to leave out.
        ellipsis_mask: which entry is ``...``.
        new_axis_mask: which entries are new axes.
        shrink_axis_mask: which entries are ints, whose axes go.
        var: ignored.
        name: ignored.

    Returns:
        The selected part, of the dtype of ``input_``.

    Raises:
        InvalidArgumentError: the lengths differ, a stride is 0, or an int is out of range.

    Sources:
        TensorFlow ``tf.strided_slice``.
    """
    starts = _numbers(begin, "begin")
    stops = _numbers(end, "end")
    steps = [1] * len(starts) if strides is None else _numbers(strides, "strides")
    if not len(starts) == len(stops) == len(steps):
        raise InvalidArgumentError(
            f"strided_slice: begin, end and strides have {len(starts)}, {len(stops)} and {len(steps)} numbers; give as many of each"
        )
    index: list[Any] = []
    numbers: list[Any] = []

    def bound(value: Any, left_out: bool) -> Any:
        if left_out or type(value) is int:
            return None if left_out else value
        numbers.append(value)
        return UNKNOWN

    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(ELLIPSIS)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            if type(step) is int and step <= 0:
                raise InvalidArgumentError(f"strided_slice: the stride {step} of entry {i}, which shrink_axis_mask makes an int, must be positive")
            index.append(bound(start, False))
        else:
            index.append((bound(start, bool(begin_mask & bit)), bound(stop, bool(end_mask & bit)), bound(step, False)))
    return piece(tensor(input_), numbers, tuple(index))


def _numbers(value: Any, what: str) -> list[Any]:
    """A vector as a list of ints, with scalar tensors where they are not known."""
    if isinstance(value, SymbolicTensor):
        known = value.value.spec.value
        if value.dims is None or len(value.dims) != 1 or not isinstance(value.dims[0], int):
            raise InvalidArgumentError(f"strided_slice: {what} must be a vector of known length, not {value!r}")
        whole = known if known is not None else (UNKNOWN,) * value.dims[0]
        return [n if type(n) is int else strided_slice_op(value, index=(i,)) for i, n in enumerate(whole)]
    if isinstance(value, list | tuple) and any(isinstance(item, Tensor) for item in value):
        return [item if isinstance(item, SymbolicTensor) else static_integer(item, what) for item in value]
    known = static_value(value, what)
    if not isinstance(known, tuple) or any(type(n) is not int for n in known):
        raise InvalidArgumentError(f"strided_slice: {what} must be a vector of integers, not {value!r}")
    return list(known)
