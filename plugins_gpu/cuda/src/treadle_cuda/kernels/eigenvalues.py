"""Eigenvalues of matrices that are not symmetric, which CuPy has from version 14 on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.declare import kernel
from treadle.errors import KernelNotFoundError
from treadle_array.kernels import eigenvalues


@kernel("eig")
def eig(xp: Any) -> Any:
    """See the op."""
    return _from_version_14(xp, "eig", eigenvalues.eig)


@kernel("eigvals")
def eigvals(xp: Any) -> Any:
    """See the op."""
    return _from_version_14(xp, "eigvals", eigenvalues.eigvals)


def _from_version_14(xp: Any, name: str, factory: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    if not hasattr(xp.linalg, name):
        raise KernelNotFoundError(
            f"no kernel for op {name!r} on a GPU: CuPy {xp.__version__} has no linalg.{name}, version 14 does. Run it on /CPU:0"
        )
    return factory(xp)
