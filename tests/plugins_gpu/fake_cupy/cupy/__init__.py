"""A stand-in for CuPy without a card: NumPy computes, and what CuPy does otherwise is done as CuPy does it.

It has only names, parameters and loops that CuPy 13.6 and 14.2 both have (``api.json``). Its arrays never become NumPy arrays by themselves, are
never scalars, take no host array as an operand, wrap indices round that are out of range, and belong to a card and to streams, which are checked.
Environment: ``FAKE_CUPY_CARDS`` (2; ``no-driver``, ``no-card``, a number), ``FAKE_CUPY_NVRTC=missing``, ``FAKE_CUPY_IMPORT=broken``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as _np

if os.environ.get("FAKE_CUPY_IMPORT") == "broken":
    raise ImportError("libcudart.so.12: cannot open shared object file: No such file or directory")

from cupy import _functions, cuda
from cupy._api import API as _API
from cupy._api import missing as _missing
from cupy._api import words as _words
from cupy._array import array, ndarray
from cupy._ufuncs import UFUNCS as _UFUNCS
from cupy._ufuncs import ufunc

__version__ = "13.6.0"
__all__ = ["array", "cuda", "ndarray", "ufunc"]

_OF_NUMPY = _words(
    "e euler_gamma inf nan newaxis pi dtype finfo iinfo can_cast promote_types issubdtype isscalar broadcast_shapes ndindex min_scalar_type "
    "bool_ generic number integer signedinteger unsignedinteger inexact floating complexfloating int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float16 float32 float64 complex64 complex128 byte short intc int_ intp longlong ubyte ushort uintc uint uintp ulonglong half single double "
    "csingle cdouble"
)

for _name in _API["modules"]["cupy"]:
    _thing = _UFUNCS.get(_name) or _functions.FUNCTIONS.get(_name) or _functions.__dict__.get(_name)
    if _thing is None and _name in _OF_NUMPY:
        _thing = getattr(_np, _name)
    if _thing is not None and _name not in globals():
        globals()[_name] = _thing


def __getattr__(name: str) -> Any:
    if name in ("linalg", "fft", "lib"):
        import importlib

        return importlib.import_module(f"cupy.{name}")
    return _missing("cupy", name)
