"""Lists of tensors as values: what ``TensorArray`` keeps its state in, and what its gradients are made of.

A list is never changed: putting a tensor into one gives another list. A position that has no tensor stands for zeros, so the list without any
tensors is the zero of every list, and the sum of two lists is taken position by position. Thus the gradient of every op here is another op of this
module: of set it is get, of stack it is unstack.

The shape of a result comes as a host input in which -1 is a size that is not known, and -1 alone a rank that is not known. It is read where tensors
are missing, and while tracing.
"""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Dims, Spec
from treadle.declare import FreeSpec, HostSpec, gradient, op
from treadle.dims import Dim, add, known_different
from treadle.dtypes import DType, as_dtype, int32, int64, list_of
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle_ops.arguments import integers_argument
from treadle_ops.broadcasting import shape_of
from treadle_ops.creation import zeros as zeros_of_shape
from treadle_ops.creation import zeros_like as zeros_like_tensor

UNKNOWN = -1
"""A size, or as a whole shape the rank, that is not known."""


def _require_list(input: Spec) -> DType:
    if input.dtype.kind != "l":
        raise DTypeError(f"expected a list of tensors, such as TensorArray.flow, got a tensor of dtype {input.dtype.name}")
    return input.dtype.element


def _require_element(input: Spec, value: Spec) -> None:
    element = _require_list(input)
    if value.dtype is not element:
        raise DTypeError(f"the array holds tensors of dtype {element.name}, and the value has dtype {value.dtype.name}. Use td.cast to convert it.")


def _require_rows(value: Spec) -> None:
    if value.dims == ():
        raise ShapeError("a scalar has no first axis to take apart; expected rank 1 or more")


def _wanted(shape: Spec) -> Dims:
    """The dims that a host input for a shape stands for."""
    if shape.value is None:
        count = shape.dims[0] if shape.dims else None
        return tuple(Dim.symbol() for _ in range(count)) if isinstance(count, int) else None
    if not isinstance(shape.value, tuple):
        return None
    return tuple(Dim.symbol() if size == UNKNOWN else size for size in shape.value)


# ---------------------------------------------------------------------- making lists


@op("tensor_list_reserve", can_fail=True)
def tensor_list_reserve(size: HostSpec, *, dtype: DType) -> Spec:
    """A list of so many positions without tensors."""
    if isinstance(size.value, int) and size.value < 0:
        raise InvalidArgumentError(f"the size of a TensorArray is {size.value}; it must be 0 or more")
    return Spec((), dtype)


@op("tensor_list_from_tensor")
def tensor_list_from_tensor(value: Spec) -> Spec:
    """The list of the slices of a tensor along its first axis."""
    _require_rows(value)
    return Spec((), list_of(value.dtype))


@gradient(tensor_list_from_tensor)
def _(ctx: Any, g: Any) -> Any:
    (value,) = ctx.inputs
    return tensor_list_stack(g, shape_of(value), dtype=value.dtype, strict=False)


@op("tensor_list_split", can_fail=True)
def tensor_list_split(value: Spec, lengths: HostSpec) -> Spec:
    """The list of the pieces of a tensor along its first axis."""
    _require_rows(value)
    if lengths.value is not None and value.dims is not None:
        total: Any = 0
        for length in lengths.value:
            total = add(total, length)
        if known_different(total, value.dims[0]):
            raise InvalidArgumentError(
                f"the lengths {list(lengths.value)} add up to {total}; the first axis of shape {value.shape} has size {value.dims[0]}"
            )
    return Spec((), list_of(value.dtype))


@gradient(tensor_list_split)
def _(ctx: Any, g: Any) -> Any:
    value, lengths = ctx.inputs
    return tensor_list_concat(g, shape_of(value), lengths, dtype=value.dtype)[0], None


# ---------------------------------------------------------------------- one position


@op("tensor_list_set_item", can_fail=True)
def tensor_list_set_item(input: FreeSpec, index: HostSpec, value: FreeSpec, *, grow: bool) -> Spec:
    """The list with another tensor at a position; ``grow`` allows positions after the last one."""
    _require_element(input, value)
    return Spec((), input.dtype)


@gradient(tensor_list_set_item)
def _(ctx: Any, g: Any) -> Any:
    _, index, value = ctx.inputs
    return tensor_list_clear(g, index), None, tensor_list_get_item(g, index, shape_of(value), dtype=value.dtype, strict=False)


@op("tensor_list_get_item", can_fail=True)
def tensor_list_get_item(input: FreeSpec, index: HostSpec, shape: HostSpec, *, dtype: DType, strict: bool) -> Spec:
    """The tensor at a position; ``strict`` refuses positions that the list does not have."""
    return Spec(_wanted(shape), _require_list(input))


@gradient(tensor_list_get_item)
def _(ctx: Any, g: Any) -> Any:
    input, index, _ = ctx.inputs
    return tensor_list_set_item(_empty(input.dtype), index, g, grow=True), None, None


@op("tensor_list_clear")
def tensor_list_clear(input: FreeSpec, indices: HostSpec) -> Spec:
    """The list without the tensors at some positions."""
    _require_list(input)
    return Spec((), input.dtype)


@gradient(tensor_list_clear)
def _(ctx: Any, g: Any) -> Any:
    return tensor_list_clear(g, ctx.inputs[1]), None


# ---------------------------------------------------------------------- many positions


@op("tensor_list_stack", can_fail=True)
def tensor_list_stack(input: FreeSpec, shape: HostSpec, *, dtype: DType, strict: bool, made_by: str = "") -> Spec:
    """The tensors of a list along a new first axis; ``strict`` demands as many as ``shape`` says. ``made_by`` is what filled it, for messages."""
    return Spec(_wanted(shape), _require_list(input))


@gradient(tensor_list_stack)
def _(ctx: Any, g: Any) -> Any:
    return tensor_list_from_tensor(g), None


@op("tensor_list_gather", can_fail=True)
def tensor_list_gather(input: FreeSpec, indices: HostSpec, shape: HostSpec, *, dtype: DType, strict: bool, last_only: bool = False) -> Spec:
    """The tensors at some positions along a new first axis; with ``last_only``, zeros where the same position comes again later."""
    if indices.dims is not None and len(indices.dims) != 1:
        raise ShapeError(f"the indices have shape {indices.shape}; expected a vector")
    return Spec(_wanted(shape), _require_list(input))


@gradient(tensor_list_gather)
def _(ctx: Any, g: Any) -> Any:
    input, indices, _ = ctx.inputs
    if ctx.last_only:
        return tensor_list_scatter(_empty(input.dtype), indices, g, grow=True, accumulate=False), None, None
    return tensor_list_scatter(_empty(input.dtype), indices, g, grow=True, accumulate=True), None, None


@op("tensor_list_scatter", can_fail=True)
def tensor_list_scatter(input: FreeSpec, indices: HostSpec, value: FreeSpec, *, grow: bool, accumulate: bool) -> Spec:
    """The list with the slices of a tensor at some positions, or added to what is there; of equal positions the last one counts."""
    _require_element(input, value)
    _require_rows(value)
    if indices.dims is not None and len(indices.dims) != 1:
        raise ShapeError(f"the indices have shape {indices.shape}; expected a vector")
    if indices.dims and value.dims and known_different(indices.dims[0], value.dims[0]):
        raise ShapeError(f"there are {indices.dims[0]} indices for a value of shape {value.shape}; its first axis must have as many")
    return Spec((), input.dtype)


@gradient(tensor_list_scatter)
def _(ctx: Any, g: Any) -> Any:
    _, indices, value = ctx.inputs
    overwrites = not ctx.accumulate
    of_value = tensor_list_gather(g, indices, shape_of(value), dtype=value.dtype, strict=False, last_only=overwrites)
    return tensor_list_clear(g, indices) if overwrites else g, None, of_value


@op("tensor_list_concat", can_fail=True)
def tensor_list_concat(input: FreeSpec, shape: HostSpec, lengths: HostSpec, *, dtype: DType) -> tuple[Spec, Spec]:
    """The tensors of a list one after the other along their first axis, and their sizes along it.

    ``lengths`` are the sizes where tensors may be missing; -1 where none may be.
    """
    count = lengths.dims[0] if lengths.dims else Dim.symbol()
    return Spec(_wanted(shape), _require_list(input)), Spec((count,), int64)


@gradient(tensor_list_concat)
def _(ctx: Any, g: Any, _lengths: Any) -> Any:
    return tensor_list_split(g, integers_argument(ctx.outputs[1], "the lengths")), None, None


# ---------------------------------------------------------------------- whole lists


@op("tensor_list_length")
def tensor_list_length(input: FreeSpec) -> Spec:
    """The number of positions."""
    _require_list(input)
    return Spec((), int32)


@op("tensor_list_add")
def tensor_list_add(x: FreeSpec, y: FreeSpec) -> Spec:
    """The sum of two lists, position by position."""
    if _require_list(x) is not _require_list(y):
        raise DTypeError(f"the lists hold tensors of dtype {x.dtype.element.name} and {y.dtype.element.name}; they must be equal")
    return Spec((), x.dtype)


@gradient(tensor_list_add)
def _(ctx: Any, g: Any) -> Any:
    return g, g


@op("tensor_list_fill", aliases=True)
def tensor_list_fill(input: FreeSpec, like: FreeSpec) -> Spec:
    """The list with zeros for the tensors that it has not and another list has, of their shapes."""
    _require_list(input)
    _require_list(like)
    return Spec((), input.dtype)


@gradient(tensor_list_fill)
def _(ctx: Any, g: Any) -> Any:
    return g, None


def _empty(dtype: DType) -> Any:
    """The zero of all lists of a dtype."""
    return tensor_list_reserve(0, dtype=dtype)


# ---------------------------------------------------------------------- what differentiation asks for


def list_of_one(x: Any) -> Any:
    """A list with one tensor."""
    return tensor_list_set_item(tensor_list_reserve(1, dtype=list_of(x.dtype)), 0, x, grow=False)


def only_element(input: Any, dims: Dims) -> Any:
    """The tensor of a list with one, of dims that are known as far as they are ints."""
    shape: Any = UNKNOWN if dims is None else tuple(size if isinstance(size, int) else UNKNOWN for size in dims)
    return tensor_list_get_item(input, 0, shape, dtype=input.dtype.element, strict=False)


def zeros_like(x: Any) -> Any:
    """The zero of a cotangent, which may be a list."""
    return _empty(x.dtype) if x.dtype.kind == "l" else zeros_like_tensor(x)


def zeros(shape: Any, dtype: Any) -> Any:
    """Zeros of a shape; the empty list where the dtype is that of lists."""
    wanted = as_dtype(dtype)
    return _empty(wanted) if wanted.kind == "l" else zeros_of_shape(shape, wanted)
