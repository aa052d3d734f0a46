"""Signals cut into frames, and frames added up to a signal."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


def _measures(lengths: tuple[int, int], samples: int, pad_end: bool) -> tuple[int, int, int]:
    """How many frames there are, their length and step."""
    length, step = lengths
    if length < 1 or step < 1:
        raise ValueError(f"frames of {length} samples every {step} samples")
    return -(-samples // step) if pad_end else max(0, 1 + (samples - length) // step), length, step


@kernel("frame")
def frame(xp: Any) -> Any:
    """See the op; the frames are copied out of a view that overlaps itself."""

    def run(signal: Any, pad_value: Any, lengths: tuple[int, int], *, axis: int, pad_end: bool) -> Any:
        at = _axis(signal.ndim, axis)
        if pad_value.ndim:
            raise ValueError("pad_value is not a scalar")
        before, samples, behind = signal.shape[:at], signal.shape[at], signal.shape[at + 1 :]
        count, length, step = _measures(lengths, samples, pad_end)
        needed = (count - 1) * step + length
        if count and needed > samples:
            whole = xp.empty((*before, needed, *behind), signal.dtype)
            whole[(*(slice(None),) * at, slice(samples, None))] = pad_value
            whole[(*(slice(None),) * at, slice(None, samples))] = signal
            signal = whole
        shape = (*before, count, length, *behind)
        if 0 in shape:
            return xp.empty(shape, signal.dtype)
        strides = signal.strides
        view = xp.lib.stride_tricks.as_strided(signal, shape, (*strides[:at], strides[at] * step, *strides[at:]))
        return view.copy()

    return run


def _axis(rank: int, axis: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for rank {rank}")
    return axis % rank


def _added(xp: Any, frames: Any, step: int, samples: int) -> Any:
    """Frames ``(outer, count, length, inner)`` added up to ``(outer, samples, inner)``, one stretch of a step's length of every frame at a time."""
    outer, count, length, inner = frames.shape
    stretches = -(-length // step)
    short = frames.dtype.itemsize == 2 and frames.dtype.kind not in "iu"
    sums = xp.zeros((outer, max(count + stretches - 1, -(-samples // step)), step, inner), xp.float32 if short else frames.dtype)
    for i in range(stretches if count else 0):
        width = min(step, length - i * step)
        sums[:, i : i + count, :width] += frames[:, :, i * step : i * step + width]
    whole = sums.reshape(outer, sums.shape[1] * step, inner)[:, :samples]
    return whole.astype(frames.dtype) if short else xp.ascontiguousarray(whole)


@kernel("frame_grad")
def frame_grad(xp: Any) -> Any:
    """See the op."""

    def run(g: Any, shape: tuple[int, ...], lengths: tuple[int, int], *, axis: int, pad_end: bool) -> Any:
        at = _axis(len(shape), axis)
        count, length, step = _measures(lengths, shape[at], pad_end)
        if g.shape != (*shape[:at], count, length, *shape[at + 1 :]):
            raise ValueError(f"frames of shape {g.shape} do not belong to a signal of shape {shape}")
        if not g.size:
            return xp.zeros(shape, g.dtype)
        outer, inner = _product(shape[:at]), _product(shape[at + 1 :])
        return _added(xp, g.reshape(outer, count, length, inner), step, shape[at]).reshape(shape)

    return run


def _product(sizes: tuple[int, ...]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


@kernel("overlap_and_add")
def overlap_and_add(xp: Any) -> Any:
    """See the op."""

    def run(signal: Any, step: int) -> Any:
        if signal.ndim < 2 or step < 1:
            raise ValueError(f"frames of shape {signal.shape} every {step} samples")
        *outer, count, length = signal.shape
        samples = max(0, (count - 1) * step + length)
        if not signal.size:
            return xp.zeros((*outer, samples), signal.dtype)
        frames = signal.reshape(_product(tuple(outer)), count, length, 1)
        return _added(xp, frames, step, samples).reshape(*outer, samples)

    return run
