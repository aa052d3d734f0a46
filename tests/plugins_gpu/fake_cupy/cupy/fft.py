"""Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from cupy import _functions
from cupy._api import API, missing

globals().update(_functions.made([n for n in API["modules"]["cupy.fft"] if "freq" not in n and n != "config"], "cupy.fft", np.fft))


def fftfreq(n: int, d: float = 1.0) -> Any:
    """See NumPy."""
    return _functions.fresh(np.fft.fftfreq(n, d))


def rfftfreq(n: int, d: float = 1.0) -> Any:
    """See NumPy."""
    return _functions.fresh(np.fft.rfftfreq(n, d))


def __getattr__(name: str) -> Any:
    return missing("cupy.fft", name)
