"""Automatic differentiation: tapes, the reverse sweep, custom gradients, jacobians (the namespace ``td.autodiff``)."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if not name[:1].isupper():  # its own modules are found by the import system
        raise AttributeError(f"module 'treadle.autodiff' has no attribute {name!r}")
    from treadle import public

    return public.lookup(f"autodiff.{name}")
