"""Slices of a tensor at given coordinates, taken and put back: gather_nd and scatter_nd, of which each is the other's gradient.

Coordinates lie along the last axis of the indices. They must be in range, or are passed over where the caller wants that.
"""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Dims, Spec
from treadle.declare import HostSpec, IndexSpec, gradient, op, public
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import shape_argument, static_integer
from treadle_ops.broadcasting import shape_of
from treadle_ops.inference import INTEGER, dims_of_value, require_kind

POLICIES = {"": False, "DEFAULT": False, "ERROR": False, "IGNORE": True}
"""TensorFlow's names for what is done about indices out of range: True if they are passed over."""


def ignores(policy: str) -> bool:
    """Whether a ``bad_indices_policy`` passes over indices that are out of range.

    Raises:
        InvalidArgumentError: there is no such policy.
    """
    if policy not in POLICIES:
        raise InvalidArgumentError(f"bad_indices_policy {policy!r} is not known; expected one of {', '.join(map(repr, POLICIES))}")
    return POLICIES[policy]


def require_depth(indices: Spec, rank: int | None, batch_dims: int = 0) -> int | None:
    """The length of the coordinates that ``indices`` holds along its last axis; None if it is not known.

    Raises:
        ShapeError: there is no such axis, or a coordinate is longer than what it points into.
    """
    require_kind(indices, INTEGER, "indices")
    if indices.dims is None:
        return None
    if not indices.dims:
        raise ShapeError("the indices are a scalar; expected coordinates along a last axis")
    depth = indices.dims[-1]
    if not isinstance(depth, int):
        return None
    if rank is not None and depth + batch_dims > rank:
        raise ShapeError(f"indices of shape {indices.shape} hold coordinates of length {depth} for {rank - batch_dims} axes; they must not be longer")
    return depth


@op("gather_nd", can_fail=True)
def gather_nd_op(params: Spec, indices: IndexSpec, *, batch_dims: int, ignore: bool) -> Spec:
    """The slices of ``params`` at coordinates, which lie along the last axis of ``indices``."""
    rank = None if params.dims is None else len(params.dims)
    depth = require_depth(indices, rank, batch_dims)
    if indices.dims is not None and not 0 <= batch_dims < len(indices.dims):
        raise InvalidArgumentError(
            f"batch_dims {batch_dims} is out of range for indices of shape {indices.shape}; expected 0 to {len(indices.dims) - 1}"
        )
    if rank is not None and batch_dims > rank:
        raise InvalidArgumentError(f"batch_dims {batch_dims} is out of range for params of shape {params.shape}")
    if params.dims is None or indices.dims is None or depth is None:
        return Spec(None, params.dtype)
    if any(sizes.known_different(a, b) for a, b in zip(params.dims[:batch_dims], indices.dims[:batch_dims], strict=True)):
        raise ShapeError(
            f"params of shape {params.shape} and indices of shape {indices.shape} differ in the first {batch_dims} axes; batch axes must be equal"
        )
    return Spec((*indices.dims[:-1], *params.dims[batch_dims + depth :]), params.dtype)


@op("scatter_nd", can_fail=True)
def scatter_nd_op(indices: IndexSpec, updates: Spec, shape: HostSpec, *, batch_dims: int, ignore: bool) -> Spec:
    """Zeros of a shape, with updates added at coordinates; the first ``batch_dims`` axes of all three belong together."""
    dims = dims_of_value(shape)
    require_updates(indices, updates, dims, batch_dims)
    return Spec(dims, updates.dtype)


def require_updates(indices: Spec, updates: Spec, target: Dims, batch_dims: int = 0) -> None:
    """Refuse updates whose shape is not that of the places that the indices point to."""
    depth = require_depth(indices, None if target is None else len(target), batch_dims)
    if target is None or indices.dims is None or updates.dims is None or depth is None:
        return
    wanted = (*indices.dims[:-1], *target[batch_dims + depth :])
    if len(wanted) != len(updates.dims) or any(sizes.known_different(a, b) for a, b in zip(wanted, updates.dims, strict=True)):
        raise ShapeError(
            f"updates of shape {updates.shape} do not fit indices of shape {indices.shape} into shape {Spec(target, updates.dtype).shape}; "
            f"expected updates of shape {Spec(wanted, updates.dtype).shape}"
        )


@gradient(scatter_nd_op)
def _(ctx: Any, g: Any) -> Any:
    return None, gather_nd_op(g, ctx.inputs[0], batch_dims=ctx.batch_dims, ignore=ctx.ignore), None


@gradient(gather_nd_op)
def _(ctx: Any, g: Any) -> Any:
    params, indices = ctx.inputs
    return scatter_nd_op(indices, g, shape_of(params), batch_dims=ctx.batch_dims, ignore=ctx.ignore), None


@public("gather_nd")
def gather_nd(params: Any, indices: Any, batch_dims: Any = 0, name: str | None = None, bad_indices_policy: str = "") -> Any:
    """The slices of a tensor at given coordinates.

    Args:
        params: any shape, any dtype.
        indices: ``(..., K)``, integers; each row along the last axis is the coordinate of a slice in the first K axes of ``params``
            (after the batch axes).
        batch_dims: how many first axes of ``params`` and ``indices`` are the same batch.
        name: ignored.
        bad_indices_policy: ``"IGNORE"`` gives zeros for coordinates out of range, which are an error otherwise.

    Returns:
        ``indices.shape[:-1] + params.shape[batch_dims + K:]`` of the dtype of ``params``.

    Raises:
        IndexOutOfRangeError: a coordinate is out of range.
        ShapeError: coordinates are longer than the rank of ``params``, or the batch axes differ.
        DTypeError: the indices are no integers.

    Sources:
        TensorFlow ``tf.gather_nd``.
    """
    batch = static_integer(batch_dims, "batch_dims")
    return gather_nd_op(params, indices, batch_dims=batch, ignore=ignores(bad_indices_policy))


@public("scatter_nd")
def scatter_nd(indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None) -> Any:
    """A tensor of zeros with updates added at given coordinates.

    Args:
        indices: ``(..., K)``, integers; each row along the last axis is a coordinate in the first K axes of the result.
        updates: ``indices.shape[:-1] + shape[K:]``, any dtype; bools are joined by "or".
        shape: of the result.
        bad_indices_policy: ``"IGNORE"`` passes over coordinates out of range, which are an error otherwise.
        name: ignored.

    Returns:
        A tensor of ``shape`` and the dtype of ``updates``.

    Raises:
        IndexOutOfRangeError: a coordinate is out of range.
        ShapeError: ``updates`` have another shape.
        DTypeError: the indices are no integers.

    Sources:
        TensorFlow ``tf.scatter_nd``.
    """
    return scatter_nd_op(indices, updates, shape_argument(shape), batch_dims=0, ignore=ignores(bad_indices_policy))
