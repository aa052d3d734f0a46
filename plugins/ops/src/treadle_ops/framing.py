"""Signals cut into frames that may overlap, and frames added up to a signal."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op, public
from treadle.dims import Dim, Size, add, floordiv, known_different, maximum, mul
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import axis_argument, integer_argument, tensor
from treadle_ops.broadcasting import shape_of
from treadle_ops.called_function import subject
from treadle_ops.fourier import size_along
from treadle_ops.inference import NUMERIC, dims_of_value, normalize_axis, require_kind, require_rank
from treadle_ops.window import as_shape


def _measures(lengths: Spec) -> tuple[Size, Size]:
    """The length of a frame and the step between frames."""
    if lengths.dims is not None and (len(lengths.dims) != 1 or known_different(lengths.dims[0], 2)):
        raise ShapeError(f"the length of a frame and the step have the shape {lengths.shape}; expected two numbers")
    length, step = (Dim.symbol(), Dim.symbol()) if lengths.value is None else lengths.value
    for what, n in (("frame_length", length), ("frame_step", step)):
        if isinstance(n, int) and n < 1:
            raise InvalidArgumentError(f"{subject()}{what} must be 1 or more, got {n}")
    return length, step


@op("frame")
def frame_op(signal: Spec, pad_value: Spec, lengths: HostSpec, *, axis: int, pad_end: bool) -> Spec:
    """Frames of a length at every step along an axis; with ``pad_end`` also those that reach beyond the end."""
    length, step = _measures(lengths)
    require_rank(pad_value, 0, "pad_value")
    if signal.dims is None:
        return Spec(None, signal.dtype)
    if not signal.dims:
        raise ShapeError("signal is a scalar; it needs an axis of samples")
    at = normalize_axis(axis, len(signal.dims))
    samples = signal.dims[at]
    count = floordiv(add(samples, add(step, -1)), step) if pad_end else maximum(0, add(1, floordiv(add(samples, mul(-1, length)), step)))
    return Spec((*signal.dims[:at], count, length, *signal.dims[at + 1 :]), signal.dtype)


@op("frame_grad")
def frame_grad(g: Spec, shape: HostSpec, lengths: HostSpec, *, axis: int, pad_end: bool) -> Spec:
    """Frames added up to a signal of a shape; what reaches beyond its end is left out."""
    return Spec(dims_of_value(shape), require_kind(g, NUMERIC))


@op("overlap_and_add")
def overlap_and_add_op(signal: Spec, step: HostSpec) -> Spec:
    """Frames ``(..., frames, length)``, one every ``step`` samples, added up."""
    dtype = require_kind(signal, NUMERIC, "signal")
    if signal.dims is None:
        return Spec(None, dtype)
    if len(signal.dims) < 2:
        raise ShapeError(f"signal of shape {signal.shape} has rank {len(signal.dims)}; expected (..., frames, frame_length)")
    *outer, count, length = signal.dims
    by = Dim.symbol() if step.value is None else step.value
    if isinstance(by, int) and by < 1:
        raise InvalidArgumentError(f"frame_step must be 1 or more, got {by}")
    return Spec((*outer, maximum(0, add(length, mul(by, add(count, -1))))), dtype)


@gradient(frame_op)
def _(ctx: Any, g: Any) -> Any:
    signal, _, lengths = ctx.inputs
    return frame_grad(g, shape_of(signal), lengths, axis=ctx.axis, pad_end=ctx.pad_end), None, None


@gradient(frame_grad)
def _(ctx: Any, u: Any) -> Any:
    return frame_op(u, 0, ctx.inputs[2], axis=ctx.axis, pad_end=ctx.pad_end), None, None


@gradient(overlap_and_add_op)
def _(ctx: Any, g: Any) -> Any:
    frames, step = ctx.inputs
    return frame_op(g, 0, as_shape([size_along(frames, -1), step]), axis=-1, pad_end=False), None


@public("signal.frame")
def frame(signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0, axis: int = -1, name: str | None = None) -> Any:
    """A signal cut into frames, which overlap where the step is shorter than a frame.

    Args:
        signal: rank 1 or more, any dtype.
        frame_length: samples in a frame, 1 or more.
        frame_step: samples from the start of one frame to that of the next, 1 or more.
        pad_end: also give the frames that reach beyond the end, with ``pad_value`` there.
        pad_value: a scalar of the dtype of ``signal``.
        axis: the axis of samples.
        name: ignored.

    Returns:
        The shape of ``signal`` with ``(frames, frame_length)`` in place of the axis, and its dtype.

    Raises:
        ShapeError: ``signal`` is a scalar.
        InvalidArgumentError: a length is less than 1, or the axis is out of range.

    Sources:
        TensorFlow ``tf.signal.frame``.
    """
    lengths = as_shape([integer_argument(frame_length, "frame_length"), integer_argument(frame_step, "frame_step")])
    return frame_op(tensor(signal), pad_value, lengths, axis=axis_argument(axis), pad_end=bool(pad_end))


@public("signal.overlap_and_add")
def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Any:
    """A signal from frames that may overlap; where they do, they are added.

    Args:
        signal: ``(..., frames, frame_length)``, numeric.
        frame_step: samples from the start of one frame to that of the next, 1 or more.
        name: ignored.

    Returns:
        ``(..., (frames - 1) * frame_step + frame_length)`` of the dtype of ``signal``.

    Raises:
        ShapeError: the rank is less than 2.
        InvalidArgumentError: ``frame_step`` is less than 1.

    Sources:
        TensorFlow ``tf.signal.overlap_and_add``.
    """
    return overlap_and_add_op(tensor(signal), integer_argument(frame_step, "frame_step"))
