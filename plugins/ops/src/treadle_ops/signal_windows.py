"""Windows that taper a frame of a signal: Hann, Hamming and Kaiser."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, op, public
from treadle.dims import Dim, Size
from treadle.dtypes import DType, as_dtype, float32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle_ops.arguments import integers_argument, static_value
from treadle_ops.bessel import bessel_i0e
from treadle_ops.called_function import subject
from treadle_ops.casting import cast
from treadle_ops.elementwise import divide_op, exp, multiply, square, subtract
from treadle_ops.powers import sqrt


@op("raised_cosine_window")
def raised_cosine_window(length: HostSpec, *, periodic: bool, offset: float, amplitude: float, dtype: DType) -> Spec:
    """``offset - amplitude * cos`` over one period, which ends one sample after the window if ``periodic``; 1 for a length of 1."""
    return Spec((_length(length),), dtype)


@op("window_positions")
def window_positions(length: HostSpec, *, dtype: DType) -> Spec:
    """So many numbers at even distances from -1 to 1; 0 for a length of 1."""
    return Spec((_length(length),), dtype)


def _length(length: Spec) -> Size:
    if length.dims is not None and length.dims != ():
        raise ShapeError(f"window_length must be a scalar, got shape {length.shape}")
    if isinstance(length.value, int) and length.value < 0:
        raise InvalidArgumentError(f"window_length must be 0 or more, got {length.value}")
    return Dim.symbol() if length.value is None else length.value


def _arguments(window_length: Any, dtype: Any) -> tuple[Any, DType]:
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise InvalidArgumentError(f"{subject()}dtype must be floating for a window, got {wanted.name}")
    return integers_argument(window_length, "window_length"), wanted


@public("signal.hann_window")
def hann_window(window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None) -> Any:
    """A Hann window, one period of a raised cosine from 0 over 1 to 0.

    Args:
        window_length: an integer scalar.
        periodic: whether the period ends one sample after the window, as for spectra, when the length is even; otherwise it ends with the window.
        dtype: floating.
        name: ignored.

    Returns:
        ``(window_length,)`` of ``dtype``.

    Raises:
        ShapeError: the length is not a scalar.
        InvalidArgumentError: ``dtype`` is not floating, or the length is negative.

    Sources:
        TensorFlow ``tf.signal.hann_window``.
    """
    length, wanted = _arguments(window_length, dtype)
    return raised_cosine_window(length, periodic=bool(static_value(periodic, "periodic")), offset=0.5, amplitude=0.5, dtype=wanted)


@public("signal.hamming_window")
def hamming_window(window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None) -> Any:
    """A Hamming window, one period of a raised cosine from 0.08 over 1 to 0.08.

    Args:
        window_length: an integer scalar.
        periodic: whether the period ends one sample after the window, as for spectra, when the length is even; otherwise it ends with the window.
        dtype: floating.
        name: ignored.

    Returns:
        ``(window_length,)`` of ``dtype``.

    Raises:
        ShapeError: the length is not a scalar.
        InvalidArgumentError: ``dtype`` is not floating, or the length is negative.

    Sources:
        TensorFlow ``tf.signal.hamming_window``.
    """
    length, wanted = _arguments(window_length, dtype)
    return raised_cosine_window(length, periodic=bool(static_value(periodic, "periodic")), offset=0.54, amplitude=0.46, dtype=wanted)


@public("signal.kaiser_window")
def kaiser_window(window_length: Any, beta: Any = 12.0, dtype: Any = float32, name: str | None = None) -> Any:
    """A Kaiser window: ``i0(beta * sqrt(1 - t * t)) / i0(beta)`` for ``t`` from -1 to 1.

    Args:
        window_length: an integer scalar.
        beta: a scalar; the larger, the narrower is the window.
        dtype: floating.
        name: ignored.

    Returns:
        ``(window_length,)`` of ``dtype``.

    Raises:
        ShapeError: the length is not a scalar.
        InvalidArgumentError: ``dtype`` is not floating, or the length is negative.

    Sources:
        TensorFlow ``tf.signal.kaiser_window``.
    """
    length, wanted = _arguments(window_length, dtype)
    scale = cast(beta, wanted)
    argument = multiply(scale, sqrt(subtract(1, square(window_positions(length, dtype=wanted)))))
    return multiply(exp(subtract(argument, scale)), divide_op(bessel_i0e(argument), bessel_i0e(scale)))
