"""Kernels that only a CPU has, or has a better way for: they go before those of treadle-array."""
