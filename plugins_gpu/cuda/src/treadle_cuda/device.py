"""One CUDA GPU through CuPy; a buffer is a C-contiguous ``cupy.ndarray``, work goes to the device's own stream and takes memory from its own pool.

CuPy is imported when a GPU is asked for, never before: it is heavy, may be missing, and imports without a card but raises on first use.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from treadle.contracts.device import Availability, Device, Key, MemoryInfo
from treadle.dtypes import DType
from treadle.errors import DeviceError, DTypeError

_INSTALL = "install a wheel that fits the driver: `pip install treadle[cuda12x]` or `pip install treadle[cuda13x]`"
_CODES = "?bBhHiIlLqQefdFD"
"""The dtypes that CuPy computes with, as NumPy's characters: bfloat16 and float8 are not among them."""


class GpuDevice(Device):
    """The GPU of one index."""

    type = "GPU"

    def __init__(self, index: int) -> None:
        super().__init__(index)
        import cupy
        import cupyx

        self._cupy = cupy
        self._process = os.getpid()
        self._card = cupy.cuda.Device(index)
        self._using = cupy.cuda.using_allocator
        self._errors = cupyx.errstate
        self.array_type = cupy.ndarray
        self._peak = 0
        with self._card:
            self._pool = cupy.cuda.MemoryPool()
            self.stream = cupy.cuda.Stream(non_blocking=True)

    @classmethod
    def probe(cls) -> Availability:
        """How many cards there are; without one, whether the wheel, the driver, the card or the CUDA toolkit is missing."""
        try:
            import cupy
        except ModuleNotFoundError as error:
            return Availability(0, f"{error}: {_INSTALL}")
        except Exception as error:
            return Availability(0, f"CuPy cannot be imported: {type(error).__name__}: {error}; {_INSTALL}")
        found = f"CuPy {cupy.__version__} is installed, but"
        try:
            count = int(cupy.cuda.runtime.getDeviceCount())
        except Exception as error:  # CUDARuntimeError: no driver, a driver too old, no card, or CUDA was used before fork()
            return Availability(0, f"{found} CUDA says {type(error).__name__}: {error}. `nvidia-smi` shows whether there are a driver and a card")
        if not count:
            return Availability(0, f"{found} CUDA finds no card")
        try:
            cupy.cuda.nvrtc.getVersion()  # compiles every kernel, and is loaded when the first one runs
        except Exception as error:
            return Availability(0, f"{found} the CUDA toolkit is not: {error}. Install it, or CuPy's wheel with the extra [ctk]")
        return Availability(count)

    # ------------------------------------------------------------------ whose turn it is

    def _require_own_process(self) -> None:
        if os.getpid() != self._process:
            raise DeviceError(f"{self.name} was opened before fork(); CUDA cannot be used in the child. Start processes with the 'spawn' method")

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Make this card, its stream and its memory the current ones of the thread, and cuSOLVER's complaints errors, which are ignored otherwise."""
        self._require_own_process()
        with self._card, self.stream, self._using(self._allocate), self._errors(linalg="raise"):
            yield

    @property
    def array_module(self) -> Any:
        """CuPy."""
        return self._cupy

    def bind(self, factory: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
        """The kernel, or a whole plan, each call of it on this card and its stream."""
        with self.active():
            kernel = factory(self._cupy)
        current_stream, stream = self._cupy.cuda.get_current_stream, self.stream

        @functools.wraps(kernel, updated=())
        def on_card(*args: Any, **kwargs: Any) -> Any:
            for value in kwargs.values():
                if type(value) is DType:
                    self._require_known(value)
            self._require_own_process()
            if current_stream() is stream:  # inside a plan: nothing to switch
                return kernel(*args, **kwargs)
            with self.active():
                return kernel(*args, **kwargs)

        return on_card

    # ------------------------------------------------------------------ dtypes

    def key(self, dtype: DType) -> Key:
        """The interned key of this device and ``dtype``.

        Raises:
            DTypeError: CuPy has no such dtype.
        """
        key = self.keys.get(dtype)
        if key is None:
            self._require_known(dtype)
            key = super().key(dtype)
        return key

    def _require_known(self, dtype: DType) -> None:
        while dtype.kind == "l":
            dtype = dtype.element
        host = dtype.numpy
        if host.isbuiltin != 1 or host.char not in _CODES:
            raise DTypeError(
                f"{self.name} has no {dtype.name}: CuPy does not compute with it. Use td.cast to float16 or float32, or run this on /CPU:0"
            )

    # ------------------------------------------------------------------ copies

    def holds(self, buffer: Any) -> bool:
        """Whether a buffer is this card's."""
        return isinstance(buffer, self.array_type) and buffer.device.id == self.index

    def copy_in(self, array: Any) -> Any:
        """A copy of a host array in the card's memory."""
        host = np.asarray(array)
        if host.dtype.isbuiltin != 1:
            from treadle.dtypes import as_dtype

            self._require_known(as_dtype(host.dtype))
        with self.active():
            return self._cupy.array(np.ascontiguousarray(host).reshape(host.shape))

    def copy_out(self, buffer: Any) -> Any:
        """A copy on the host, when everything before it is done."""
        with self.active():
            return self._cupy.asnumpy(buffer, stream=self.stream)

    def copy_from(self, buffer: Any, source: Device) -> Any:
        """From another card directly, from elsewhere through the host."""
        if not isinstance(source, GpuDevice):
            return self.copy_in(source.copy_out(buffer))
        source.synchronize()
        with self.active():
            copied = self._cupy.array(buffer)
            self.stream.synchronize()  # else the source could be freed, and its memory used again, while it is read
        return copied

    def normalize(self, buffer: Any) -> Any:
        """CuPy gives arrays always; what comes from the host, such as the key of a random draw, is copied in."""
        return buffer if isinstance(buffer, self.array_type) else self.copy_in(buffer)

    def allocate(self, shape: tuple[int, ...], dtype: DType) -> Any:
        """An uninitialised array."""
        self._require_known(dtype)
        with self.active():
            return self._cupy.empty(shape, dtype.numpy)

    def synchronize(self) -> None:
        """Wait for the stream."""
        self._require_own_process()
        self.stream.synchronize()

    # ------------------------------------------------------------------ memory

    def _allocate(self, size: int) -> Any:
        memory = self._pool.malloc(size)
        self._peak = max(self._peak, int(self._pool.used_bytes()))
        return memory

    def _used(self) -> int:
        self._require_own_process()
        with self._card:  # the pool's figures are those of the current card
            return int(self._pool.used_bytes())

    def memory_info(self) -> MemoryInfo:
        """Bytes of the pool in use, in its chunks of 512, and the most that were."""
        return MemoryInfo(self._used(), self._peak)

    def reset_memory_stats(self) -> None:
        """Start the highest figure again."""
        self._peak = self._used()

    def details(self) -> dict[str, Any]:
        """The card's name, compute capability and memory in bytes."""
        self._require_own_process()
        properties = self._cupy.cuda.runtime.getDeviceProperties(self.index)
        name = properties["name"]
        return {
            "device_name": name.decode() if isinstance(name, bytes) else name,
            "compute_capability": (properties["major"], properties["minor"]),
            "memory": properties["totalGlobalMem"],
        }

    def close(self) -> None:
        """Wait for the stream, and give the pool's free memory back; in a forked child there is nothing to do."""
        if os.getpid() != self._process:
            return
        with self._card:
            self.stream.synchronize()
            self._pool.free_all_blocks()
