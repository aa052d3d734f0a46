"""Kernels for the device type CPU that LLVM compiles for the processor at hand, where NumPy has no call that does the work at one go."""
