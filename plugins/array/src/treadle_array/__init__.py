"""Kernels written once against NumPy's API, as functions of the array module."""
