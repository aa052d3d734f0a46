"""The device type GPU: array kernels bound to CuPy, and what only a card does."""
