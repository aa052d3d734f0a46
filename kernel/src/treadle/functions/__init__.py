"""Traced functions: signatures, traces, and the callables that stand for them."""

from treadle.functions import control_gradients as control_gradients  # it says how branches, loops and calls are differentiated
