"""Softmax cross-entropy on logits, with labels as probabilities and as indices.

The ops give the gradient along with the loss, since both need the same exponentials. What they give is a constant to autodiff: the gradients of the
gradients go to the logits by ops of their own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import IndexSpec, gradient, op, public
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import axis_argument, tensor
from treadle_ops.broadcasting import sum_like
from treadle_ops.called_function import checked
from treadle_ops.casting import cast_op
from treadle_ops.elementwise import multiply, negative
from treadle_ops.inference import FLOATING, INTEGER, normalize_axis, require_kind, same_dtype
from treadle_ops.reductions import reduce_sum_op
from treadle_ops.run_time_order import axis_to_back
from treadle_ops.shaping import expand_dims_op, transpose_op
from treadle_ops.softmax import log_softmax_op, softmax_grad, softmax_op


class CrossEntropy(NamedTuple):
    """A loss per row, and its gradient with respect to the logits."""

    loss: Any
    backprop: Any


# ---------------------------------------------------------------------- labels as indices


@op("sparse_softmax_cross_entropy", can_fail=True)
def sparse_softmax_cross_entropy_op(labels: IndexSpec, logits: Spec) -> CrossEntropy:
    """``-log(softmax(logits)[label])`` per row, computed together with its gradient."""
    require_kind(labels, INTEGER, "labels")
    dtype = require_kind(logits, FLOATING, "logits")
    if logits.dims is None:
        dims = None if labels.dims is None else (*labels.dims, sizes.Dim.symbol())
        return CrossEntropy(Spec(labels.dims, dtype), Spec(dims, dtype))
    if not logits.dims:
        raise ShapeError("logits cannot be a scalar; they need a last axis of classes")
    *outer, classes = logits.dims
    if labels.dims is not None:
        if len(labels.dims) != len(outer):
            raise ShapeError(f"labels of shape {labels.shape} do not fit logits of shape {logits.shape}; expected that without the last axis")
        outer = [sizes.unify(a, b, "labels and logits") for a, b in zip(labels.dims, outer, strict=True)]
    return CrossEntropy(Spec(tuple(outer), dtype), Spec((*outer, classes), dtype))


@op("sparse_softmax_cross_entropy_grad")
def sparse_softmax_cross_entropy_grad(g: Spec, backprop: Spec, logits: Spec) -> Spec:
    """The cotangent of the loss times the gradient, which is a function of the logits."""
    return Spec(backprop.dims, same_dtype(g, backprop, logits, kinds=FLOATING))


@gradient(sparse_softmax_cross_entropy_op)
def _(ctx: Any, g: Any, unused: Any) -> Any:
    return None, sparse_softmax_cross_entropy_grad(g, ctx.outputs[1], ctx.inputs[1])


@gradient(sparse_softmax_cross_entropy_grad)
def _(ctx: Any, h: Any) -> Any:
    g, backprop, logits = ctx.inputs
    return _along_g(ctx, h, backprop), None, _along_logits(h, g, logits) if ctx.needs[2] else None


def _along_g(ctx: Any, h: Any, backprop: Any) -> Any:
    return reduce_sum_op(multiply(h, backprop), axis=(-1,), keepdims=False) if ctx.needs[0] else None


def _along_logits(h: Any, g: Any, logits: Any) -> Any:
    return softmax_grad(multiply(h, expand_dims_op(g, axis=-1)), softmax_op(logits, axis=-1), axis=-1)


@public("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Any:
    """The cross-entropy of logits against the index of the right class.

    Args:
        labels: ``(...)``, integers in ``[0, classes)``.
        logits: ``(..., classes)``, floating.
        name: ignored.

    Returns:
        ``(...)`` of the dtype of ``logits``.

    Raises:
        ShapeError: the shape of ``labels`` is not that of ``logits`` without the last axis.
        InvalidArgumentError: a label is out of range.
        DTypeError: the labels are not integers, or the logits not floating.

    Sources:
        TensorFlow ``tf.nn.sparse_softmax_cross_entropy_with_logits``.
    """
    return sparse_softmax_cross_entropy_op(labels, logits)[0]


# ---------------------------------------------------------------------- labels as probabilities


@op("softmax_cross_entropy")
def softmax_cross_entropy_op(labels: Spec, logits: Spec) -> CrossEntropy:
    """``-sum(labels * log(softmax(logits)))`` per row, computed together with its gradient for labels that sum to 1."""
    dtype = same_dtype(labels, logits, kinds=FLOATING)
    if logits.dims is None:
        return CrossEntropy(Spec(None, dtype), Spec(None, dtype))
    if not logits.dims:
        raise ShapeError("logits cannot be a scalar; they need an axis of classes")
    dims = logits.dims
    if labels.dims is not None:
        merged = sizes.broadcast(labels.dims, dims) or ()
        if len(merged) != len(dims) or any(sizes.known_different(a, b) for a, b in zip(merged, dims, strict=True)):
            raise ShapeError(f"labels of shape {labels.shape} do not fit logits of shape {logits.shape}; expected the same shape")
        dims = tuple(sizes.unify(a, b, "labels and logits") for a, b in zip(dims, merged, strict=True))
    return CrossEntropy(Spec(dims[:-1], dtype), Spec(dims, dtype))


@op("softmax_cross_entropy_grad")
def softmax_cross_entropy_grad(g: Spec, backprop: Spec, labels: Spec, logits: Spec) -> Spec:
    """The cotangent of the loss times the gradient, which is a function of the labels and logits."""
    return Spec(backprop.dims, same_dtype(g, backprop, labels, logits, kinds=FLOATING))


@gradient(softmax_cross_entropy_op)
def _(ctx: Any, g: Any, unused: Any) -> Any:
    labels, logits = ctx.inputs
    along_labels = None
    if ctx.needs[0]:
        along_labels = sum_like(negative(multiply(expand_dims_op(g, axis=-1), log_softmax_op(logits, axis=-1))), labels)
    return along_labels, softmax_cross_entropy_grad(g, ctx.outputs[1], labels, logits) if ctx.needs[1] else None


@gradient(softmax_cross_entropy_grad)
def _(ctx: Any, h: Any) -> Any:
    g, backprop, labels, logits = ctx.inputs
    return (
        _along_g(ctx, h, backprop),
        None,
        sum_like(negative(multiply(h, expand_dims_op(g, axis=-1))), labels) if ctx.needs[2] else None,
        _along_logits(h, g, logits) if ctx.needs[3] else None,
    )


@public("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: Any = -1, name: str | None = None) -> Any:
    """The cross-entropy of logits against the probabilities of the classes.

    As in TensorFlow, the gradient with respect to the logits takes the labels to sum to 1; one flows to the labels too.

    Args:
        labels: the shape of ``logits``, or one that broadcasts to it; numbers, which are cast to the dtype of ``logits``.
        logits: any shape of rank 1 or more, floating.
        axis: that of the classes.
        name: ignored.

    Returns:
        The shape of ``logits`` without the axis of the classes, its dtype.

    Raises:
        ShapeError: the shapes do not fit.
        InvalidArgumentError: the axis is out of range.
        ValueError: ``labels`` or ``logits`` is None.

    Sources:
        TensorFlow ``tf.nn.softmax_cross_entropy_with_logits``.
    """
    if labels is None or logits is None:
        raise InvalidArgumentError("softmax_cross_entropy_with_logits: both labels and logits must be given")
    x = tensor(logits)
    weights = tensor(labels, x)
    if weights.dtype is not x.dtype:
        weights = cast_op(weights, dtype=x.dtype)
    at = axis_argument(axis)
    if at != -1:
        weights, x = _classes_last(weights, at), _classes_last(x, at)
    return softmax_cross_entropy_op(weights, x)[0]


def _classes_last(x: Any, axis: int) -> Any:
    if x.dims is None:
        return axis_to_back(x, axis)
    rank = len(x.dims)
    at = checked(normalize_axis, axis, rank)
    return x if at == rank - 1 else transpose_op(x, perm=(*[i for i in range(rank) if i != at], at))
