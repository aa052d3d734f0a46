"""The device type CPU: array kernels bound to NumPy and SciPy, and what only a CPU does."""
