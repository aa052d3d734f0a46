"""Rows of embedding matrices."""

from __future__ import annotations

from typing import Any

from treadle.declare import public
from treadle.dtypes import int32
from treadle_ops.arguments import tensor
from treadle_ops.clipping import clip_by_norm
from treadle_ops.elementwise import subtract
from treadle_ops.gathering import gather_op
from treadle_ops.joining import concat
from treadle_ops.ranges import range_op
from treadle_ops.sizes import rank_op


@public("nn.embedding_lookup")
def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    """The rows of an embedding matrix at given ids.

    Args:
        params: ``(N, ...)``, floating; or a list of such tensors, the consecutive parts of one.
        ids: any shape, integers in ``[0, N)``.
        max_norm: rows of a greater norm are scaled down to it.
        name: ignored.

    Returns:
        ``ids.shape + params.shape[1:]`` of the dtype of ``params``.

    Raises:
        IndexOutOfRangeError: an id is out of range.

    Sources:
        TensorFlow ``tf.nn.embedding_lookup``.
    """
    whole = concat(list(params), 0) if isinstance(params, list | tuple) else tensor(params)
    rows = gather_op(whole, ids, axis=0, batch_dims=0)
    if max_norm is None:
        return rows
    if whole.dims is None:
        return clip_by_norm(rows, max_norm, axes=range_op(subtract(1, rank_op(whole)), 0, 1, dtype=int32))
    return clip_by_norm(rows, max_norm, axes=list(range(1 - len(whole.dims), 0)))
