"""Kernels that only a CPU has, or has a better way for: they go before those of treadle-array."""

from treadle_cpu.kernels import extremes, randomness, softmax, special, transposing

__all__ = ["extremes", "randomness", "softmax", "special", "transposing"]
