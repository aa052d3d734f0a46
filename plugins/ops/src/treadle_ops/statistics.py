"""Variances, norms and log-sum-exps over axes."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle_ops.casting import cast_op
from treadle_ops.elementwise import divide_op, multiply, negative, subtract
from treadle_ops.inference import FLOATING, FLOATING_OR_COMPLEX, NUMERIC, same_dtype
from treadle_ops.powers import sqrt
from treadle_ops.reductions import divided_by_count, kept, reduce_along, reduce_mean_op, reduce_sum_op, reduction

# ---------------------------------------------------------------------- deviations

reduce_variance_op, reduce_variance = reduction(
    "reduce_variance",
    FLOATING_OR_COMPLEX,
    "The mean of the squared distance from the mean, real for complex numbers too; NaN over nothing.",
    dtype=lambda own: own.real_dtype,
    paths=("math.reduce_variance",),
)


@gradient(reduce_variance_op)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    deviation = subtract(x, reduce_mean_op(x, axis=ctx.axis, keepdims=True))
    share = divided_by_count(multiply(g, 2), x, ctx.axis)
    if x.dtype.is_complex:
        share = cast_op(share, dtype=x.dtype)
    return multiply(kept(share, x, ctx.axis, ctx.keepdims), deviation)


@public("math.reduce_std")
def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of the variance, real for complex numbers too; NaN over nothing. Its gradient at 0 is NaN, as in TensorFlow.

    Args:
        input_tensor: any shape, floating or complex.
        axis: an int, a list of ints, or a tensor of them; all axes by default.
        keepdims: keep the axes reduced, with size 1.
        name: ignored.

    Returns:
        The shape without the axes reduced, the real dtype of ``input_tensor``.

    Raises:
        InvalidArgumentError: an axis is out of range or named twice.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.reduce_std``.
    """
    return sqrt(reduce_along(reduce_variance_op, input_tensor, axis, keepdims))


# ---------------------------------------------------------------------- norms

reduce_euclidean_norm_op, reduce_euclidean_norm = reduction(
    "reduce_euclidean_norm",
    NUMERIC,
    "The square root of the sum of squared moduli, cut to an integer for integers; 0 over nothing. Its gradient at 0 is NaN, as in TensorFlow.",
    paths=("math.reduce_euclidean_norm",),
)


@gradient(reduce_euclidean_norm_op)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return multiply(x, kept(divide_op(g, ctx.output), x, ctx.axis, ctx.keepdims))


# ---------------------------------------------------------------------- log-sum-exps

reduce_logsumexp_op, reduce_logsumexp = reduction(
    "reduce_logsumexp", FLOATING, "``log(sum(exp(x)))`` over axes, without overflow; -inf over nothing."
)


@op("exp_of_difference")
def exp_of_difference(x: Spec, y: Spec, *, axis: tuple[int, ...] | None, keepdims: bool) -> Spec:
    """``exp(x - y)`` for a reduction's result ``y``, and 0 where ``x`` is -inf, whatever ``y`` is."""
    return Spec(x.dims, same_dtype(x, y, kinds=FLOATING))


@gradient(reduce_logsumexp_op)
def _(ctx: Any, g: Any) -> Any:
    (x,) = ctx.inputs
    return multiply(kept(g, x, ctx.axis, ctx.keepdims), exp_of_difference(x, ctx.output, axis=ctx.axis, keepdims=ctx.keepdims))


@gradient(exp_of_difference)
def _(ctx: Any, g: Any) -> Any:
    dx = multiply(g, ctx.output)
    return dx, negative(reduce_sum_op(dx, axis=ctx.axis, keepdims=ctx.keepdims))
