"""The CUDA runtime of a machine that the environment describes.

``FAKE_CUPY_CARDS``: a number of cards, ``no-driver`` or ``no-card``. ``FAKE_CUPY_NVRTC=missing``: the toolkit's compiler is not installed.
"""

from __future__ import annotations

import os
import threading
from typing import Any

_LOCAL = threading.local()
_used_by: list[int] = []
"""The process that used a card first: CUDA does not survive a fork."""


class CUDARuntimeError(RuntimeError):
    """What CUDA answers instead of doing it."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


def getDeviceCount() -> int:
    """How many cards there are."""
    cards = os.environ.get("FAKE_CUPY_CARDS", "2")
    if cards == "no-driver":
        raise CUDARuntimeError(35, "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version")
    if cards == "no-card":
        raise CUDARuntimeError(100, "cudaErrorNoDevice: no CUDA-capable device is detected")
    if _used_by and _used_by[0] != os.getpid():
        raise CUDARuntimeError(3, "cudaErrorInitializationError: initialization error")
    return int(cards)


def use() -> None:
    """Called by everything that needs a card."""
    if not getDeviceCount():
        raise CUDARuntimeError(100, "cudaErrorNoDevice: no CUDA-capable device is detected")
    if not _used_by:
        _used_by.append(os.getpid())


def getDevice() -> int:
    """The current card of this thread."""
    use()
    return int(getattr(_LOCAL, "device", 0))


def setDevice(device: int) -> None:
    """Make a card the current one of this thread."""
    use()
    if not 0 <= device < getDeviceCount():
        raise CUDARuntimeError(101, "cudaErrorInvalidDevice: invalid device ordinal")
    _LOCAL.device = device


def getDeviceProperties(device: int) -> dict[str, Any]:
    """A few of a card's properties."""
    use()
    if not 0 <= device < getDeviceCount():
        raise CUDARuntimeError(101, "cudaErrorInvalidDevice: invalid device ordinal")
    return {"name": b"Stand-in %d" % device, "major": 9, "minor": 0, "totalGlobalMem": 1 << 34, "multiProcessorCount": 1}


def driverGetVersion() -> int:
    """0 without a driver."""
    return 0 if os.environ.get("FAKE_CUPY_CARDS") == "no-driver" else 12090


def runtimeGetVersion() -> int:
    """12.9."""
    return 12090


def memGetInfo() -> tuple[int, int]:
    """Free and whole memory of the current card."""
    use()
    return (1 << 34, 1 << 34)
