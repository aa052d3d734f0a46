"""Linear algebra. What has no answer gives NaN: cuSOLVER's complaint is not read unless ``cupyx.errstate(linalg="raise")`` asks for it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from cupy import _functions
from cupy._api import API, missing
from cupy._functions import matmul, require_array


class _Errors(threading.local):
    raised = False


ERRORS = _Errors()
LinAlgError = np.linalg.LinAlgError
_USED = {"cholesky", "inv", "solve"}
__all__ = ["LinAlgError", "cholesky", "inv", "matmul", "solve"]

globals().update(_functions.made([n for n in API["modules"]["cupy.linalg"] if n not in _USED and n != "LinAlgError"], "cupy.linalg", np.linalg))


def _each(function: Any, *arrays: Any) -> Any:
    """Matrix by matrix, NaN where NumPy refuses."""
    hosts = [require_array(a)._host for a in arrays]
    lead = np.broadcast_shapes(*[h.shape[:-2] for h in hosts])
    hosts = [np.broadcast_to(h, lead + h.shape[-2:]).reshape(-1, *h.shape[-2:]) for h in hosts]
    results = []
    for parts in zip(*hosts, strict=True):
        try:
            results.append(function(*parts))
        except LinAlgError as error:
            if ERRORS.raised:
                raise LinAlgError(
                    f"Error reported by {function.__name__} in cuSOLVER. devInfo = 1. Please refer to the cuSOLVER documentation."
                ) from error
            results.append(np.full(parts[-1].shape, np.nan, parts[-1].dtype))
    if not results:
        return _functions.fresh(np.empty(lead + hosts[-1].shape[-2:], hosts[-1].dtype), *arrays)
    return _functions.fresh(np.stack(results).reshape(*lead, *results[0].shape), *arrays)


def cholesky(a: Any) -> Any:
    """The lower factor."""
    return _each(np.linalg.cholesky, a)


def inv(a: Any) -> Any:
    """The inverse."""
    return _each(np.linalg.inv, a)


def solve(a: Any, b: Any) -> Any:
    """The solution of ``a x = b``; ``b`` is a vector where its rank is one less."""
    if b.ndim == a.ndim - 1:
        return _each(np.linalg.solve, a, b[..., None])[..., 0]
    return _each(np.linalg.solve, a, b)


def __getattr__(name: str) -> Any:
    return missing("cupy.linalg", name)
