"""Windows for frames of a signal, and bands of the mel scale; computed in float64 whatever dtype they are wanted in."""

from __future__ import annotations

from math import log1p, pi
from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType


@kernel("raised_cosine_window")
def raised_cosine_window(xp: Any) -> Any:
    """See the op."""

    def run(length: int, *, periodic: bool, offset: float, amplitude: float, dtype: DType) -> Any:
        if type(length) is not int or length < 0:
            raise ValueError(f"window_length is {length}")
        if length == 1:
            return xp.ones(1, dtype.numpy)
        period = length - 1 + (periodic and length % 2 == 0)
        angles = xp.arange(length, dtype=xp.float64) * (2 * pi / max(period, 1))
        return (offset - amplitude * xp.cos(angles)).astype(dtype.numpy)

    return run


@kernel("window_positions")
def window_positions(xp: Any) -> Any:
    """See the op."""

    def run(length: int, *, dtype: DType) -> Any:
        if type(length) is not int or length < 0:
            raise ValueError(f"window_length is {length}")
        ends = max(length - 1, 1)
        return ((2 * xp.arange(length, dtype=xp.float64) - (length - 1)) / ends).astype(dtype.numpy)

    return run


def _mel(hertz: float) -> float:
    return 1127.0 * log1p(hertz / 700.0)


@kernel("mel_weights")
def mel_weights(xp: Any) -> Any:
    """See the op."""

    def run(spectrogram_bins: int, sample_rate: float, *, mel_bins: int, lower: float, upper: float, dtype: DType) -> Any:
        if sample_rate <= 0 or upper > sample_rate / 2:
            raise ValueError(f"upper_edge_hertz {upper} is above the Nyquist frequency of sample_rate {sample_rate}")
        result = xp.zeros((spectrogram_bins, mel_bins), dtype.numpy)
        hertz = xp.linspace(0.0, sample_rate / 2.0, max(spectrogram_bins, 1))[1:]
        mels = 1127.0 * xp.log1p(hertz / 700.0)[:, None]
        edges = xp.linspace(_mel(lower), _mel(upper), mel_bins + 2)
        left, center, right = edges[:-2], edges[1:-1], edges[2:]
        slopes = xp.minimum((mels - left) / (center - left), (right - mels) / (right - center))
        result[1:] = xp.maximum(slopes, 0.0)
        return result

    return run
