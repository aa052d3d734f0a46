"""The host processor: a buffer is a C-contiguous ``numpy.ndarray``."""

from __future__ import annotations

import os
import platform
from typing import Any

import numpy as np

from treadle.contracts.device import Availability, Device, MemoryInfo
from treadle.dtypes import DType


class CpuDevice(Device):
    """The CPU through NumPy. There is one, with index 0."""

    type = "CPU"
    array_type = np.ndarray

    @classmethod
    def probe(cls) -> Availability:
        """One, always."""
        return Availability(1)

    @property
    def array_module(self) -> Any:
        """NumPy."""
        return np

    def copy_in(self, array: Any) -> Any:
        """A copy of a host array."""
        return np.array(array, order="C")

    def copy_out(self, buffer: Any) -> Any:
        """The buffer itself: it is a host array."""
        return buffer

    def normalize(self, buffer: Any) -> Any:
        """NumPy's scalars as rank-0 arrays."""
        return np.asarray(buffer)

    def allocate(self, shape: tuple[int, ...], dtype: DType) -> Any:
        """An uninitialised array."""
        return np.empty(shape, dtype.numpy)

    def memory_info(self) -> MemoryInfo:
        """The resident memory of the process, in bytes; (0, 0) where the system does not tell."""
        try:
            import resource
        except ImportError:
            return MemoryInfo(0, 0)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if platform.system() == "Darwin" else 1024)
        try:
            with open("/proc/self/statm") as file:
                current = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            current = peak
        return MemoryInfo(current, max(peak, current))

    def details(self) -> dict[str, Any]:
        """The processor's name and the number of its cores."""
        return {"device_name": platform.processor() or platform.machine(), "cores": os.cpu_count()}
