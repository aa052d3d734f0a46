"""Discrete cosine transforms of types 1 to 4 over the last axis, by Fourier transforms of real numbers."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, op, public
from treadle.dtypes import DType, float32
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError, UnimplementedError
from treadle_ops.arguments import static_value, tensor_argument
from treadle_ops.assertions import assert_greater
from treadle_ops.complex_numbers import complex_op, real_op
from treadle_ops.creation import zeros_like_op
from treadle_ops.elementwise import multiply
from treadle_ops.fourier import SPECTRUM_OF, fit, irfft_op, rfft_op, size_along
from treadle_ops.inference import length_of
from treadle_ops.joining import concat_op
from treadle_ops.selection import ELLIPSIS
from treadle_ops.slicing import strided_slice_op

_LAST = (-1,)
_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
_MIRRORED = (ELLIPSIS, (-2, 0, -1))
"""What lies between the first and the last element, backwards."""
_ODD = (ELLIPSIS, (1, None, 2))


@op("cosine_scales")
def cosine_scales(length: HostSpec, *, type: int, ortho: bool, dtype: DType) -> Spec:
    """What turns the spectrum of a signal into its cosine transform (types 2 and 4), or the other way round (type 3)."""
    return Spec((length_of(length, "a length"),), dtype)


@public("signal.dct")
def dct(input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, name: str | None = None) -> Any:
    """The discrete cosine transform over the last axis.

    Args:
        input: ``(..., samples)``, float32 or float64.
        type: 1, 2, 3 or 4.
        n: the length to which the signal is cut or continued with zeros first; by default its own.
        axis: -1.
        norm: None, or ``"ortho"`` for the transform that keeps norms, which type 1 has not.
        name: ignored.

    Returns:
        ``(..., n)`` of the dtype of ``input``.

    Raises:
        ValueError: there is no such type or norm, ``n`` is less than 1, or type 1 is of fewer than 2 samples, of which ``n`` may leave one.
        NotImplementedError: ``axis`` is another one.
        DTypeError: the input has another dtype.

    Sources:
        TensorFlow ``tf.signal.dct``; SciPy ``scipy.fft.dct``.
    """
    x = tensor_argument(input, hint=float32)
    _require_known(type, axis, norm)
    if x.dtype not in SPECTRUM_OF:
        raise DTypeError(f"dct: input has dtype {x.dtype.name}; expected float32 or float64. Use td.cast to convert it.")
    if x.dims == ():
        raise ShapeError("dct: input is a scalar; it needs an axis of samples")
    length = None if n is None else static_value(n, "n")
    if n is not None and (not isinstance(length, int) or length < 1):
        raise InvalidArgumentError(f"dct: n must be an integer of 1 or more, got {n!r}")
    if type == 1 and (length is None or length < 2):
        _require_two_samples(x)
    return _TRANSFORMS[type](x if length is None else fit(x, (length,), _LAST), norm == "ortho")


@public("signal.idct")
def idct(input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, name: str | None = None) -> Any:
    """The inverse of ``td.signal.dct`` of the same type; without ``norm="ortho"`` up to a factor of twice the length (for type 1, of the length - 1).

    Args:
        input: ``(..., samples)``, float32 or float64.
        type: 1, 2, 3 or 4.
        n: the length to which the input is cut or continued with zeros first; by default its own.
        axis: -1.
        norm: None or ``"ortho"``.
        name: ignored.

    Returns:
        ``(..., n)`` of the dtype of ``input``.

    Raises:
        ValueError: there is no such type or norm, ``n`` is less than 1, or type 1 is of fewer than 2 samples, of which ``n`` may leave one.
        NotImplementedError: ``axis`` is another one.
        DTypeError: the input has another dtype.

    Sources:
        TensorFlow ``tf.signal.idct``.
    """
    return dct(input, _INVERSE.get(type, type) if isinstance(type, int) else type, n, axis, norm)


def _require_known(type: int, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise UnimplementedError(f"dct: axis must be -1, got {axis}; move the axis to the end with td.transpose")
    if not isinstance(type, int) or type not in _TRANSFORMS:
        raise InvalidArgumentError(f"dct: type must be 1, 2, 3 or 4, got {type!r}")
    if norm not in (None, "ortho"):
        raise InvalidArgumentError(f"dct: norm must be None or 'ortho', got {norm!r}")
    if type == 1 and norm == "ortho":
        raise InvalidArgumentError("dct: type 1 has no norm 'ortho'; use norm=None")


def _require_two_samples(x: Any) -> None:
    if x.dims is not None and isinstance(x.dims[-1], int) and x.dims[-1] < 2:
        raise InvalidArgumentError(f"dct: type 1 needs 2 samples or more along the last axis, got shape {x.shape}")
    if x.dims is None or not isinstance(x.dims[-1], int):
        assert_greater(size_along(x, -1), 1, message="dct: type 1 needs 2 samples or more along the last axis")


def _type_1(x: Any, ortho: bool) -> Any:
    return real_op(rfft_op(concat_op([x, strided_slice_op(x, index=_MIRRORED)], axis=-1), axes=_LAST, norm="backward"))


def _type_2(x: Any, ortho: bool) -> Any:
    return _scaled_spectrum(x, size_along(x, -1), 2, ortho)


def _scaled_spectrum(x: Any, length: Any, type: int, ortho: bool) -> Any:
    spectrum = fit(rfft_op(fit(x, (2 * length,), _LAST), axes=_LAST, norm="backward"), (length,), _LAST)
    return real_op(multiply(spectrum, cosine_scales(length, type=type, ortho=ortho, dtype=spectrum.dtype)))


def _type_3(x: Any, ortho: bool) -> Any:
    length = size_along(x, -1)
    scales = cosine_scales(length, type=3, ortho=ortho, dtype=SPECTRUM_OF[x.dtype])
    spectrum = multiply(complex_op(x, zeros_like_op(x, dtype=x.dtype)), scales)
    signal = irfft_op(fit(spectrum, (length + 1,), _LAST), 2 * length, axes=_LAST, norm="backward")
    return fit(signal, (length,), _LAST)


def _type_4(x: Any, ortho: bool) -> Any:
    return strided_slice_op(_scaled_spectrum(x, 2 * size_along(x, -1), 4, ortho), index=_ODD)


_TRANSFORMS = {1: _type_1, 2: _type_2, 3: _type_3, 4: _type_4}
