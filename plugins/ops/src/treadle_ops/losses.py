"""Losses on logits, and their gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import IndexSpec, gradient, op, public
from treadle.errors import ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.elementwise import multiply
from treadle_ops.inference import FLOATING, INTEGER, require_kind
from treadle_ops.shaping import expand_dims_op


class CrossEntropy(NamedTuple):
    """A loss per row, and its gradient with respect to the logits."""

    loss: Any
    backprop: Any


@op("sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy_op(labels: IndexSpec, logits: Spec) -> CrossEntropy:
    """``-log(softmax(logits)[label])`` per row, computed together with its gradient."""
    require_kind(labels, INTEGER, "labels")
    dtype = require_kind(logits, FLOATING, "logits")
    if logits.dims is None:
        return CrossEntropy(Spec(labels.dims, dtype), Spec(None, dtype))
    if not logits.dims:
        raise ShapeError("logits cannot be a scalar; they need a last axis of classes")
    if labels.dims is not None and len(labels.dims) != len(logits.dims) - 1:
        raise ShapeError(f"labels of shape {labels.shape} do not fit logits of shape {logits.shape}; expected the shape of the logits without the last axis")
    dims = tuple(sizes.unify(a, b, "labels and logits") for a, b in zip(labels.dims or logits.dims[:-1], logits.dims[:-1], strict=True))
    return CrossEntropy(Spec(dims, dtype), Spec(logits.dims, dtype))


@gradient(sparse_softmax_cross_entropy_op)
def _(ctx: Any, g: Any, g_backprop: Any) -> Any:
    return None, multiply(expand_dims_op(g, axis=-1), ctx.outputs[1])


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
    """
    return sparse_softmax_cross_entropy_op(tensor(labels), tensor(logits)).loss


