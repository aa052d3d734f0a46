"""Kernels that only a CPU has, or has a better way for: they go before those of treadle-array."""

from treadle_cpu.kernels import (
    cross_entropy,
    extremes,
    factorizations,
    linear_systems,
    matrix_functions,
    moments,
    randomness,
    softmax,
    special,
    transposing,
    tridiagonal,
)

__all__ = [
    "cross_entropy",
    "extremes",
    "factorizations",
    "linear_systems",
    "matrix_functions",
    "moments",
    "randomness",
    "softmax",
    "special",
    "transposing",
    "tridiagonal",
]
