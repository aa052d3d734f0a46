"""Which module declares what, so that each is imported when something of it is first asked for.

Written by ``make indexes``; a test keeps it fresh.
"""

from __future__ import annotations


KERNELS: dict[str, tuple[str, ...]] = {
    "treadle_jit.kernels.convolution": (
        "conv",
        "conv_backprop_filter",
        "conv_backprop_input",
    ),
}
"""Module to the names of the ops that it has kernels for."""
