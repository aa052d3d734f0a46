"""Kernels that only a CPU has, or has a better way for: they go before those of treadle-array."""

from treadle_cpu.kernels import cross_entropy, extremes, randomness, softmax, special, transposing

__all__ = ["cross_entropy", "extremes", "randomness", "softmax", "special", "transposing"]
