"""Traced functions: signatures, traces, and the callables that stand for them."""
