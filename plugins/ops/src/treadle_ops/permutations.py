"""Permutations as vectors of indices."""

from __future__ import annotations

from treadle.contracts.spec import Spec
from treadle.declare import IndexSpec, op
from treadle.dtypes import int32, int64
from treadle.errors import DTypeError
from treadle_ops.inference import require_rank


@op("invert_permutation", public=("math.invert_permutation",), can_fail=True)
def invert_permutation(x: IndexSpec) -> Spec:
    """The permutation that undoes another: ``result[x[i]] == i``.

    Args:
        x: ``(N,)``, int32 or int64, every number from 0 to N - 1 once.
        name: ignored.

    Returns:
        ``(N,)`` of the dtype of ``x``.

    Raises:
        InvalidArgumentError: ``x`` is not a permutation.
        ShapeError: ``x`` is not a vector.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.invert_permutation``.
    """
    if x.dtype not in (int32, int64):
        raise DTypeError(f"x has dtype {x.dtype.name}; expected int32 or int64. Use td.cast to convert it.")
    return Spec(require_rank(x, 1, "x"), x.dtype)
