"""SciPy's functions for CuPy."""
