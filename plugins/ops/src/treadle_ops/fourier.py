"""Discrete Fourier transforms over any axes, of complex and of real numbers, and their gradients.

The adjoint of a transform is the opposite one with the scale moved to the other direction, so the gradients of these ops are the same ops again. In
the half of a spectrum that a real transform keeps, every frequency but the first, and the last of an even length, stands for two. The public
functions are in ``fourier_functions``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, gradient, op
from treadle.dims import Dim, Size
from treadle.dtypes import DType, complex64, complex128, float32, float64, int32
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle_ops.broadcasting import axis_size
from treadle_ops.creation import ones_op
from treadle_ops.elementwise import multiply, subtract
from treadle_ops.inference import length_of, normalize_axis, require_kind
from treadle_ops.joining import concat_op
from treadle_ops.shaping import reshape_op
from treadle_ops.sizes import rank_op

SPECTRUM_OF = {float32: complex64, float64: complex128}
SIGNAL_OF = {complex64: float32, complex128: float64}
OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
"""Which direction of a pair of transforms is scaled; for the adjoint it is the other one."""


def _places(x: Spec, axes: tuple[int, ...]) -> list[int]:
    """The axes counted from the front, in their order.

    Raises:
        ShapeError: there are not so many axes, or one is named twice.
    """
    assert x.dims is not None
    if len(axes) > len(x.dims):
        raise ShapeError(f"the input of shape {x.shape} has rank {len(x.dims)}; a transform over {len(axes)} axes needs rank {len(axes)} or more")
    places = [normalize_axis(a, len(x.dims), "axes") for a in axes]
    if len(set(places)) != len(places):
        raise InvalidArgumentError(f"axes {list(axes)} name an axis twice; give each axis once")
    return places


def half(length: Size) -> Size:
    """How many frequencies the transform of a real signal of that length keeps."""
    return 0 if length == 0 else sizes.add(sizes.floordiv(length, 2), 1)


@op("fft")
def fft_op(x: Spec, *, axes: tuple[int, ...], inverse: bool, norm: str) -> Spec:
    """The transform of complex numbers over axes."""
    dtype = require_kind(x, "c", "input")
    if x.dims is not None:
        _places(x, axes)
    return Spec(x.dims, dtype)


@op("rfft")
def rfft_op(x: Spec, *, axes: tuple[int, ...], norm: str) -> Spec:
    """The transform of real numbers over axes, without the half along the last of them that follows from the other."""
    dtype = SPECTRUM_OF.get(x.dtype)
    if dtype is None:
        raise DTypeError(f"input has dtype {x.dtype.name}; a real transform takes float32 or float64. Use td.cast to convert it.")
    if x.dims is None:
        return Spec(None, dtype)
    dims = list(x.dims)
    last = _places(x, axes)[-1]
    dims[last] = half(dims[last])
    return Spec(tuple(dims), dtype)


@op("irfft")
def irfft_op(x: Spec, length: HostSpec, *, axes: tuple[int, ...], norm: str) -> Spec:
    """The inverse of ``rfft``, for a signal of that length along the last of the axes."""
    dtype = SIGNAL_OF.get(x.dtype)
    if dtype is None:
        raise DTypeError(f"input has dtype {x.dtype.name}; an inverse real transform takes complex64 or complex128. Use td.cast to convert it.")
    if x.dims is None:
        return Spec(None, dtype)
    dims = list(x.dims)
    last = _places(x, axes)[-1]
    wanted = Dim.symbol() if length.value is None else length.value
    if sizes.known_different(dims[last], half(wanted)):
        raise ShapeError(f"a signal of length {wanted} has {half(wanted)} frequencies; the input of shape {x.shape} has {dims[last]}")
    dims[last] = wanted
    return Spec(tuple(dims), dtype)


@op("spectrum_weights")
def spectrum_weights(length: HostSpec, *, paired: float, dtype: DType) -> Spec:
    """1 for the frequencies of a real signal that stand for themselves, and ``paired`` for those that stand for two."""
    return Spec((half(length_of(length, "a length")),), dtype)


@op("fit_axes", aliases=True)
def fit_axes(x: Spec, lengths: HostSpec, *, axes: tuple[int, ...]) -> Spec:
    """Axes cut at their end, or continued with zeros, to given lengths."""
    if x.dims is None:
        return Spec(None, x.dtype)
    if lengths.dims is not None and (len(lengths.dims) != 1 or sizes.known_different(lengths.dims[0], len(axes))):
        raise ShapeError(f"lengths of shape {lengths.shape} are given for {len(axes)} axes; give one for each")
    dims = list(x.dims)
    known = (Dim.symbol(),) * len(axes) if lengths.value is None else lengths.value
    for place, length in zip(_places(x, axes), known, strict=True):
        if isinstance(length, int) and length < 0:
            raise InvalidArgumentError(f"a length must be 0 or more, got {length}")
        dims[place] = length
    return Spec(tuple(dims), x.dtype)


@gradient(fft_op)
def _(ctx: Any, g: Any) -> Any:
    return fft_op(g, axes=ctx.axes, inverse=not ctx.inverse, norm=OPPOSITE[ctx.norm])


@gradient(rfft_op)
def _(ctx: Any, g: Any) -> Any:
    last = ctx.axes[-1]
    length = size_along(ctx.inputs[0], last)
    return irfft_op(_weighted(g, length, last, 0.5), length, axes=ctx.axes, norm=OPPOSITE[ctx.norm])


@gradient(irfft_op)
def _(ctx: Any, g: Any) -> Any:
    return _weighted(rfft_op(g, axes=ctx.axes, norm=OPPOSITE[ctx.norm]), ctx.inputs[1], ctx.axes[-1], 2.0), None


@gradient(fit_axes)
def _(ctx: Any, g: Any) -> Any:
    return fit(g, [size_along(ctx.inputs[0], a) for a in ctx.axes], ctx.axes), None


def _weighted(spectrum: Any, length: Any, axis: int, paired: float) -> Any:
    """A half spectrum with the frequencies that stand for two multiplied."""
    weights = spectrum_weights(length, paired=paired, dtype=spectrum.dtype)
    return multiply(spectrum, along_axis(weights, spectrum, axis))


def along_axis(vector: Any, x: Any, axis: int) -> Any:
    """A vector with as many axes of size 1 behind it as stand behind an axis of ``x``, so that it broadcasts along that axis."""
    if axis == -1:
        return vector
    if axis >= 0 and x.dims is None:
        behind = ones_op([subtract(rank_op(x), axis + 1)], dtype=int32)
        return reshape_op(vector, concat_op([[-1], behind], axis=0))
    behind = -1 - axis if axis < 0 else len(x.dims) - 1 - axis
    return reshape_op(vector, (-1,) + (1,) * behind)


def size_along(x: Any, axis: int) -> Any:
    """The size of an axis: an int where it is known, else a scalar tensor."""
    size = None if x.dims is None else x.dims[axis]
    return size if type(size) is int else axis_size(x, axis=axis)


def fit(x: Any, lengths: Sequence[Any], axes: tuple[int, ...]) -> Any:
    """A tensor with axes cut or continued with zeros, where that is not known to change nothing."""
    if x.dims is not None and all(type(n) is int and x.dims[a] == n for n, a in zip(lengths, axes, strict=True)):
        return x
    return fit_axes(x, tuple(lengths) if all(type(n) is int for n in lengths) else list(lengths), axes=axes)
