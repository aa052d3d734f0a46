"""The plugin ``cuda``: device type GPU, with the array kernels bound to CuPy."""

from __future__ import annotations

from typing import Any

from treadle.hookspecs import hookimpl
from treadle_cuda.device import GpuDevice


@hookimpl
def treadle_register(registry: Any) -> None:
    """Register the device, and what of CuPy differs from NumPy."""
    registry.add_device(GpuDevice)
    registry.add_kernels(for_="GPU", module="treadle_cuda.kernels")
