"""Kernels for the device type CPU, one module per subject."""
