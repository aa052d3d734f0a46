"""The plugin ``cpu``: device type CPU, with the array kernels bound to NumPy."""

from __future__ import annotations

from typing import Any

from treadle.hookspecs import hookimpl
from treadle_cpu.device import CpuDevice


@hookimpl
def treadle_register(registry: Any) -> None:
    """Register the device, and the kernels that serve it."""
    registry.add_device(CpuDevice)
    registry.add_kernels(for_="array", module="treadle_array.kernels")
    registry.add_kernels(for_="CPU", module="treadle_cpu.kernels")
