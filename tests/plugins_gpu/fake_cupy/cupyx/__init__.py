"""What CuPy has beyond NumPy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from cupy import linalg
from cupy._api import missing
from cupy._ufuncs import ufunc

ERRORS = linalg.ERRORS
rsqrt = ufunc("cupyx.rsqrt", lambda x: 1 / np.sqrt(x))


@contextlib.contextmanager
def errstate(*, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None, linalg: Any = None) -> Iterator[None]:
    """Whether cuSOLVER's complaints raise."""
    if (divide, over, under, invalid) != (None,) * 4 or linalg not in (None, "ignore", "raise"):
        raise NotImplementedError
    before = ERRORS.raised
    ERRORS.raised = linalg == "raise"
    try:
        yield
    finally:
        ERRORS.raised = before


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
    return missing("cupyx", name)
