"""Exponentials, square roots and logarithms of matrices by SciPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle_array.kernels.matrix_functions import expm as expm_of_array
from treadle_array.kernels.matrix_functions import in_double
from treadle_array.matrices import back, square, widened

_FEW, _WIDE = 4, 48
"""Up to so many matrices, and from so many columns on, SciPy's exponential of one after the other beats an approximant of all together."""

_MOST = 100.0
"""The norm up to which SciPy is asked: it loses digits, in triangular matrices of large entries up to six, which float32 does not show."""


@kernel("expm")
def expm(xp: Any) -> Any:
    """See the op; short floats and float32 are computed in double precision."""
    together = expm_of_array(xp)

    def run(input: Any) -> Any:
        size, columns = square(input).size, input.shape[-1]
        if not size or input.dtype in (xp.float64, xp.complex128) or (size > _FEW * columns * columns and columns < _WIDE):
            return together(input)
        wide = in_double(xp, input)
        if not bool(xp.abs(wide).sum(axis=-2).max() <= _MOST):
            return together(input)
        from scipy.linalg import expm as exponential

        return exponential(wide).astype(input.dtype, order="C", copy=False)

    return run


def _each(function: Any, input: Any) -> Any:
    """A function of one matrix for each of many; what has no value of the dtype is NaN, and nothing warns."""
    wide = widened(np, square(input))
    result = np.empty(wide.shape, wide.dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for index in np.ndindex(wide.shape[:-2]):
            found = function(wide[index]) if np.isfinite(wide[index]).all() else np.nan
            is_lost = np.iscomplexobj(found) and not np.iscomplexobj(result) and np.abs(np.imag(found)).max() > 1e-6 * np.abs(found).max()
            result[index] = np.nan if is_lost else found if np.iscomplexobj(result) else np.real(found)
    return back(np, result, input)


@kernel("sqrtm")
def sqrtm(xp: Any) -> Any:
    """See the op."""
    from scipy.linalg import sqrtm as root

    return lambda input: _each(root, input) if input.size else square(input).copy()


@kernel("logm")
def logm(xp: Any) -> Any:
    """See the op."""
    from scipy.linalg import logm as logarithm

    return lambda input: _each(logarithm, input) if input.size else square(input).copy()
