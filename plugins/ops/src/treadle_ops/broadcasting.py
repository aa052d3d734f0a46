"""Broadcasting and its way back: a tensor repeated to a shape, and a cotangent summed to the shape of what was repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op
from treadle.dims import Dim
from treadle.dtypes import DType, int32
from treadle.errors import ShapeError
from treadle.symbolic import SymbolicTensor
from treadle_ops.inference import NUMERIC, dims_of_value, normalize_axis, require_kind
from treadle_ops.known import repeated


@op("shape", spec_only=True)
def shape_op(x: Spec, *, out_type: DType) -> Spec:
    """The sizes of the axes of ``x``."""
    if x.dims is None:
        return Spec((Dim.symbol(),), out_type)
    return Spec((len(x.dims),), out_type, x.dims)


@op("axis_size", spec_only=True)
def axis_size(x: Spec, *, axis: int) -> Spec:
    """The size of one axis of ``x``."""
    if x.dims is None:
        return Spec((), int32, Dim.symbol())
    return Spec((), int32, x.dims[normalize_axis(axis, len(x.dims))])


def sizes_along(tensors: Sequence[Any], axis: int) -> Any:
    """The sizes of tensors along an axis as a host input wants them: a tuple where they are known, else a list with tensors."""
    sizes_ = [x.dims[axis] if x.dims is not None else None for x in tensors]
    if all(type(size) is int for size in sizes_):
        return tuple(sizes_)
    return [size if type(size) is int else axis_size(x, axis=axis) for x, size in zip(tensors, sizes_, strict=True)]


def shape_of(x: Any) -> Any:
    """The shape of a tensor as a host input wants it: a tuple where it is known, else a tensor."""
    dims = x.dims
    if type(x) is not SymbolicTensor or (dims is not None and all(type(d) is int for d in dims)):
        return tuple(dims)
    return shape_op(x, out_type=int32)


@op("broadcast_to", aliases=True)
def broadcast_to_op(x: Spec, shape: HostSpec) -> Spec:
    """Repeat axes of size 1, and put new ones in front."""
    wanted = dims_of_value(shape)
    if wanted is None or x.dims is None:
        return Spec(wanted, x.dtype)
    if len(wanted) < len(x.dims):
        raise ShapeError(f"broadcast_to: shape {x.shape} has more axes than {Spec(wanted, x.dtype).shape}")
    for have, want in zip(reversed(x.dims), reversed(wanted), strict=False):
        if isinstance(have, int) and have != 1 and sizes.known_different(have, want):
            raise ShapeError(f"broadcast_to: shape {x.shape} does not broadcast to {Spec(wanted, x.dtype).shape}")
    return Spec(wanted, x.dtype, repeated(x.value, wanted, x.dtype) if x.dims == () else None)


@gradient(broadcast_to_op)
def _(ctx: Any, g: Any) -> Any:
    return sum_like(g, ctx.inputs[0]), None


@op("sum_to_shape", aliases=True)
def sum_to_shape(x: Spec, shape: HostSpec) -> Spec:
    """Sum over the axes along which ``shape`` was broadcast to the shape of ``x``."""
    dtype, wanted = require_kind(x, NUMERIC), dims_of_value(shape)
    if wanted is not None and x.dims is not None:
        lead = len(x.dims) - len(wanted)
        if lead < 0 or any(want != 1 and sizes.known_different(have, want) for have, want in zip(x.dims[lead:], wanted, strict=True)):
            raise ShapeError(f"shape {x.shape} is not what {Spec(wanted, dtype).shape} broadcasts to, so it cannot be summed to that")
    return Spec(wanted, dtype)


@gradient(sum_to_shape)
def _(ctx: Any, g: Any) -> Any:
    return broadcast_to_op(g, shape_of(ctx.inputs[0])), None


def sum_like(g: Any, like: Any) -> Any:
    """The cotangent ``g`` of a broadcast result, for an input of the shape of ``like``."""
    dims = like.dims
    if dims is not None and g.dims == dims:
        return g
    return sum_to_shape(g, shape_of(like))
