"""The cross product of vectors in three dimensions."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import gradient, op
from treadle.errors import ShapeError
from treadle_ops.inference import REAL, common_dims, same_dtype


@op("cross", public="linalg.cross")
def cross(a: Spec, b: Spec) -> Spec:
    """The cross product of vectors.

    Args:
        a: ``(..., 3)``, integer or floating.
        b: the shape and dtype of ``a``.
        name: ignored.

    Returns:
        The shape and dtype of ``a``.

    Raises:
        ShapeError: the shapes differ, or the last axis has not 3 elements.
        DTypeError: the dtypes differ.

    Sources:
        TensorFlow ``tf.linalg.cross``.
    """
    dtype = same_dtype(a, b, kinds=REAL)
    dims = common_dims((a, b), "a and b")
    if dims is not None and (not dims or sizes.known_different(dims[-1], 3)):
        raise ShapeError(f"a of shape {a.shape} must have 3 elements along its last axis")
    return Spec(dims, dtype)


@gradient(cross)
def _(ctx: Any, g: Any) -> Any:
    a, b = ctx.inputs
    return cross(b, g) if ctx.needs[0] else None, cross(g, a) if ctx.needs[1] else None
