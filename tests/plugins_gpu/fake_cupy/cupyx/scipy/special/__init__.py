"""Special functions: SciPy computes, with CuPy's loops."""

from __future__ import annotations

from typing import Any

from cupy._api import API, missing
from cupy._ufuncs import ufunc

_MODULE = "cupyx.scipy.special"


def __getattr__(name: str) -> Any:
    path = f"{_MODULE}.{name}"
    if path not in API["ufuncs"]:
        missing(_MODULE, name)
    from scipy import special

    found = globals()[name] = ufunc(path, getattr(special, name))
    return found
