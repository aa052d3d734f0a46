"""Square roots and logarithms of matrices by SciPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from treadle.declare import kernel
from treadle_array.matrices import back, square, widened


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
