"""One CUDA GPU through CuPy; a buffer is a C-contiguous ``cupy.ndarray``, work goes to the device's own stream.

CuPy is imported when a GPU is asked for, never before: it is heavy, may be missing, and imports without a card but raises on first use.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from treadle.contracts.device import Availability, Device, MemoryInfo
from treadle.dtypes import DType
from treadle.errors import DeviceError

_INSTALL = "install a wheel that fits the driver: `pip install treadle[cuda12x]` or `pip install treadle[cuda13x]`"


class GpuDevice(Device):
    """The GPU of one index."""

    type = "GPU"

    def __init__(self, index: int) -> None:
        super().__init__(index)
        import cupy

        self._cupy = cupy
        self._process = os.getpid()
        self.array_type = cupy.ndarray
        self._peak = 0
        with cupy.cuda.Device(index):
            self._pool = cupy.cuda.MemoryPool()
            self.stream = cupy.cuda.Stream(non_blocking=True)

    @classmethod
    def probe(cls) -> Availability:
        """How many cards there are; without one, whether the wheel, the driver or the card is missing."""
        try:
            import cupy
        except ModuleNotFoundError as error:
            return Availability(0, f"{error}: {_INSTALL}")
        except Exception as error:
            return Availability(0, f"CuPy cannot be imported: {type(error).__name__}: {error}; {_INSTALL}")
        try:
            count = int(cupy.cuda.runtime.getDeviceCount())
        except Exception as error:  # CUDARuntimeError: no driver, a driver too old, no card
            return Availability(0, f"CuPy {cupy.__version__} is installed, but CUDA says {type(error).__name__}: {error}")
        return Availability(count, "" if count else "CUDA finds no card")

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Make this card and its stream the current ones."""
        if os.getpid() != self._process:
            raise DeviceError(f"{self.name} was opened before fork(); CUDA cannot be used in the child. Start processes with the 'spawn' method")
        with self._cupy.cuda.Device(self.index), self.stream, self._cupy.cuda.using_allocator(self._pool.malloc):
            yield

    @property
    def array_module(self) -> Any:
        """CuPy."""
        return self._cupy

    def bind(self, factory: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
        """The kernel, each call of it on this card and its stream."""
        kernel = factory(self._cupy)

        @functools.wraps(kernel, updated=())
        def on_card(*args: Any, **kwargs: Any) -> Any:
            with self.active():
                return kernel(*args, **kwargs)

        return on_card

    def copy_in(self, array: Any) -> Any:
        """A copy of a host array in the card's memory."""
        with self.active():
            buffer = self._cupy.array(np.ascontiguousarray(array).reshape(np.shape(array)))
            self._note()
            return buffer

    def copy_out(self, buffer: Any) -> Any:
        """A copy on the host, when everything before it is done."""
        with self.active():
            return self._cupy.asnumpy(buffer, stream=self.stream)

    def copy_from(self, buffer: Any, source: Device) -> Any:
        """From another card directly, from elsewhere through the host."""
        if isinstance(source, GpuDevice):
            source.synchronize()
            with self.active():
                return self._cupy.array(buffer)
        return self.copy_in(source.copy_out(buffer))

    def normalize(self, buffer: Any) -> Any:
        """CuPy gives arrays always; what comes from the host, such as the key of a random draw, is copied in."""
        return buffer if isinstance(buffer, self.array_type) else self.copy_in(buffer)

    def allocate(self, shape: tuple[int, ...], dtype: DType) -> Any:
        """An uninitialised array."""
        with self.active():
            return self._cupy.empty(shape, dtype.numpy)

    def synchronize(self) -> None:
        """Wait for the stream."""
        self.stream.synchronize()

    def _note(self) -> None:
        self._peak = max(self._peak, int(self._pool.used_bytes()))

    def memory_info(self) -> MemoryInfo:
        """Bytes of the pool in use, and the most seen at a copy or a question."""
        self._note()
        return MemoryInfo(int(self._pool.used_bytes()), self._peak)

    def reset_memory_stats(self) -> None:
        """Start the highest figure again."""
        self._peak = int(self._pool.used_bytes())

    def details(self) -> dict[str, Any]:
        """The card's name, compute capability and memory in bytes."""
        properties = self._cupy.cuda.runtime.getDeviceProperties(self.index)
        name = properties["name"]
        return {
            "device_name": name.decode() if isinstance(name, bytes) else name,
            "compute_capability": (properties["major"], properties["minor"]),
            "memory": properties["totalGlobalMem"],
        }

    def close(self) -> None:
        """Wait for the stream, and give the pool's free memory back."""
        self.synchronize()
        self._pool.free_all_blocks()
