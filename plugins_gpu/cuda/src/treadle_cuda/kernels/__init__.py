"""Kernels for which CuPy needs something else than NumPy: they go before those of treadle-array."""

from treadle_cuda.kernels import division, row_sums, scatter_extremes, special

__all__ = ["division", "row_sums", "scatter_extremes", "special"]
