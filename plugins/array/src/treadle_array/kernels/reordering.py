"""Elements in another order along an axis."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel


@kernel("reverse")
def reverse(xp: Any) -> Any:
    """See the op."""

    def run(x: Any, *, axis: tuple[int, ...]) -> Any:
        turned = xp.flip(x, axis)
        return xp.ascontiguousarray(turned) if axis else x

    return run


@kernel("roll")
def roll(xp: Any) -> Any:
    """See the op; one axis after the other is cut in two and put together again."""

    def run(x: Any, shift: Any, *, axis: tuple[int, ...]) -> Any:
        shifts = shift if type(shift) is tuple else (shift,)
        if len(shifts) != len(axis) or not x.ndim:
            raise ValueError(f"shift {shift} does not fit axis {axis} of shape {x.shape}")
        for by, along in zip(shifts, axis, strict=True):
            size = x.shape[along]
            left = by % size if size else 0
            if left:
                lead = (slice(None),) * (along % x.ndim)
                x = xp.concatenate([x[(*lead, slice(size - left, None))], x[(*lead, slice(None, size - left))]], along)
        return xp.ascontiguousarray(x)

    return run


@kernel("reverse_sequence")
def reverse_sequence(xp: Any) -> Any:
    """See the op; with batch and sequence in front, whole rows are picked."""

    def run(x: Any, seq_lengths: Any, *, seq_axis: int, batch_axis: int) -> Any:
        batch, size = x.shape[batch_axis], x.shape[seq_axis]
        if seq_lengths.shape != (batch,) or seq_axis % x.ndim == batch_axis % x.ndim:
            raise ValueError(f"seq_lengths of shape {seq_lengths.shape} do not fit axis {batch_axis} of shape {x.shape}")
        if batch and (int(seq_lengths.min()) < 0 or int(seq_lengths.max()) > size):
            raise ValueError(f"seq_lengths must be in [0, {size}], and they reach from {seq_lengths.min()} to {seq_lengths.max()}")
        lengths, steps = seq_lengths.astype(xp.int64)[:, None], xp.arange(size)[None, :]
        picked = xp.where(steps < lengths, lengths - 1 - steps, steps)
        rows = xp.moveaxis(x, (batch_axis, seq_axis), (0, 1))[xp.arange(batch)[:, None], picked]
        return xp.ascontiguousarray(xp.moveaxis(rows, (0, 1), (batch_axis, seq_axis)))

    return run
