"""Kernels for which CuPy needs something else than NumPy: they go before those of treadle-array."""

from treadle_cuda.kernels import division, eigenvalues, row_sums, scatter_extremes, special

__all__ = ["division", "eigenvalues", "row_sums", "scatter_extremes", "special"]
