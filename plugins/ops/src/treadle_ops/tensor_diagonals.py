"""The trace of matrices, and diagonals of tensors whose index has two equal halves."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.declare import public
from treadle.errors import ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.diagonals import main_diagonal
from treadle_ops.einsum import einsum_op
from treadle_ops.reductions import reduce_sum_op


@public("linalg.trace")
def trace(x: Any, name: str | None = None) -> Any:
    """The sum of the main diagonal of matrices.

    Args:
        x: ``(..., M, N)``, any numeric dtype.
        name: ignored.

    Returns:
        ``(...)`` of the dtype of ``x``.

    Raises:
        ShapeError: the rank is below 2.

    Sources:
        TensorFlow ``tf.linalg.trace``.
    """
    return reduce_sum_op(main_diagonal(tensor(x)), axis=(-1,), keepdims=False)


@public("linalg.tensor_diag")
def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """A tensor of twice the axes, zero but where both halves of the index are equal.

    Args:
        diagonal: ``S`` of rank 1 or more, any dtype.
        name: ignored.

    Returns:
        ``S + S`` of the dtype of ``diagonal``.

    Raises:
        ShapeError: ``diagonal`` is a scalar.

    Sources:
        TensorFlow ``tf.linalg.tensor_diag``.
    """
    x = tensor(diagonal)
    labels = _labels(x, "tensor_diag")
    if not labels:
        raise ShapeError("tensor_diag: Input must be at least rank 1, got 0")
    return einsum_op([x], terms=(labels,), result=labels + labels)


def _labels(x: Any, name: str) -> tuple[str, ...]:
    if x.dims is None:
        raise ShapeError(f"{name}: the rank of the input is not known while tracing; give it a shape with set_shape or ensure_shape")
    return tuple(f"d{i}" for i in range(len(x.dims)))


@public("linalg.tensor_diag_part")
def tensor_diag_part(input: Any, name: str | None = None) -> Any:
    """What ``tensor_diag`` put in: the elements at which both halves of the index are equal.

    Args:
        input: ``S + S``, any dtype.
        name: ignored.

    Returns:
        ``S`` of the dtype of ``input``.

    Raises:
        ShapeError: the first half of the axes differs from the second.

    Sources:
        TensorFlow ``tf.linalg.tensor_diag_part``.
    """
    x = tensor(input)
    labels = _labels(x, "tensor_diag_part")
    half = len(labels) // 2
    if len(labels) % 2 or any(sizes.known_different(a, b) for a, b in zip(x.dims[:half], x.dims[half:], strict=True)):
        raise ShapeError(f"tensor_diag_part: the two halves of shape {x.shape} must be equal")
    return einsum_op([x], terms=(labels[:half] * 2,), result=labels[:half])
