"""Cards, streams and memory, with the rules that a real card does not check: who may touch which memory when.

Work on a stream gets a ticket. Memory remembers the ticket that wrote it and those that read it; whoever touches it from another stream must have
waited for them, by synchronizing or by an event. Memory on another card than the current one is refused.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

from cupy._api import missing
from cupy.cuda import nvrtc, runtime

__all__ = ["Device", "Event", "MemoryPointer", "MemoryPool", "Stream", "get_allocator", "get_current_stream", "get_elapsed_time", "nvrtc", "runtime"]

violations: list[str] = []
"""Every misuse, also those whose error a program swallowed, and memory that was freed while another stream still used it."""

_LOCAL = threading.local()
_CHUNK = 512


class MisuseError(Exception):
    """Memory was touched on the wrong card, or without waiting for what was done to it: a real card gives garbage, not an error."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        violations.append(message)


def is_available() -> bool:
    """Whether there is a card."""
    try:
        return runtime.getDeviceCount() > 0
    except runtime.CUDARuntimeError:
        return False


class Device:
    """A card; ``with`` makes it the current one."""

    def __init__(self, device: Any = None) -> None:
        self.id = runtime.getDevice() if device is None else int(device)

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return self.id

    def __enter__(self) -> Self:
        stack = _LOCAL.__dict__.setdefault("devices", [])
        stack.append(runtime.getDevice())
        try:
            runtime.setDevice(self.id)
        except BaseException:
            stack.pop()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        runtime.setDevice(_LOCAL.devices.pop())

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def use(self) -> Device:
        """Make it the current one."""
        runtime.setDevice(self.id)
        return self

    def synchronize(self) -> None:
        """Wait for all of its streams."""
        runtime.use()
        for stream in list(Stream.all):
            if stream.device_id in (self.id, -1):
                stream.synchronize()

    @property
    def compute_capability(self) -> str:
        """Major and minor version."""
        found = runtime.getDeviceProperties(self.id)
        return f"{found['major']}{found['minor']}"

    @property
    def mem_info(self) -> tuple[int, int]:
        """Free and whole memory."""
        return runtime.memGetInfo()

    def __getattr__(self, name: str) -> Any:
        return missing("cupy.cuda", name)


class Event:
    """A point on a stream."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        runtime.use()
        self._stream: Stream | None = None
        self._ticket = 0
        self._time = 0.0

    @property
    def done(self) -> bool:
        """Whether the stream got there."""
        return self._stream is None or self._stream.done_ticket >= self._ticket

    def record(self, stream: Stream | None = None) -> None:
        """Be here."""
        self._stream = stream or get_current_stream()
        self._ticket = self._stream.issued
        self._time = time.perf_counter()

    def synchronize(self) -> None:
        """Wait for it."""
        if self._stream is not None:
            self._stream.done_ticket = max(self._stream.done_ticket, self._ticket)


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two events that are done."""
    if not (start_event.done and end_event.done):
        raise runtime.CUDARuntimeError(600, "cudaErrorNotReady: device not ready")
    return (end_event._time - start_event._time) * 1000


class Stream:
    """A queue of work on the card that is current when it is made."""

    all: ClassVar[list[Stream]] = []
    null: Stream

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int | None = None) -> None:
        self.is_null = null
        self.device_id = -1 if null else runtime.getDevice()
        self.issued = self.done_ticket = 0
        self.waited: dict[Stream, int] = {}
        Stream.all.append(self)

    def __enter__(self) -> Self:
        current = runtime.getDevice()
        if self.device_id not in (-1, current):
            raise RuntimeError(f"The device that the stream is created on ({self.device_id}) does not match with the current device ({current})")
        _streams().append((current, self))
        return self

    def __exit__(self, *exc_info: object) -> None:
        _streams().pop()

    @property
    def ptr(self) -> int:
        """An address."""
        return 0 if self.is_null else id(self)

    @property
    def done(self) -> bool:
        """Whether all work is done."""
        return self.done_ticket >= self.issued

    def next_ticket(self) -> int:
        """One more piece of work."""
        self.issued += 1
        return self.issued

    def follows(self, stream: Stream, ticket: int) -> bool:
        """Whether what is done here now comes after a piece of work of a stream."""
        return stream is self or stream.done_ticket >= ticket or self.waited.get(stream, 0) >= ticket

    def synchronize(self) -> None:
        """Wait for all work."""
        runtime.use()
        self.done_ticket = self.issued

    def record(self, event: Event | None = None) -> Event:
        """An event here."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let what follows here wait for an event."""
        if event._stream is not None:
            self.waited[event._stream] = max(event._ticket, self.waited.get(event._stream, 0))

    def use(self) -> Stream:
        """Make it the current one."""
        _streams().append((runtime.getDevice(), self))
        return self


def _streams() -> list[tuple[int, Stream]]:
    return _LOCAL.__dict__.setdefault("streams", [])


def get_current_stream(device_id: int = -1) -> Stream:
    """The stream of a card that this thread uses."""
    wanted = runtime.getDevice() if device_id == -1 else device_id
    for device, stream in reversed(_streams()):
        if device == wanted:
            return stream
    return Stream.null


Stream.null = Stream(null=True)

# ---------------------------------------------------------------------- memory


class Block:
    """Memory on one card."""

    def __init__(self, nbytes: int, pool: MemoryPool | None) -> None:
        self.device_id = runtime.getDevice()
        self.nbytes = -(-nbytes // _CHUNK) * _CHUNK
        self.stream = get_current_stream()
        self.touched: dict[Stream, int] = {}
        self.written: tuple[Stream, int] = (self.stream, 0)
        self.pool = pool
        if pool is not None:
            pool.used[self.device_id] = pool.used.get(self.device_id, 0) + self.nbytes
            pool.most[self.device_id] = max(pool.most.get(self.device_id, 0), pool.used[self.device_id])

    def read(self, stream: Stream, ticket: int) -> None:
        """Refuse to be read on a stream that does not follow what wrote it."""
        self._require_here()
        if not stream.follows(*self.written):
            raise MisuseError("memory is read on a stream that did not wait for the one that wrote it")
        self.touched[stream] = ticket

    def write(self, stream: Stream, ticket: int) -> None:
        """Refuse to be written on a stream that does not follow all that touched it."""
        self._require_here()
        if not all(stream.follows(s, t) for s, t in (self.written, *self.touched.items())):
            raise MisuseError("memory is written on a stream that did not wait for those that use it")
        self.written = (stream, ticket)

    def _require_here(self) -> None:
        current = runtime.getDevice()
        if current != self.device_id:
            raise MisuseError(f"The device where the array resides ({self.device_id}) is different from the current device ({current}).")

    def __del__(self) -> None:
        if self.pool is not None:
            self.pool.used[self.device_id] -= self.nbytes
            for stream, ticket in (self.written, *self.touched.items()):
                if not self.stream.follows(stream, ticket):
                    violations.append(f"memory of card {self.device_id} was freed while another stream used it")


class MemoryPointer:
    """A place in memory."""

    def __init__(self, mem: Block, offset: int) -> None:
        self.mem = mem
        self.device_id = mem.device_id
        self.ptr = id(mem) + offset


class MemoryPool:
    """Memory that is used again. Its figures are those of the current card."""

    def __init__(self, allocator: Any = None) -> None:
        self.used: dict[int, int] = {}
        self.most: dict[int, int] = {}

    def malloc(self, size: int) -> MemoryPointer:
        """Some memory on the current card."""
        runtime.use()
        return MemoryPointer(Block(size, self), 0)

    def used_bytes(self) -> int:
        """Bytes in use on the current card."""
        return self.used.get(runtime.getDevice(), 0)

    def total_bytes(self) -> int:
        """Bytes taken from the current card."""
        return self.most.get(runtime.getDevice(), 0)

    def free_bytes(self) -> int:
        """Bytes taken and not in use."""
        return self.total_bytes() - self.used_bytes()

    def free_all_blocks(self, stream: Stream | None = None) -> None:
        """Give what is not in use back to the current card."""
        device = runtime.getDevice()
        self.most[device] = self.used.get(device, 0)


_default_pool = MemoryPool()


def get_allocator() -> Callable[[int], MemoryPointer]:
    """What this thread takes memory from."""
    return getattr(_LOCAL, "allocator", None) or _default_pool.malloc


@contextlib.contextmanager
def using_allocator(allocator: Any = None) -> Iterator[None]:
    """Take memory from elsewhere in this thread."""
    before = getattr(_LOCAL, "allocator", None)
    _LOCAL.allocator = allocator
    try:
        yield
    finally:
        _LOCAL.allocator = before


def alloc(size: int) -> MemoryPointer:
    """Some memory on the current card."""
    return get_allocator()(size)


def launch(reads: Any = (), writes: Any = ()) -> None:
    """One kernel on the current stream."""
    stream = get_current_stream()
    ticket = stream.next_ticket()
    for block in reads:
        block.read(stream, ticket)
    for block in writes:
        block.write(stream, ticket)


def __getattr__(name: str) -> Any:
    return missing("cupy.cuda", name)
