"""What CuPy has beyond NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from cupy._api import missing
from cupy._ufuncs import ufunc

rsqrt = ufunc("cupyx.rsqrt", lambda x: 1 / np.sqrt(x))


def scatter_add(a: Any, slices: Any, value: Any) -> None:
    """``add.at``."""
    a.scatter_add(slices, value)


def scatter_max(a: Any, slices: Any, value: Any) -> None:
    """``maximum.at``."""
    a.scatter_max(slices, value)


def scatter_min(a: Any, slices: Any, value: Any) -> None:
    """``minimum.at``."""
    a.scatter_min(slices, value)


def __getattr__(name: str) -> Any:
    missing("cupyx", name)
