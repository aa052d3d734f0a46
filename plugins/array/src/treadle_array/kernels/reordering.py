"""Elements in another order along an axis."""

from __future__ import annotations

from typing import Any

from treadle.declare import kernel

LONG_ROWS = 256
"""Elements that go with one sequence from which copying it alone beats picking elements."""


@kernel("reverse")
def reverse(xp: Any) -> Any:
    """See the op."""
    backwards = slice(None, None, -1)

    def run(x: Any, *, axis: tuple[int, ...]) -> Any:
        if not axis:
            return x
        index = [slice(None)] * x.ndim
        for along in axis:
            if index[along] is backwards:
                raise ValueError(f"axis {axis} names an axis twice")
            index[along] = backwards
        return xp.ascontiguousarray(x[tuple(index)])

    return run


@kernel("roll")
def roll(xp: Any) -> Any:
    """See the op; along one axis, it is cut in two and put together again."""

    def run(x: Any, shift: Any, *, axis: tuple[int, ...] | None) -> Any:
        shifts = shift if type(shift) is tuple else (shift,)
        axis = tuple(range(x.ndim)) if axis is None else axis
        if len(shifts) != len(axis) or not x.ndim:
            raise ValueError(f"shift {shift} does not fit axis {axis} of shape {x.shape}")
        if len(axis) != 1:
            return xp.ascontiguousarray(xp.roll(x, shifts, axis))
        (along,) = axis
        size = x.shape[along]
        cut = -shifts[0] % size if size else 0
        if not cut:
            return x
        lead = (slice(None),) * (along % x.ndim)
        return xp.concatenate([x[(*lead, slice(cut, None))], x[(*lead, slice(None, cut))]], along)

    return run


@kernel("reverse_sequence")
def reverse_sequence(xp: Any) -> Any:
    """See the op; long rows are turned one by one, else whole rows are picked where batch and sequence are in front."""
    by_rows = xp.__name__ == "numpy"

    def run(x: Any, seq_lengths: Any, *, seq_axis: int, batch_axis: int) -> Any:
        batch, size = x.shape[batch_axis], x.shape[seq_axis]
        if seq_lengths.shape != (batch,) or seq_axis % x.ndim == batch_axis % x.ndim:
            raise ValueError(f"seq_lengths of shape {seq_lengths.shape} do not fit axis {batch_axis} of shape {x.shape}")
        if batch and (int(seq_lengths.min()) < 0 or int(seq_lengths.max()) > size):
            raise ValueError(f"seq_lengths must be in [0, {size}], and they reach from {seq_lengths.min()} to {seq_lengths.max()}")
        if by_rows and x.size >= LONG_ROWS * batch:
            return _turned(xp, x, seq_lengths.tolist(), seq_axis, batch_axis)
        lengths, steps = seq_lengths.astype(xp.int64)[:, None], xp.arange(size)[None, :]
        picked = xp.where(steps < lengths, lengths - 1 - steps, steps)
        if (batch_axis, seq_axis) == (0, 1):
            return x[xp.arange(batch)[:, None], picked]
        rows = xp.moveaxis(x, (batch_axis, seq_axis), (0, 1))[xp.arange(batch)[:, None], picked]
        return xp.ascontiguousarray(xp.moveaxis(rows, (0, 1), (batch_axis, seq_axis)))

    return run


def _turned(xp: Any, x: Any, lengths: list[int], seq_axis: int, batch_axis: int) -> Any:
    result = x.copy()
    rows, targets = (xp.moveaxis(array, (batch_axis, seq_axis), (0, 1)) for array in (x, result))
    for row, target, length in zip(rows, targets, lengths, strict=True):
        target[:length] = row[:length][::-1]
    return result
