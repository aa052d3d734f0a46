"""Views with any strides."""

from __future__ import annotations

from typing import Any

import numpy as np

from cupy._array import ndarray, view
from cupy._functions import require_array


def as_strided(x: Any, shape: Any = None, strides: Any = None) -> ndarray:
    """A view; nothing checks that it stays inside the memory."""
    host = require_array(x, "x")._host
    return view(
        x, np.lib.stride_tricks.as_strided(host, x.shape if shape is None else tuple(shape), x.strides if strides is None else tuple(strides))
    )


def sliding_window_view(x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False) -> ndarray:
    """See NumPy."""
    return view(require_array(x, "x"), np.lib.stride_tricks.sliding_window_view(x._host, window_shape, axis, writeable=writeable))
