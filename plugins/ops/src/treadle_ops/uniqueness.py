"""The distinct elements of a vector, in the order in which they first appear. There is no gradient."""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle.contracts.spec import Spec
from treadle.declare import op, public
from treadle.dims import Dim
from treadle.dtypes import DType, int32
from treadle.errors import DTypeError
from treadle_ops.arguments import dtype_argument
from treadle_ops.inference import INTEGER, require_rank


class Unique(NamedTuple):
    """The distinct elements, and for every element which of them it is."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """The distinct elements, for every element which of them it is, and how often each occurs."""

    y: Any
    idx: Any
    count: Any


@op("unique")
def unique_op(x: Spec, *, out_idx: DType) -> Unique:
    """The distinct elements of a vector; NaN is distinct from all, and -0.0 is 0.0."""
    dims = require_rank(x, 1, "x")
    return Unique(Spec((Dim.symbol(),), x.dtype), Spec(dims, out_idx))


@op("unique_with_counts")
def unique_with_counts_op(x: Spec, *, out_idx: DType) -> UniqueWithCounts:
    """The distinct elements of a vector, and how often each occurs."""
    dims = require_rank(x, 1, "x")
    found = Dim.symbol()
    return UniqueWithCounts(Spec((found,), x.dtype), Spec(dims, out_idx), Spec((found,), out_idx))


@public("unique")
def unique(x: Any, out_idx: Any = int32, name: str | None = None) -> Unique:
    """The distinct elements of a vector, in the order in which they first appear.

    Args:
        x: ``(N,)``, any dtype. Every NaN is distinct; -0.0 and 0.0 are the same, and the first stands for both.
        out_idx: an integer dtype.
        name: ignored.

    Returns:
        ``y``, ``(K,)`` of the dtype of ``x``, and ``idx``, ``(N,)`` of ``out_idx``, with ``x[i] == y[idx[i]]``.

    Raises:
        ShapeError: ``x`` is not a vector.
        DTypeError: ``out_idx`` is no integer dtype.

    Sources:
        TensorFlow ``tf.unique``.
    """
    return unique_op(x, out_idx=_index_dtype(out_idx))


@public("unique_with_counts")
def unique_with_counts(x: Any, out_idx: Any = int32, name: str | None = None) -> UniqueWithCounts:
    """The distinct elements of a vector, in the order in which they first appear, and how often each occurs.

    Args:
        x: ``(N,)``, any dtype. Every NaN is distinct; -0.0 and 0.0 are the same, and the first stands for both.
        out_idx: an integer dtype.
        name: ignored.

    Returns:
        ``y``, ``(K,)`` of the dtype of ``x``; ``idx``, ``(N,)``, with ``x[i] == y[idx[i]]``, and ``count``, ``(K,)``, both of ``out_idx``.

    Raises:
        ShapeError: ``x`` is not a vector.
        DTypeError: ``out_idx`` is no integer dtype.

    Sources:
        TensorFlow ``tf.unique_with_counts``.
    """
    return unique_with_counts_op(x, out_idx=_index_dtype(out_idx))


def _index_dtype(out_idx: Any) -> DType:
    dtype = dtype_argument(out_idx, int32)
    if dtype.kind not in INTEGER:
        raise DTypeError(f"unique: out_idx is {dtype.name}; it must be an integer dtype")
    return dtype
