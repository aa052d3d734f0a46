"""Kernels written once against NumPy's API, as functions of the array module; one module per subject, named as the ops' modules are."""
