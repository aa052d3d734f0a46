"""Kernels written once against NumPy's API, as functions of the array module; one module per subject, named as the ops' modules are."""

from treadle_array.kernels import activations, casting, creation, elementwise, flow, joining, losses, products, randomness, reductions, shaping

__all__ = ["activations", "casting", "creation", "elementwise", "flow", "joining", "losses", "products", "randomness", "reductions", "shaping"]
