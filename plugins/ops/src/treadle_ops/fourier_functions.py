"""TensorFlow's Fourier transforms: over the last one, two or three axes, over any axes, and the shifts that put frequency 0 in the middle."""

from __future__ import annotations

from typing import Any

from treadle.declare import public
from treadle.dtypes import complex64, float32, int32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.tensor import Tensor
from treadle_ops.arguments import axes_argument, shape_argument, tensor, tensor_argument
from treadle_ops.broadcasting import shape_op
from treadle_ops.called_function import subject
from treadle_ops.division import floordiv
from treadle_ops.elementwise import multiply
from treadle_ops.extremes import maximum, minimum
from treadle_ops.fourier import fft_op, fit, half, irfft_op, rfft_op, size_along
from treadle_ops.joining import unstack_op
from treadle_ops.reordering import roll_op

Axes = tuple[int, ...]


# ---------------------------------------------------------------------- what they share


def lengths_argument(fft_length: Any, count: int) -> list[Any]:
    """The lengths of a transform over so many axes, each an int or a scalar tensor.

    Raises:
        ShapeError: there are not so many.
        InvalidArgumentError: one is negative.
    """
    given = shape_argument(fft_length)
    if isinstance(given, Tensor):
        given = unstack_op(given, num=count, axis=0)
    if len(given) != count:
        raise ShapeError(f"{subject()}fft_length has {len(given)} numbers; expected {count}, one per axis of the transform")
    if any(type(n) is int and n < 0 for n in given):
        raise InvalidArgumentError(f"{subject()}fft_length must be non-negative, got {list(given)}")
    return list(given)


def _fitted(x: Any, fft_length: Any, axes: Axes) -> Any:
    """The input with its axes cut or continued to the lengths asked for."""
    _require_rank(x, len(axes))
    return x if fft_length is None else fit(x, lengths_argument(fft_length, len(axes)), axes)


def _require_rank(x: Any, count: int) -> None:
    if x.dims is not None and len(x.dims) < count:
        raise ShapeError(f"{subject()}the input has rank {len(x.dims)}; a transform over {count} axes needs rank {count} or more")


def _to_spectrum(input_tensor: Any, fft_length: Any, axes: Axes, norm: str = "backward") -> Any:
    x = tensor_argument(input_tensor, hint=float32)
    return rfft_op(_fitted(x, fft_length, axes), axes=axes, norm=norm)


def _to_signal(input_tensor: Any, fft_length: Any, axes: Axes, norm: str = "backward") -> Any:
    x = tensor_argument(input_tensor, hint=complex64)
    _require_rank(x, len(axes))
    if fft_length is None:
        last = size_along(x, axes[-1])
        length = max(0, 2 * (last - 1)) if type(last) is int else maximum(0, 2 * (last - 1))
        spectrum = x
    else:
        *others, length = lengths_argument(fft_length, len(axes))
        spectrum = fit(x, [*others, half(length) if type(length) is int else length // 2 + minimum(length, 1)], axes)
    if type(length) is int and length <= 0 and x.dims is not None and 0 not in x.dims:
        raise InvalidArgumentError(f"{subject()}fft_length[-1] must be greater than 0, got {length}")
    return irfft_op(spectrum, length, axes=axes, norm=norm)


def _last(rank: int) -> Axes:
    return tuple(range(-rank, 0))


_WORDS = {1: "axis", 2: "two axes", 3: "three axes"}


def _complex_transform(name: str, rank: int, inverse: bool) -> Any:
    def function(input: Any, name: str | None = None) -> Any:
        return fft_op(input, axes=_last(rank), inverse=inverse, norm="backward")

    kind = "inverse discrete Fourier transform" if inverse else "discrete Fourier transform"
    scale = "; divided by the number of elements of one transform" if inverse else ""
    return _named(
        function,
        name,
        f"""The {kind} over the last {_WORDS[rank]}{scale}.

    Args:
        input: rank {rank} or more, complex.
        name: ignored.

    Returns:
        The shape and dtype of ``input``.

    Raises:
        ShapeError: the rank is less than {rank}.
        DTypeError: the input is not complex.

    Sources:
        TensorFlow ``tf.signal.{name}``.
    """,
    )


def _real_transform(name: str, rank: int, inverse: bool) -> Any:
    apply = _to_signal if inverse else _to_spectrum

    def function(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
        return apply(input_tensor, fft_length, _last(rank))

    if inverse:
        summary = f"The real signal whose discrete Fourier transform over the last {_WORDS[rank]} has the given half."
        argument, result = (
            "complex, with the half ``n // 2 + 1`` of the frequencies along the last axis",
            "real, with length ``n`` along the last axis",
        )
        default = "by default as the input is, with ``2 * (frequencies - 1)`` along the last axis"
    else:
        summary = f"The discrete Fourier transform of a real signal over the last {_WORDS[rank]}, without the half that follows from the other."
        argument, result = "float32 or float64", "complex, with ``length // 2 + 1`` frequencies along the last axis"
        default = "by default as the input is"
    return _named(
        function,
        name,
        f"""{summary}

    Args:
        input_tensor: rank {rank} or more, {argument}.
        fft_length: {rank} of them: the lengths of the signal, to which the input is cut or continued with zeros; {default}.
        name: ignored.

    Returns:
        {result[0].upper()}{result[1:]}.

    Raises:
        ShapeError: the rank is less than {rank}, or there are not {rank} lengths.
        DTypeError: the input has another dtype.
        InvalidArgumentError: a length is negative{" or the last is 0" if inverse else ""}.

    Sources:
        TensorFlow ``tf.signal.{name}``.
    """,
    )


def _named(function: Any, name: str, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return public(f"signal.{name}")(function)


fft = _complex_transform("fft", 1, inverse=False)
fft2d = _complex_transform("fft2d", 2, inverse=False)
fft3d = _complex_transform("fft3d", 3, inverse=False)
ifft = _complex_transform("ifft", 1, inverse=True)
ifft2d = _complex_transform("ifft2d", 2, inverse=True)
ifft3d = _complex_transform("ifft3d", 3, inverse=True)
rfft = _real_transform("rfft", 1, inverse=False)
rfft2d = _real_transform("rfft2d", 2, inverse=False)
rfft3d = _real_transform("rfft3d", 3, inverse=False)
irfft = _real_transform("irfft", 1, inverse=True)
irfft2d = _real_transform("irfft2d", 2, inverse=True)
irfft3d = _real_transform("irfft3d", 3, inverse=True)


# ---------------------------------------------------------------------- over any axes


def _any_axes(x: Any, axes: Any) -> Axes:
    given = axes_argument(axes, "axes")
    if given is not None:
        return given
    if x.dims is None:
        raise InvalidArgumentError("axes must be given for an input whose rank is not known while tracing")
    return tuple(range(len(x.dims)))


def _norm(norm: str | None) -> str:
    if norm not in (None, "backward", "ortho", "forward"):
        raise InvalidArgumentError(f"norm {norm!r} is not known; expected None, 'backward', 'ortho' or 'forward'")
    return norm or "backward"


def _over_axes(x: Any, fft_length: Any, axes: Any, norm: str | None, inverse: bool) -> Any:
    x = tensor_argument(x, hint=complex64)
    places = _any_axes(x, axes)
    return fft_op(_fitted(x, fft_length, places), axes=places, inverse=inverse, norm=_norm(norm))


@public("signal.fftnd")
def fftnd(input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None) -> Any:
    """The discrete Fourier transform of complex numbers over any axes.

    Args:
        input_tensor: any shape, complex.
        fft_length: one per axis: lengths to which the input is cut or continued with zeros; by default as it is.
        axes: a list of ints; all axes by default.
        norm: ``"backward"``, the default, scales nothing; ``"ortho"`` divides by the root of the number of elements of one transform,
            and ``"forward"`` by that number.
        name: ignored.

    Returns:
        The lengths asked for along ``axes``, of the dtype of ``input_tensor``.

    Raises:
        ShapeError: there are not as many lengths as axes.
        InvalidArgumentError: an axis is out of range or named twice, or there is no such ``norm``.
        DTypeError: the input is not complex.

    Sources:
        TensorFlow ``tf.signal.fftnd``.
    """
    return _over_axes(input_tensor, fft_length, axes, norm, inverse=False)


@public("signal.ifftnd")
def ifftnd(input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None) -> Any:
    """The inverse discrete Fourier transform of complex numbers over any axes.

    Args:
        input_tensor: any shape, complex.
        fft_length: one per axis: lengths to which the input is cut or continued with zeros; by default as it is.
        axes: a list of ints; all axes by default.
        norm: ``"backward"``, the default, divides by the number of elements of one transform, ``"ortho"`` by its root, ``"forward"`` by nothing.
        name: ignored.

    Returns:
        The lengths asked for along ``axes``, of the dtype of ``input_tensor``.

    Raises:
        ShapeError: there are not as many lengths as axes.
        InvalidArgumentError: an axis is out of range or named twice, or there is no such ``norm``.
        DTypeError: the input is not complex.

    Sources:
        TensorFlow ``tf.signal.ifftnd``.
    """
    return _over_axes(input_tensor, fft_length, axes, norm, inverse=True)


@public("signal.rfftnd")
def rfftnd(input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None) -> Any:
    """The discrete Fourier transform of real numbers over any axes, without the half that follows from the other.

    Args:
        input_tensor: rank 1 or more, float32 or float64.
        fft_length: one per axis: lengths to which the input is cut or continued with zeros; by default as it is.
        axes: a list of ints; all axes by default. The last of them is the halved one.
        norm: as of ``td.signal.fftnd``.
        name: ignored.

    Returns:
        The lengths asked for along ``axes``, ``length // 2 + 1`` along the last of them; complex.

    Raises:
        ShapeError: there are not as many lengths as axes, or the input is a scalar.
        InvalidArgumentError: an axis is out of range or named twice, or there is no such ``norm``.
        DTypeError: the input has another dtype.

    Sources:
        TensorFlow ``tf.signal.rfftnd``.
    """
    x = tensor_argument(input_tensor, hint=float32)
    return _to_spectrum(x, fft_length, _some_axes(x, axes), _norm(norm))


@public("signal.irfftnd")
def irfftnd(input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None) -> Any:
    """The real signal whose discrete Fourier transform over any axes has the given half.

    Args:
        input_tensor: rank 1 or more, complex, with ``n // 2 + 1`` frequencies along the last of ``axes``.
        fft_length: one per axis: the lengths of the signal; by default as the input is, and ``2 * (frequencies - 1)`` for the last.
        axes: a list of ints; all axes by default.
        norm: as of ``td.signal.ifftnd``.
        name: ignored.

    Returns:
        The lengths asked for along ``axes``; real.

    Raises:
        ShapeError: there are not as many lengths as axes, or the input is a scalar.
        InvalidArgumentError: an axis is out of range or named twice, the last length is 0, or there is no such ``norm``.
        DTypeError: the input is not complex.

    Sources:
        TensorFlow ``tf.signal.irfftnd``.
    """
    x = tensor_argument(input_tensor, hint=complex64)
    return _to_signal(x, fft_length, _some_axes(x, axes), _norm(norm))


def _some_axes(x: Any, axes: Any) -> Axes:
    places = _any_axes(x, axes)
    if not places:
        raise ShapeError("a real transform needs at least one axis")
    return places


@public("fftnd")
def raw_fftnd(input: Any, fft_length: Any, axes: Any, name: str | None = None) -> Any:
    """``td.signal.fftnd`` with lengths and axes given.

    Args:
        input: any shape, complex.
        fft_length: one per axis.
        axes: a list of ints.
        name: ignored.

    Returns:
        The lengths asked for along ``axes``, of the dtype of ``input``.

    Sources:
        TensorFlow ``tf.fftnd``.
    """
    return fftnd(input, fft_length, axes)


@public("ifftnd")
def raw_ifftnd(input: Any, fft_length: Any, axes: Any, name: str | None = None) -> Any:
    """``td.signal.ifftnd`` with lengths and axes given.

    Args:
        input: any shape, complex.
        fft_length: one per axis.
        axes: a list of ints.
        name: ignored.

    Returns:
        The lengths asked for along ``axes``, of the dtype of ``input``.

    Sources:
        TensorFlow ``tf.ifftnd``.
    """
    return ifftnd(input, fft_length, axes)


@public("rfftnd")
def raw_rfftnd(input: Any, fft_length: Any, axes: Any, Tcomplex: Any = complex64, name: str | None = None) -> Any:
    """``td.signal.rfftnd`` with lengths and axes given.

    Args:
        input: rank 1 or more, float32 or float64.
        fft_length: one per axis.
        axes: a list of ints.
        Tcomplex: ignored; the dtype of the result follows from that of ``input``.
        name: ignored.

    Returns:
        The lengths asked for along ``axes``, ``length // 2 + 1`` along the last of them; complex.

    Sources:
        TensorFlow ``tf.rfftnd``.
    """
    return rfftnd(input, fft_length, axes)


@public("irfftnd")
def raw_irfftnd(input: Any, fft_length: Any, axes: Any, Treal: Any = float32, name: str | None = None) -> Any:
    """``td.signal.irfftnd`` with lengths and axes given.

    Args:
        input: rank 1 or more, complex.
        fft_length: one per axis.
        axes: a list of ints.
        Treal: ignored; the dtype of the result follows from that of ``input``.
        name: ignored.

    Returns:
        The lengths asked for along ``axes``; real.

    Sources:
        TensorFlow ``tf.irfftnd``.
    """
    return irfftnd(input, fft_length, axes)


# ---------------------------------------------------------------------- shifts


def _shifted(x: Any, axes: Any, sign: int) -> Any:
    x = tensor(x)
    if axes is None and x.dims is None:
        return roll_op(x, multiply(floordiv(shape_op(x, out_type=int32), 2), sign), axis=None)
    places = _any_axes(x, axes)
    if not places:
        return x
    if x.dims is not None and any(not -len(x.dims) <= a < len(x.dims) for a in places):
        raise InvalidArgumentError(f"{subject()}axes {list(places)} are out of range for a tensor of rank {len(x.dims)}")
    halves = [sign * (size_along(x, a) // 2) for a in places]
    return roll_op(x, tuple(halves) if all(type(h) is int for h in halves) else halves, axis=places)


@public("signal.fftshift")
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """A spectrum rolled so that frequency 0 stands in the middle.

    Args:
        x: any shape, any dtype.
        axes: an int or a list of ints; all axes by default.
        name: ignored.

    Returns:
        The shape and dtype of ``x``.

    Raises:
        InvalidArgumentError: an axis is out of range.

    Sources:
        TensorFlow ``tf.signal.fftshift``.
    """
    return _shifted(x, axes, 1)


@public("signal.ifftshift")
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """A spectrum with frequency 0 in the middle rolled back so that it stands first.

    Args:
        x: any shape, any dtype.
        axes: an int or a list of ints; all axes by default.
        name: ignored.

    Returns:
        The shape and dtype of ``x``.

    Raises:
        InvalidArgumentError: an axis is out of range.

    Sources:
        TensorFlow ``tf.signal.ifftshift``.
    """
    return _shifted(x, axes, -1)
