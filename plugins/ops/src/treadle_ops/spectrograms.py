"""Short-time Fourier transforms, their inverses, and the weights of the mel scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.contracts.spec import Spec
from treadle.conversion import convert_to_tensor
from treadle.declare import HostSpec, op, public
from treadle.dtypes import DType, as_dtype, complex64, float32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.inspection import get_static_value
from treadle.tensor import Tensor
from treadle_ops.arguments import integer_argument, static_integer, static_number, tensor_argument
from treadle_ops.called_function import subject
from treadle_ops.casting import cast
from treadle_ops.elementwise import divide_op, log, multiply, square
from treadle_ops.fourier import SIGNAL_OF, fit
from treadle_ops.fourier_functions import irfft, rfft
from treadle_ops.framing import frame, overlap_and_add
from treadle_ops.inference import length_of
from treadle_ops.powers import pow_op
from treadle_ops.reductions import reduce_sum_op
from treadle_ops.rounding import ceil
from treadle_ops.shaping import reshape_op
from treadle_ops.signal_windows import hann_window
from treadle_ops.tiling import tile_op
from treadle_ops.window import as_shape
from treadle_ops.zero_safe import divide_no_nan

WindowFunction = Callable[..., Any]


def _enclosing_power(length: Any) -> Any:
    """The smallest power of 2 that is not less."""
    if type(length) is int:
        return 1 << (length - 1).bit_length() if length > 0 else 1
    exponent = ceil(divide_op(log(cast(length, "float64")), 0.6931471805599453))
    return cast(pow_op(convert_to_tensor(2.0, "float64"), exponent), "int32")


@public("signal.stft")
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: WindowFunction | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Any:
    """The Fourier transforms of the frames of real signals.

    Args:
        signals: ``(..., samples)``, float32 or float64.
        frame_length: samples in a frame.
        frame_step: samples from the start of one frame to that of the next.
        fft_length: the length of a transform; by default the smallest power of 2 that is not less than ``frame_length``.
        window_fn: gives a window for a length and a dtype; None for no window.
        pad_end: also take the frames that reach beyond the end, with zeros there.
        name: ignored.

    Returns:
        ``(..., frames, fft_length // 2 + 1)``, complex.

    Raises:
        ShapeError: ``signals`` is a scalar, or a length is not one.
        DTypeError: ``signals`` has another dtype.
        InvalidArgumentError: a length is less than 1.

    Sources:
        TensorFlow ``tf.signal.stft``.
    """
    x = tensor_argument(signals, hint=float32)
    length, step = integer_argument(frame_length, "frame_length"), integer_argument(frame_step, "frame_step")
    points = _enclosing_power(length) if fft_length is None else integer_argument(fft_length, "fft_length")
    frames = frame(x, length, step, pad_end=pad_end)
    if window_fn is not None:
        frames = multiply(frames, window_fn(length, dtype=frames.dtype))
    return rfft(frames, [points])


@public("signal.inverse_stft")
def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: WindowFunction | None = hann_window,
    name: str | None = None,
) -> Any:
    """Real signals from the Fourier transforms of their frames.

    They are what ``td.signal.stft`` was given if the windows of both make up for each other: see ``td.signal.inverse_stft_window_fn``.

    Args:
        stfts: ``(..., frames, fft_length // 2 + 1)``, complex.
        frame_length: samples in a frame.
        frame_step: samples from the start of one frame to that of the next.
        fft_length: the length of a transform; by default the smallest power of 2 that is not less than ``frame_length``.
        window_fn: gives a window for a length and a dtype; None for no window.
        name: ignored.

    Returns:
        ``(..., (frames - 1) * frame_step + frame_length)``, real.

    Raises:
        ShapeError: the rank is less than 2, or a length is not a scalar.
        DTypeError: ``stfts`` is not complex.
        InvalidArgumentError: a length is less than 1.

    Sources:
        TensorFlow ``tf.signal.inverse_stft``.
    """
    x = tensor_argument(stfts, hint=complex64)
    if x.dims is not None and len(x.dims) < 2:
        raise ShapeError(f"inverse_stft: stfts of shape {x.shape} has rank {len(x.dims)}; expected (..., frames, frequencies)")
    length, step = integer_argument(frame_length, "frame_length"), integer_argument(frame_step, "frame_step")
    points = _enclosing_power(length) if fft_length is None else integer_argument(fft_length, "fft_length")
    frames = fit(irfft(x, [points]), (length,), (-1,))
    if window_fn is not None:
        frames = multiply(frames, window_fn(length, dtype=SIGNAL_OF[x.dtype]))
    return overlap_and_add(frames, step)


@public("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(frame_step: Any, forward_window_fn: WindowFunction = hann_window, name: str | None = None) -> WindowFunction:
    """The window for ``td.signal.inverse_stft`` that makes up for the window of the forward transform.

    Args:
        frame_step: samples from the start of one frame to that of the next.
        forward_window_fn: the window of the forward transform.
        name: ignored.

    Returns:
        A function of a frame's length and a dtype: a window of that length, such that its products with the forward window, a step apart, sum to 1;
        0 where all that the forward window has a step apart is 0.

    Sources:
        TensorFlow ``tf.signal.inverse_stft_window_fn``.
    """
    step = integer_argument(frame_step, "frame_step")
    if type(step) is int and step < 1:
        raise InvalidArgumentError(f"{subject()}frame_step must be 1 or more, got {step}")

    def inverse_window(frame_length: Any, dtype: Any) -> Any:
        length = integer_argument(frame_length, "frame_length")
        window = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        folded = reshape_op(fit(square(window), (overlaps * step,), (-1,)), as_shape([overlaps, step]))
        power = reduce_sum_op(folded, axis=(0,), keepdims=False)
        return divide_no_nan(window, fit(tile_op(power, as_shape([overlaps])), (length,), (-1,)))

    return inverse_window


# ---------------------------------------------------------------------- mel scale


@op("mel_weights")
def mel_weights(spectrogram_bins: HostSpec, sample_rate: HostSpec, *, mel_bins: int, lower: float, upper: float, dtype: DType) -> Spec:
    """Triangles over frequencies, evenly spaced on the mel scale; the first frequency, 0, has none."""
    return Spec((length_of(spectrogram_bins, "num_spectrogram_bins"), mel_bins), dtype)


@public("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = float32,
    name: str | None = None,
) -> Any:
    """The matrix that turns spectra over linear frequencies into spectra over the mel scale.

    Args:
        num_mel_bins: bands of the mel scale, 1 or more.
        num_spectrogram_bins: frequencies, an integer.
        sample_rate: samples per second; a number.
        lower_edge_hertz: where the lowest band begins, 0 or more.
        upper_edge_hertz: where the highest band ends, up to half the sample rate.
        dtype: floating.
        name: ignored.

    Returns:
        ``(num_spectrogram_bins, num_mel_bins)`` of ``dtype``.

    Raises:
        InvalidArgumentError: a number is out of range, or ``dtype`` is not floating.

    Sources:
        TensorFlow ``tf.signal.linear_to_mel_weight_matrix``; the HTK book for the scale.
    """
    wanted = as_dtype(dtype)
    bands = static_integer(num_mel_bins, "num_mel_bins")
    lower, upper = static_number(lower_edge_hertz, "lower_edge_hertz"), static_number(upper_edge_hertz, "upper_edge_hertz")
    rate = get_static_value(sample_rate) if isinstance(sample_rate, Tensor) else static_number(sample_rate, "sample_rate")
    if bands <= 0:
        raise InvalidArgumentError(f"{subject()}num_mel_bins must be positive, got {bands}")
    if lower < 0.0 or lower >= upper:
        raise InvalidArgumentError(f"{subject()}lower_edge_hertz {lower} must be 0 or more and below upper_edge_hertz {upper}")
    if rate is not None and (rate <= 0 or upper > rate / 2):
        raise InvalidArgumentError(
            f"{subject()}sample_rate {rate} must be positive, and upper_edge_hertz {upper} must not be above half of it, the Nyquist frequency"
        )
    if not wanted.is_floating:
        raise InvalidArgumentError(f"{subject()}dtype must be floating, got {wanted.name}")
    bins = integer_argument(num_spectrogram_bins, "num_spectrogram_bins")
    return mel_weights(bins, sample_rate, mel_bins=bands, lower=float(lower), upper=float(upper), dtype=wanted)
