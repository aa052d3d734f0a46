"""The trace of matrices, and diagonals of tensors whose index has two equal halves."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.declare import public
from treadle.dtypes import int32
from treadle.errors import ShapeError
from treadle_ops.arguments import tensor
from treadle_ops.assertions import assert_equal, assert_positive
from treadle_ops.broadcasting import shape_op
from treadle_ops.diagonals import diagonal_matrix, main_diagonal
from treadle_ops.einsum import einsum_op
from treadle_ops.joining import concat_op
from treadle_ops.reductions import reduce_prod_op, reduce_sum_op
from treadle_ops.shaping import reshape_op
from treadle_ops.sizes import rank_op


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
    if x.dims is None:
        assert_positive(rank_op(x), message="tensor_diag: Input must be at least rank 1, got 0")
        return reshape_op(diagonal_matrix(reshape_op(x, (-1,))), concat_op([shape_op(x, out_type=int32)] * 2, axis=0))
    labels = _labels(x)
    if not labels:
        raise ShapeError("tensor_diag: Input must be at least rank 1, got 0")
    return einsum_op([x], terms=(labels,), result=labels + labels)


def _labels(x: Any) -> tuple[str, ...]:
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
    if x.dims is None:
        return _of_unknown_rank(x)
    labels = _labels(x)
    half = len(labels) // 2
    if len(labels) % 2 or any(sizes.known_different(a, b) for a, b in zip(x.dims[:half], x.dims[half:], strict=True)):
        raise ShapeError(f"tensor_diag_part: the two halves of shape {x.shape} must be equal")
    return einsum_op([x], terms=(labels[:half] * 2,), result=labels[:half])


def _of_unknown_rank(x: Any) -> Any:
    shape = shape_op(x, out_type=int32)
    middle = rank_op(x) // 2
    first, second = shape[:middle], shape[middle:]
    assert_equal(first, second, message="tensor_diag_part: the two halves of the shape must be equal")
    size = reduce_prod_op(first, axis=None, keepdims=False)
    return reshape_op(main_diagonal(reshape_op(x, [size, size])), first)
