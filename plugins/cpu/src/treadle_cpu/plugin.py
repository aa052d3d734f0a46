"""The plugin ``cpu``: device type CPU, with the array kernels bound to NumPy. After adding a kernel: ``make indexes``."""

from __future__ import annotations

from typing import Any

from treadle.hookspecs import hookimpl
from treadle_array.index import KERNELS as ARRAY_KERNELS
from treadle_cpu.device import CpuDevice
from treadle_cpu.index import KERNELS


@hookimpl
def treadle_register(registry: Any) -> None:
    """Register the device, and the kernels that serve it."""
    registry.add_device(CpuDevice)
    registry.add_kernel_index(for_="array", index=ARRAY_KERNELS)
    registry.add_kernel_index(for_="CPU", index=KERNELS)
