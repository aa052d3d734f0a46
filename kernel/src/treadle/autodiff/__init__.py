"""Automatic differentiation: tapes, the reverse sweep, custom gradients, jacobians (the namespace ``td.autodiff``)."""

from treadle.autodiff.tape import GradientTape

__all__ = ["GradientTape"]
