"""Kernels of ops that act on the host, the same for every device."""
