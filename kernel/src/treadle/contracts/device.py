"""The device contract: memory, copies and, for those that can, compilation of graphs.

Registering a device never opens it. ``probe`` says how many there are and, if none, why; it does not raise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

from treadle.dtypes import DType


class Availability:
    """How many devices of a type this machine has and, if none, why."""

    __slots__ = ("count", "reason")

    def __init__(self, count: int, reason: str = "") -> None:
        self.count = count
        self.reason = reason

    def __iter__(self) -> Iterator[Any]:
        """``count, reason = availability``."""
        return iter((self.count, self.reason))

    def __repr__(self) -> str:
        return f"Availability({self.count}, {self.reason!r})"


class MemoryInfo(NamedTuple):
    """Bytes in use now and at the highest."""

    current: int
    peak: int


class Key:
    """A dispatch key: one device and one dtype, interned per device, compared by identity.

    Attributes:
        device: the device.
        dtype: of the elements.
        one: the scalar tensor 1, once something needed it.
        stand_ins: shape to the stand-in for tensors of that shape that a tape does not keep.
    """

    __slots__ = ("device", "dtype", "name", "one", "stand_ins")

    def __init__(self, device: Any, dtype: DType) -> None:
        self.device = device
        self.dtype = dtype
        self.name = f"{device.name}:{dtype.name}"
        self.one: Any = None
        self.stand_ins: dict[tuple[int, ...], Any] = {}

    def __repr__(self) -> str:
        return self.name


class Device:
    """One device of a type; subclasses say how its memory works.

    Attributes:
        type: upper-case device type, ``"GPU"``.
        index: which of that type.
        name: canonical, ``"/GPU:0"``.
        keys: dtype to the interned dispatch key.
        array_type: the class of this device's buffers.
    """

    type: ClassVar[str]
    array_type: Any = object

    def __init__(self, index: int) -> None:
        self.index = index
        self.name = f"/{self.type}:{index}"
        self.keys: dict[DType, Key] = {}

    def key(self, dtype: DType) -> Key:
        """The interned key of this device and ``dtype``."""
        key = self.keys.get(dtype)
        return self.keys.setdefault(dtype, Key(self, dtype)) if key is None else key

    @classmethod
    def probe(cls) -> Availability:
        """How many devices of this type there are; never raises."""
        return Availability(0, "probe is not implemented")

    @property
    def array_module(self) -> Any:
        """The NumPy-like module that array kernels are bound to; None when there is none."""
        return None

    def bind(self, factory: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
        """The callable that a declared kernel becomes here; a device that needs something around each call puts it there."""
        return factory(self.array_module)

    def holds(self, buffer: Any) -> bool:
        """Whether a buffer is this device's."""
        return isinstance(buffer, self.array_type)

    def copy_in(self, array: Any) -> Any:
        """A buffer with the content of a host array; the host array is not kept."""
        raise NotImplementedError

    def copy_out(self, buffer: Any) -> Any:
        """A host NumPy array with the buffer's content, which may share memory with the buffer."""
        raise NotImplementedError

    def copy_from(self, buffer: Any, source: Device) -> Any:
        """A buffer of this device with the content of another device's; by default through the host."""
        return self.copy_in(source.copy_out(buffer))

    def normalize(self, buffer: Any) -> Any:
        """Turn what a kernel returned into a buffer, as for the scalars that NumPy gives instead of rank-0 arrays."""
        return buffer

    def allocate(self, shape: tuple[int, ...], dtype: DType) -> Any:
        """An uninitialised buffer."""
        raise NotImplementedError

    def synchronize(self) -> None:
        """Wait until everything given to this device is done."""

    def memory_info(self) -> MemoryInfo:
        """Bytes in use now and at the highest since the last reset."""
        return MemoryInfo(0, 0)

    def reset_memory_stats(self) -> None:
        """Let the highest figure start again from what is in use now."""

    def details(self) -> dict[str, Any]:
        """What the device says of itself: its name, capability, driver."""
        return {}

    def compile(self, graph: Any) -> Any:
        """An executable for a graph, or None for the runtime's own plan."""
        return None

    def close(self) -> None:
        """Give up what the device holds."""

    def __repr__(self) -> str:
        return f"<device {self.name}>"
