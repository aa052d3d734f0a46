"""Kernels of ops that act on the host, the same for every device."""

from treadle_ops.host_kernels import assertions, printing, python_calls, random_keys

__all__ = ["assertions", "printing", "python_calls", "random_keys"]
