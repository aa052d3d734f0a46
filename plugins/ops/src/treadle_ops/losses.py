"""Losses that are not softmax cross-entropy: logistic, Poisson, sums of squares, and averages of losses over a batch."""

from __future__ import annotations

import math
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import float32
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.assertions import assert_non_negative
from treadle_ops.broadcasting import shape_of
from treadle_ops.called_function import subject
from treadle_ops.casting import cast
from treadle_ops.comparison import greater_equal, less_equal
from treadle_ops.division import divide_integers
from treadle_ops.elementwise import add, exp, log, multiply, negative, subtract
from treadle_ops.inference import FLOATING, common_dims, require_kind, same_dtype
from treadle_ops.logic import logical_and
from treadle_ops.masking import where_op
from treadle_ops.reductions import reduce_sum_op
from treadle_ops.shape_assertions import assert_scalar
from treadle_ops.shaping import expand_dims_op, squeeze_op
from treadle_ops.sigmoids import sigmoid, sigmoid_grad, softplus
from treadle_ops.zero_safe import divide_no_nan

# ---------------------------------------------------------------------- logistic


@op("sigmoid_cross_entropy", elementwise=True)
def sigmoid_cross_entropy_op(labels: Spec, logits: Spec) -> Spec:
    """``max(x, 0) - x * label + log(1 + exp(-|x|))``."""
    return Spec(common_dims((labels, logits), "labels and logits"), same_dtype(labels, logits, kinds=FLOATING))


@op("sigmoid_cross_entropy_grad", elementwise=True)
def sigmoid_cross_entropy_grad(g: Spec, labels: Spec, logits: Spec) -> Spec:
    """``g * (sigmoid(x) - label)``."""
    return Spec(common_dims((g, labels, logits), "g, labels and logits"), same_dtype(g, labels, logits, kinds=FLOATING))


@gradient(sigmoid_cross_entropy_op)
def _(ctx: Any, g: Any) -> Any:
    labels, logits = ctx.inputs
    return (
        negative(multiply(g, logits)) if ctx.needs[0] else None,
        sigmoid_cross_entropy_grad(g, labels, logits) if ctx.needs[1] else None,
    )


@gradient(sigmoid_cross_entropy_grad)
def _(ctx: Any, h: Any) -> Any:
    g, labels, logits = ctx.inputs
    return (
        sigmoid_cross_entropy_grad(h, labels, logits) if ctx.needs[0] else None,
        negative(multiply(g, h)) if ctx.needs[1] else None,
        sigmoid_grad(sigmoid(logits), multiply(g, h)) if ctx.needs[2] else None,
    )


@public("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Any:
    """The cross-entropy of independent yes-or-no logits against the probabilities of yes, element by element.

    Args:
        labels: the shape and dtype of ``logits``.
        logits: any shape, floating.
        name: ignored.

    Returns:
        The shape and dtype of ``logits``.

    Raises:
        ValueError: one of the two is not given.
        ShapeError: the shapes differ.
        DTypeError: the dtypes differ, or are not floating.

    Sources:
        TensorFlow ``tf.nn.sigmoid_cross_entropy_with_logits``.
    """
    if labels is None or logits is None:
        raise InvalidArgumentError("sigmoid_cross_entropy_with_logits: both labels and logits must be given")
    return sigmoid_cross_entropy_op(labels, logits)


@public("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(labels: Any, logits: Any, pos_weight: Any, name: str | None = None) -> Any:
    """The logistic loss with another weight for the positive labels.

    Args:
        labels: the shape and dtype of ``logits``.
        logits: any shape, floating.
        pos_weight: what the positive side is multiplied by; a shape that broadcasts with that of ``logits``.
        name: ignored.

    Returns:
        The shape and dtype of ``logits``.

    Raises:
        ShapeError: the shapes of labels and logits differ.
        DTypeError: the dtypes differ, or are not floating.

    Sources:
        TensorFlow ``tf.nn.weighted_cross_entropy_with_logits``.
    """
    x = tensor(logits)
    z = tensor(labels, x)
    _require_same_shape(z, "labels", x, "logits")
    # (1 - z) * x + (1 + (w - 1) * z) * log(1 + exp(-x))
    weight = add(multiply(z, subtract(tensor(pos_weight, z), 1)), 1)
    return add(multiply(subtract(1, z), x), multiply(weight, softplus(negative(x))))


def _require_same_shape(x: Any, what: str, y: Any, other: str) -> None:
    if x.dims == y.dims or x.dims is None or y.dims is None:
        return
    if len(x.dims) != len(y.dims) or any(sizes.known_different(a, b) for a, b in zip(x.dims, y.dims, strict=True)):
        raise ShapeError(f"{subject()}{what} have the shape {x.shape}, {other} {y.shape}; they must be equal")


# ---------------------------------------------------------------------- Poisson


@public("nn.log_poisson_loss")
def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None) -> Any:
    """The negative log-likelihood of counts, given the logarithm of their expectation.

    Args:
        targets: the shape and dtype of ``log_input``.
        log_input: any shape, floating.
        compute_full_loss: add Stirling's approximation of ``log(targets!)`` where targets exceed 1; else it is left out, as it does not depend on
            ``log_input``.
        name: ignored.

    Returns:
        The shape and dtype of ``log_input``.

    Raises:
        ShapeError: the shapes differ.
        DTypeError: the dtypes differ, or are not floating.

    Sources:
        TensorFlow ``tf.nn.log_poisson_loss``.
    """
    x = tensor(log_input)
    counts = tensor(targets, x)
    _require_same_shape(counts, "targets", x, "log_input")
    loss = subtract(exp(x), multiply(x, counts))
    if not compute_full_loss:
        return loss
    is_small = logical_and(greater_equal(counts, 0), less_equal(counts, 1))
    n = where_op(is_small, 1, counts)  # so that no infinite slope of the logarithm is multiplied by 0
    stirling = add(subtract(multiply(n, log(n)), n), multiply(log(multiply(n, 2 * math.pi)), 0.5))
    return add(loss, where_op(is_small, 0, stirling))


# ---------------------------------------------------------------------- sums and averages


@op("l2_loss", public=("nn.l2_loss",))
def l2_loss(t: Spec) -> Spec:
    """Half the sum of the squares of all elements.

    Args:
        t: any shape, floating.
        name: ignored.

    Returns:
        A scalar of the dtype of ``t``.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.nn.l2_loss``.
    """
    return Spec((), require_kind(t, FLOATING, "t"))


@gradient(l2_loss)
def _(ctx: Any, g: Any) -> Any:
    return multiply(ctx.inputs[0], g)


@public("nn.compute_average_loss")
def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Any:
    """The sum of losses, one per example, over the number of examples.

    Args:
        per_example_loss: ``(batch, ...)``, any numeric dtype.
        sample_weight: what each loss is multiplied by, in float32: a scalar, the shape of the losses, or one with one axis more or fewer.
        global_batch_size: an integer scalar, 0 or more; by default the size of the first axis.

    Returns:
        A scalar of the dtype of the losses; for integers of 8 and 16 bits float32, for wider ones float64. 0 for a batch of 0.

    Raises:
        ShapeError: the losses are a scalar, or the batch size is not one.
        TypeError: the batch size is not an integer.
        InvalidArgumentError: it is negative.

    Sources:
        TensorFlow ``tf.nn.compute_average_loss``.
    """
    losses = tensor(per_example_loss)
    if losses.dims == ():
        raise ShapeError("compute_average_loss: the losses are a scalar; expected one per example, a tensor of rank 1 or more")
    dtype = losses.dtype
    if sample_weight is not None:
        losses = cast(_weighted(cast(losses, float32), cast(sample_weight, float32)), dtype)
    if global_batch_size is None:
        shape = shape_of(losses)
        count = tensor(shape[0])
    else:
        count = tensor(global_batch_size)
        assert_scalar(count, message="global_batch_size must be scalar")
        if not count.dtype.is_integer:
            raise DTypeError(f"compute_average_loss: global_batch_size has dtype {count.dtype.name}; it must be an integer")
        assert_non_negative(count, message="global_batch_size must not be negative")
    total = _total(losses)
    return divide_no_nan(total, cast(count, total.dtype))


def _total(losses: Any) -> Any:
    """The sum of all elements; that of integers in the floating dtype of their quotients."""
    total = reduce_sum_op(losses, axis=None, keepdims=False)
    return divide_integers(total, 1) if total.dtype.is_integer else total


def _weighted(losses: Any, weights: Any) -> Any:
    """Losses times weights; where the ranks differ by one the last axis of the weights goes, or a new one comes."""
    if losses.dims is not None and weights.dims:
        more = len(weights.dims) - len(losses.dims)
        if more == 1:
            weights = squeeze_op(weights, axis=(-1,))
        elif more == -1:
            weights = expand_dims_op(weights, axis=-1)
    return multiply(losses, weights)


@public("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss: Any) -> Any:
    """The sum of regularization losses over the number of replicas that add them up, of which there is one.

    Args:
        regularization_loss: any shape, any numeric dtype.

    Returns:
        A scalar of its dtype; for integers of 8 and 16 bits float32, for wider ones float64.

    Sources:
        TensorFlow ``tf.nn.scale_regularization_loss``.
    """
    return _total(tensor(regularization_loss))
