"""Tensors made larger at their ends (pad), and smaller again."""

from __future__ import annotations

from typing import Any

import numpy as np

from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op, public
from treadle.dims import Dim, Size, add, known_different, mul
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import integers_argument
from treadle_ops.inference import NUMERIC, require_kind, require_rank, same_dtype
from treadle_ops.known import carried, is_short

Paddings = tuple[tuple[Size, Size], ...]


@op("pad", aliases=True)
def pad_op(x: Spec, paddings: HostSpec) -> Spec:
    """``x`` with zeros before and after, along each axis."""
    ends = _paddings(x, paddings)
    dims = _padded(x, ends)
    return Spec(dims, x.dtype, carried(lambda v: np.pad(v, ends), x) if x.dims and is_short(dims) else None)


@op("pad_with", aliases=True)
def pad_with(x: Spec, paddings: HostSpec, value: Spec) -> Spec:
    """``x`` with one value before and after, along each axis."""
    same_dtype(x, value)
    require_rank(value, 0, "constant_values")
    return Spec(_padded(x, _paddings(x, paddings)), x.dtype)


@gradient(pad_op)
def _(ctx: Any, g: Any) -> Any:
    return crop(g, ctx.inputs[1]), None


@gradient(pad_with)
def _(ctx: Any, g: Any) -> Any:
    return crop(g, ctx.inputs[1]), None, None


@op("crop", aliases=True)
def crop(x: Spec, paddings: HostSpec) -> Spec:
    """``x`` without so many elements at the ends of each axis: what was padded."""
    ends = _paddings(x, paddings)
    if x.dims is None or ends is None:
        return Spec(None, x.dtype)
    dims = tuple(add(d, mul(-1, add(before, after))) for d, (before, after) in zip(x.dims, ends, strict=True))
    if any(isinstance(d, int) and d < 0 for d in dims):
        raise ShapeError(f"shape {x.shape} has less than the {[list(pair) for pair in ends]} elements that are to be cut off")
    return Spec(dims, x.dtype)


@gradient(crop)
def _(ctx: Any, g: Any) -> Any:
    return pad_op(g, ctx.inputs[1]), None


@op("mirror_pad", aliases=True)
def mirror_pad(x: Spec, paddings: HostSpec, *, mode: str) -> Spec:
    """``x`` with its own elements mirrored at its ends, with (``SYMMETRIC``) or without (``REFLECT``) the last one."""
    ends = _paddings(x, paddings)
    if x.dims is not None and ends is not None:
        for axis, (size, pair) in enumerate(zip(x.dims, ends, strict=True)):
            most = add(size, -1) if mode == "REFLECT" else size
            for n in pair:
                if isinstance(n, int) and isinstance(most, int) and n > max(most, 0):
                    raise InvalidArgumentError(
                        f"paddings {list(pair)} of axis {axis} are too wide for {mode}: size {size} allows up to {max(most, 0)}"
                    )
    return Spec(_padded(x, ends), x.dtype)


@gradient(mirror_pad)
def _(ctx: Any, g: Any) -> Any:
    return mirror_fold(g, ctx.inputs[1], mode=ctx.mode), None


@op("mirror_fold", aliases=True)
def mirror_fold(x: Spec, paddings: HostSpec, *, mode: str) -> Spec:
    """``x`` without its ends, which are added to the elements that they mirror."""
    require_kind(x, NUMERIC)
    inner = crop.op.infer(x, paddings)
    mirror_pad.op.infer(inner, paddings, mode=mode)  # refuses ends wider than what they mirror
    return inner


@gradient(mirror_fold)
def _(ctx: Any, g: Any) -> Any:
    return mirror_pad(g, ctx.inputs[1], mode=ctx.mode), None


def _paddings(x: Spec, paddings: Spec) -> Paddings | None:
    """How many elements before and after each axis; symbols where it is not known, None where not even the rank is."""
    if paddings.dims is not None and (len(paddings.dims) != 2 or known_different(paddings.dims[1], 2)) and paddings.dims != (0,):
        raise ShapeError(f"paddings has shape {paddings.shape}; expected (rank, 2): a pair per axis")
    if paddings.value is not None:
        ends: Paddings = paddings.value
        if any(isinstance(n, int) and n < 0 for pair in ends for n in pair):
            raise InvalidArgumentError(f"paddings {[list(pair) for pair in ends]} has a negative number; expected 0 or more")
    else:
        count = paddings.dims[0] if paddings.dims is not None and isinstance(paddings.dims[0], int) else x.rank
        if count is None:
            return None
        ends = tuple((Dim.symbol(), Dim.symbol()) for _ in range(count))
    if x.dims is not None and len(ends) != len(x.dims):
        raise ShapeError(f"paddings has {len(ends)} pairs for the {len(x.dims)} axes of shape {x.shape}; give one per axis")
    return ends


def _padded(x: Spec, ends: Paddings | None) -> tuple[Size, ...] | None:
    if x.dims is None or ends is None:
        return None if ends is None else tuple(Dim.symbol() for _ in ends)
    return tuple(add(d, add(before, after)) for d, (before, after) in zip(x.dims, ends, strict=True))


@public("pad")
def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None) -> Any:
    """A tensor with more elements before and after, along each axis.

    Args:
        tensor: any shape, any dtype.
        paddings: ``(rank, 2)`` integers: how many before and how many after, for each axis.
        mode: ``CONSTANT``; ``REFLECT``, which mirrors without the last element; or ``SYMMETRIC``, which mirrors with it. In any case of letters.
        constant_values: the new elements in mode ``CONSTANT``, a scalar of the dtype of ``tensor``.
        name: ignored.

    Returns:
        The dtype of ``tensor``, each size larger by its two paddings.

    Raises:
        ShapeError: there is not one pair per axis.
        InvalidArgumentError: a number is negative, or too large to mirror, or there is no such mode.

    Sources:
        TensorFlow ``tf.pad``.
    """
    ends = integers_argument(paddings, "paddings")
    kind = str(mode).upper()
    if kind in ("REFLECT", "SYMMETRIC"):
        return mirror_pad(tensor, ends, mode=kind)
    if kind != "CONSTANT":
        raise InvalidArgumentError(f"pad: mode {mode!r} is not known; modes: CONSTANT, REFLECT, SYMMETRIC")
    if type(constant_values) in (int, float) and constant_values == 0:
        return pad_op(tensor, ends)
    return pad_with(tensor, ends, constant_values)
