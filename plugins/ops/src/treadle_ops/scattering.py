"""A tensor with updates combined with its places at given coordinates.

Coordinates lie along the last axis of the indices, as for ``gather_nd``. Where one repeats, updates are combined one after the other.
"""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import IndexSpec, gradient, op, public
from treadle_ops.casting import cast_op
from treadle_ops.comparison import equal
from treadle_ops.coordinates import gather_nd_op, ignores, require_updates
from treadle_ops.creation import zeros_like
from treadle_ops.elementwise import divide_op, negative
from treadle_ops.inference import ANY, NUMERIC, REAL, require_kind, same_dtype


def _scattered(tensor: Spec, indices: Spec, updates: Spec, kinds: str) -> Spec:
    dtype = same_dtype(tensor, updates)
    require_kind(tensor, kinds, "tensor")
    require_updates(indices, updates, tensor.dims)
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
