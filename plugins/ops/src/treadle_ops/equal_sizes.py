"""Sizes of two tensors that must be equal: compared while tracing where they are known, else when the graph runs."""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import FreeSpec, gradient, op
from treadle.errors import ShapeError
from treadle_ops.called_function import subject
from treadle_ops.inference import normalize_axis


@op("equal_sizes", aliases=True, can_fail=True)
def equal_sizes(x: FreeSpec, y: FreeSpec, *, axis: int, other: int, what: str) -> Spec:
    """``x``, whose size along ``axis`` must be that of ``y`` along ``other``."""
    if x.dims is None:
        return Spec(None, x.dtype)
    dims, at = list(x.dims), normalize_axis(axis, len(x.dims))
    if y.dims is not None:
        have, want = dims[at], y.dims[normalize_axis(other, len(y.dims))]
        if sizes.known_different(have, want):
            raise ShapeError(f"{what}, {have} and {want}, must be equal (shapes {x.shape} and {y.shape})")
        dims[at] = sizes.unify(have, want, what)
    return Spec(tuple(dims), x.dtype)


@gradient(equal_sizes)
def _(ctx: Any, g: Any) -> Any:
    return g, None


def with_equal_sizes(x: Any, axis: int, y: Any, other: int, what: str) -> Any:
    """The tensor ``x``, whose size along an axis must be that of ``y`` along another.

    Args:
        x: a tensor, of unknown rank or with that axis.
        axis: of ``x``.
        y: a tensor, of unknown rank or with that axis.
        other: the axis of ``y``.
        what: the two sizes in words, for the message.

    Raises:
        ShapeError: they differ; when the graph runs, where they are not known before.
    """
    if x.dims is None or y.dims is None:
        return equal_sizes(x, y, axis=axis, other=other, what=what)
    have, want = x.dims[axis], y.dims[other]
    if have == want:
        return x
    if sizes.known_different(have, want):
        raise ShapeError(f"{subject()}{what}, {have} and {want}, must be equal (shapes {x.shape} and {y.shape})")
    return equal_sizes(x, y, axis=axis, other=other, what=what)
