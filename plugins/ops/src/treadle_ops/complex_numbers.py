"""Complex numbers and their parts."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle.dtypes import complex64, complex128, float32
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import sum_like
from treadle_ops.casting import cast_op
from treadle_ops.comparison import less
from treadle_ops.creation import zeros_like
from treadle_ops.elementwise import divide_op, negative
from treadle_ops.flow import identity
from treadle_ops.inference import NUMERIC, elementwise, require_kind
from treadle_ops.masking import where_op


@op("complex", elementwise=True)
def complex_op(real: Spec, imag: Spec) -> Spec:
    """The complex numbers of these parts."""
    parts = elementwise(real, imag, kinds="f")
    if parts.dtype.size < 4:
        require_kind(Spec(parts.dims, parts.dtype), "", "real")
    return Spec(parts.dims, complex64 if parts.dtype is float32 else complex128)
