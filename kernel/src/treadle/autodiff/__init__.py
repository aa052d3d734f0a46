"""Automatic differentiation: tapes, the reverse sweep, custom gradients, jacobians (the namespace ``td.autodiff``)."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "GradientTape":
        from treadle.autodiff.tape import GradientTape

        return GradientTape
    raise AttributeError(f"module 'treadle.autodiff' has no attribute {name!r}")
