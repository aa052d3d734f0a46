"""Discrete cosine transforms of types 1 to 4 over the last axis, by Fourier transforms of real numbers."""

from __future__ import annotations

from typing import Any

from treadle.conversion import convert_to_tensor
from treadle.declare import HostSpec, op, public
from treadle.contracts.spec import Spec
from treadle.dims import Dim
from treadle.dtypes import DType, float32
from treadle.errors import InvalidArgumentError, UnimplementedError
from treadle_ops.arguments import static_value
from treadle_ops.complex_numbers import complex_op, real_op
from treadle_ops.creation import zeros_like_op
from treadle_ops.elementwise import multiply
from treadle_ops.fourier import SPECTRUM_OF, fit, irfft_op, rfft_op, size_along
from treadle_ops.joining import concat_op
from treadle_ops.slicing import strided_slice_op

_LAST = (-1,)
_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
_ELLIPSIS_THEN_BACK = (Ellipsis, (-2, 0, -1))


@op("cosine_scales")
def cosine_scales(length: HostSpec, *, type: int, ortho: bool, dtype: DType) -> Spec:
    """What turns the spectrum of a signal into its cosine transform (types 2 and 4), or the other way round (type 3)."""
    return Spec((Dim.symbol() if length.value is None else length.value,), dtype)
