"""The plugin ``cpu.jit``: more kernels for the device type CPU. After adding one: ``make indexes``."""

from __future__ import annotations

from typing import Any

from treadle.hookspecs import hookimpl
from treadle_jit.index import KERNELS


@hookimpl
def treadle_register(registry: Any) -> None:
    """Register the kernels; LLVM is loaded when one of them first has work that is worth it."""
    registry.add_kernel_index(for_="CPU", index=KERNELS)
