"""Values kept within bounds, and tensors scaled down to a norm."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.errors import DTypeError, ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import sum_like
from treadle_ops.called_function import subject
from treadle_ops.comparison import greater, greater_equal, less_equal
from treadle_ops.elementwise import add, divide_op, multiply, square, subtract
from treadle_ops.extremes import maximum, minimum
from treadle_ops.flow import identity
from treadle_ops.inference import REAL, broadcast, same_dtype
from treadle_ops.logic import logical_and
from treadle_ops.masking import where_op
from treadle_ops.powers import sqrt
from treadle_ops.reductions import reduce_along, reduce_sum_op
from treadle_ops.sums import add_n


@op("clip_by_value", elementwise=True)
def clip_by_value_op(t: Spec, low: Spec, high: Spec) -> Spec:
    """``maximum(minimum(t, high), low)``, of the shape of ``t``."""
    dtype = same_dtype(t, low, high, kinds=REAL)
    dims = broadcast(t, low, high)
    if t.dims is not None and dims is not None and (len(dims) != len(t.dims) or any(map(sizes.known_different, dims, t.dims))):
        raise ShapeError(f"the bounds of shapes {low.shape} and {high.shape} would enlarge the values of shape {t.shape}; they must broadcast to it")
    return Spec(t.dims, dtype)


@gradient(clip_by_value_op)
def _(ctx: Any, g: Any) -> Any:
    t, low, high = ctx.inputs
    below = less_equal(t, high)
    inside = greater_equal(minimum(t, high), low)
    return (
        where_op(logical_and(below, inside), g, 0) if ctx.needs[0] else None,
        sum_like(where_op(inside, 0, g), low) if ctx.needs[1] else None,
        sum_like(where_op(below, 0, where_op(inside, g, 0)), high) if ctx.needs[2] else None,
    )


@public("clip_by_value")
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Values kept within bounds; NaN stays, and the lower bound wins over the upper.

    The gradient is 1 within the bounds and at them, else 0.

    Args:
        t: any shape, any real dtype.
        clip_value_min: a shape that broadcasts to that of ``t``, the same dtype.
        clip_value_max: the same.
        name: ignored.

    Returns:
        The shape and dtype of ``t``.

    Raises:
        ShapeError: the bounds do not broadcast to ``t``.
        DTypeError: the dtypes differ.

    Sources:
        TensorFlow ``tf.clip_by_value``.
    """
    return clip_by_value_op(tensor(t), clip_value_min, clip_value_max)


@public("clip_by_norm")
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Values scaled down so that their Euclidean norm is at most ``clip_norm``.

    Args:
        t: any shape, floating.
        clip_norm: a scalar; a negative one is as 0.
        axes: the axes over which norms are taken; all by default.
        name: ignored.

    Returns:
        The shape and dtype of ``t``.

    Raises:
        ShapeError: ``clip_norm`` does not broadcast to ``t``.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.clip_by_norm``.
    """
    values = tensor(t)
    total = reduce_along(reduce_sum_op, square(values), axes, True)
    has_norm = greater(total, 0)
    norm = where_op(has_norm, sqrt(where_op(has_norm, total, 1)), total)
    bound = maximum(tensor(clip_norm, values), 0)
    scaled = multiply(values, bound)
    if not values.shape.is_compatible_with(scaled.shape):
        raise ShapeError(f"clip_by_norm: clip_norm of shape {tensor(clip_norm).shape} does not broadcast to the values of shape {values.shape}")
    return divide_op(scaled, maximum(norm, bound))


@public("linalg.global_norm")
def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The Euclidean norm of all elements of several tensors together.

    Args:
        t_list: a list of tensors of one floating dtype; None is passed over.
        name: ignored.

    Returns:
        A scalar of their dtype; 0.0 where there is none.

    Raises:
        TypeError: ``t_list`` is not a list.

    Sources:
        TensorFlow ``tf.linalg.global_norm``.
    """
    given = [tensor(t) for t in _listed(t_list) if t is not None]
    if not given:
        return tensor(0.0)
    return sqrt(add_n([reduce_sum_op(square(t), axis=None, keepdims=False) for t in given]))


@public("clip_by_global_norm")
def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None) -> Any:
    """Several tensors scaled down together so that their global norm is at most ``clip_norm``.

    Args:
        t_list: a list of tensors of one floating dtype; None is handed on.
        clip_norm: a scalar, above 0.
        use_norm: their global norm, where it is known already.
        name: ignored.

    Returns:
        The list of scaled tensors, all NaN where the norm is not finite, and the global norm.

    Raises:
        TypeError: ``t_list`` is not a list.

    Sources:
        TensorFlow ``tf.clip_by_global_norm``.
    """
    given = _listed(t_list)
    norm = global_norm(given) if use_norm is None else tensor(use_norm)
    limit = tensor(clip_norm, norm)
    scale = multiply(limit, minimum(divide_op(1, norm), divide_op(1, limit)))
    scale = add(scale, subtract(norm, norm))  # 0, or NaN where the norm is not finite
    return [None if t is None else identity(multiply(tensor(t), scale)) for t in given], norm


def _listed(t_list: Any) -> list[Any]:
    if not isinstance(t_list, list | tuple):
        raise DTypeError(f"{subject()}t_list must be a list of tensors, not {type(t_list).__name__}")
    return list(t_list)
