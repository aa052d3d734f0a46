"""Values put into, or combined with, places of a tensor that are given by coordinates.

Coordinates lie along the last axis of the indices, as for ``gather_nd``, whose gradient is here too. Where one repeats, updates are added, or
the last one stands.
"""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Dims, Spec
from treadle.declare import HostSpec, IndexSpec, gradient, op, public
from treadle.errors import ShapeError
from treadle_ops.arguments import shape_argument
from treadle_ops.broadcasting import shape_of
from treadle_ops.casting import cast_op
from treadle_ops.comparison import equal
from treadle_ops.creation import zeros_like
from treadle_ops.elementwise import divide_op, negative
from treadle_ops.gathering import gather_nd_op, ignores, require_depth
from treadle_ops.inference import ANY, NUMERIC, REAL, dims_of_value, require_kind, same_dtype


def _require_updates(indices: Spec, updates: Spec, target: Dims, batch_dims: int = 0) -> None:
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


# ---------------------------------------------------------------------- scatter_nd


@op("scatter_nd", can_fail=True)
def scatter_nd_op(indices: IndexSpec, updates: Spec, shape: HostSpec, *, batch_dims: int, ignore: bool) -> Spec:
    """Zeros of a shape, with updates added at coordinates; the first ``batch_dims`` axes of all three belong together."""
    dims = dims_of_value(shape)
    _require_updates(indices, updates, dims, batch_dims)
    return Spec(dims, updates.dtype)


@gradient(scatter_nd_op)
def _(ctx: Any, g: Any) -> Any:
    return None, gather_nd_op(g, ctx.inputs[0], batch_dims=ctx.batch_dims, ignore=ctx.ignore), None


@gradient(gather_nd_op)
def _(ctx: Any, g: Any) -> Any:
    params, indices = ctx.inputs
    return scatter_nd_op(indices, g, shape_of(params), batch_dims=ctx.batch_dims, ignore=ctx.ignore), None


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


# ---------------------------------------------------------------------- tensor_scatter_nd


def _scattered(tensor: Spec, indices: Spec, updates: Spec, kinds: str) -> Spec:
    dtype = same_dtype(tensor, updates)
    require_kind(tensor, kinds, "tensor")
    _require_updates(indices, updates, tensor.dims)
    return Spec(tensor.dims, dtype)


@op("tensor_scatter_nd_update", can_fail=True)
def tensor_scatter_nd_update_op(tensor: Spec, indices: IndexSpec, updates: Spec) -> Spec:
    """``tensor`` with updates in the places at coordinates."""
    return _scattered(tensor, indices, updates, ANY)


@op("tensor_scatter_nd_add", can_fail=True)
def tensor_scatter_nd_add_op(tensor: Spec, indices: IndexSpec, updates: Spec, *, ignore: bool) -> Spec:
    """``tensor`` with updates added to the places at coordinates."""
    return _scattered(tensor, indices, updates, NUMERIC)


@op("tensor_scatter_nd_sub", can_fail=True)
def tensor_scatter_nd_sub_op(tensor: Spec, indices: IndexSpec, updates: Spec, *, ignore: bool) -> Spec:
    """``tensor`` with updates subtracted from the places at coordinates."""
    return _scattered(tensor, indices, updates, NUMERIC)


@op("tensor_scatter_nd_max", can_fail=True)
def tensor_scatter_nd_max_op(tensor: Spec, indices: IndexSpec, updates: Spec, *, ignore: bool) -> Spec:
    """The greatest of ``tensor`` and the updates at the coordinates of each place."""
    return _scattered(tensor, indices, updates, REAL)


@op("tensor_scatter_nd_min", can_fail=True)
def tensor_scatter_nd_min_op(tensor: Spec, indices: IndexSpec, updates: Spec, *, ignore: bool) -> Spec:
    """The least of ``tensor`` and the updates at the coordinates of each place."""
    return _scattered(tensor, indices, updates, REAL)


def _at(x: Any, ctx: Any) -> Any:
    return gather_nd_op(x, ctx.inputs[1], batch_dims=0, ignore=ctx.attrs.get("ignore", False))


@gradient(tensor_scatter_nd_update_op)
def _(ctx: Any, g: Any) -> Any:
    _, indices, updates = ctx.inputs
    return tensor_scatter_nd_update_op(g, indices, zeros_like(updates)) if ctx.needs[0] else None, None, _at(g, ctx) if ctx.needs[2] else None


@gradient(tensor_scatter_nd_add_op)
def _(ctx: Any, g: Any) -> Any:
    return g, None, _at(g, ctx) if ctx.needs[2] else None


@gradient(tensor_scatter_nd_sub_op)
def _(ctx: Any, g: Any) -> Any:
    return g, None, negative(_at(g, ctx)) if ctx.needs[2] else None


@gradient(tensor_scatter_nd_max_op, tensor_scatter_nd_min_op)
def _(ctx: Any, g: Any) -> Any:
    """All that equal the result share its cotangent equally."""
    x, indices, updates = ctx.inputs
    kept = cast_op(equal(x, ctx.output), dtype=g.dtype)
    won = cast_op(equal(updates, _at(ctx.output, ctx)), dtype=g.dtype)
    share = divide_op(g, tensor_scatter_nd_add_op(kept, indices, won, ignore=ctx.ignore))
    return share * kept, None, _at(share, ctx) * won


@public("tensor_scatter_nd_update")
def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """A tensor with updates put in the places at given coordinates; where one repeats, the last update stands.

    Args:
        tensor: any shape of rank 1 or more, any dtype.
        indices: ``(..., K)``, integers; each row along the last axis is a coordinate in the first K axes of ``tensor``.
        updates: ``indices.shape[:-1] + tensor.shape[K:]``, of the dtype of ``tensor``.
        name: ignored.

    Returns:
        The shape and dtype of ``tensor``.

    Raises:
        IndexOutOfRangeError: a coordinate is out of range.
        ShapeError: ``updates`` have another shape.
        DTypeError: the dtypes differ, or the indices are no integers.

    Sources:
        TensorFlow ``tf.tensor_scatter_nd_update``.
    """
    return tensor_scatter_nd_update_op(tensor, indices, updates)


@public("tensor_scatter_nd_add")
def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None) -> Any:
    """A tensor with updates added to the places at given coordinates; where one repeats, all are added.

    Args:
        tensor: any shape of rank 1 or more, any numeric dtype.
        indices: ``(..., K)``, integers; each row along the last axis is a coordinate in the first K axes of ``tensor``.
        updates: ``indices.shape[:-1] + tensor.shape[K:]``, of the dtype of ``tensor``.
        bad_indices_policy: ``"IGNORE"`` passes over coordinates out of range, which are an error otherwise.
        name: ignored.

    Returns:
        The shape and dtype of ``tensor``.

    Raises:
        IndexOutOfRangeError: a coordinate is out of range.
        ShapeError: ``updates`` have another shape.
        DTypeError: the dtypes differ, or the indices are no integers.

    Sources:
        TensorFlow ``tf.tensor_scatter_nd_add``.
    """
    return tensor_scatter_nd_add_op(tensor, indices, updates, ignore=ignores(bad_indices_policy))


@public("tensor_scatter_nd_sub")
def tensor_scatter_nd_sub(tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None) -> Any:
    """A tensor with updates subtracted from the places at given coordinates; where one repeats, all are subtracted.

    Args:
        tensor: any shape of rank 1 or more, any numeric dtype.
        indices: ``(..., K)``, integers; each row along the last axis is a coordinate in the first K axes of ``tensor``.
        updates: ``indices.shape[:-1] + tensor.shape[K:]``, of the dtype of ``tensor``.
        bad_indices_policy: ``"IGNORE"`` passes over coordinates out of range, which are an error otherwise.
        name: ignored.

    Returns:
        The shape and dtype of ``tensor``.

    Raises:
        IndexOutOfRangeError: a coordinate is out of range.
        ShapeError: ``updates`` have another shape.
        DTypeError: the dtypes differ, or the indices are no integers.

    Sources:
        TensorFlow ``tf.tensor_scatter_nd_sub``.
    """
    return tensor_scatter_nd_sub_op(tensor, indices, updates, ignore=ignores(bad_indices_policy))


@public("tensor_scatter_nd_max")
def tensor_scatter_nd_max(tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None) -> Any:
    """The greatest of a tensor's element and all updates at its coordinate, for each place.

    Args:
        tensor: any shape of rank 1 or more, any real dtype.
        indices: ``(..., K)``, integers; each row along the last axis is a coordinate in the first K axes of ``tensor``.
        updates: ``indices.shape[:-1] + tensor.shape[K:]``, of the dtype of ``tensor``.
        bad_indices_policy: ``"IGNORE"`` passes over coordinates out of range, which are an error otherwise.
        name: ignored.

    Returns:
        The shape and dtype of ``tensor``; NaN where one of them is NaN.

    Raises:
        IndexOutOfRangeError: a coordinate is out of range.
        ShapeError: ``updates`` have another shape.
        DTypeError: the dtypes differ, or the indices are no integers.

    Sources:
        TensorFlow ``tf.tensor_scatter_nd_max``.
    """
    return tensor_scatter_nd_max_op(tensor, indices, updates, ignore=ignores(bad_indices_policy))


@public("tensor_scatter_nd_min")
def tensor_scatter_nd_min(tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None) -> Any:
    """The least of a tensor's element and all updates at its coordinate, for each place.

    Args:
        tensor: any shape of rank 1 or more, any real dtype.
        indices: ``(..., K)``, integers; each row along the last axis is a coordinate in the first K axes of ``tensor``.
        updates: ``indices.shape[:-1] + tensor.shape[K:]``, of the dtype of ``tensor``.
        bad_indices_policy: ``"IGNORE"`` passes over coordinates out of range, which are an error otherwise.
        name: ignored.

    Returns:
        The shape and dtype of ``tensor``; NaN where one of them is NaN.

    Raises:
        IndexOutOfRangeError: a coordinate is out of range.
        ShapeError: ``updates`` have another shape.
        DTypeError: the dtypes differ, or the indices are no integers.

    Sources:
        TensorFlow ``tf.tensor_scatter_nd_min``.
    """
    return tensor_scatter_nd_min_op(tensor, indices, updates, ignore=ignores(bad_indices_policy))
