"""The namespace ``td.config``: which devices there are and may be used, and their figures."""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle import devices, plugins
from treadle.errors import InvalidArgumentError
from treadle.registry import registry
from treadle.runtime import workers


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as ops see it."""

    name: str
    device_type: str


_visible: list[PhysicalDevice] | None = None
_soft_placement = True
_inter_op_threads = 0


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that this machine has, of all types or one."""
    plugins.host.load_group("treadle.devices")
    types = [t for t in sorted(registry.devices) if device_type is None or t == device_type.upper()]
    return [PhysicalDevice(f"/physical_device:{t}:{i}", t) for t in types for i in range(devices.probe(t).count)]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that may be used."""
    found = list_physical_devices() if _visible is None else _visible
    return [d for d in found if device_type is None or d.device_type == device_type.upper()]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Say which devices may be used.

    Raises:
        ValueError: one of them does not exist.
    """
    global _visible
    wanted = list(devices) if isinstance(devices, list | tuple) and not isinstance(devices, PhysicalDevice) else [devices] if devices else []
    known = list_physical_devices()
    for device in wanted:
        if device not in known:
            raise ValueError(f"{device!r} is not one of this machine's devices: {known}")
    others = [] if device_type is None else [d for d in get_visible_devices() if d.device_type != device_type.upper()]
    _visible = [*others, *wanted]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can run on."""
    return [LogicalDevice(f"/device:{d.device_type}:{d.name.rpartition(':')[2]}", d.device_type) for d in get_visible_devices(device_type)]


def get_soft_device_placement() -> bool:
    """Whether an op may run elsewhere than asked for; kept, and without effect until graphs are placed."""
    return _soft_placement


def set_soft_device_placement(enabled: bool) -> None:
    """See ``get_soft_device_placement``."""
    global _soft_placement
    _soft_placement = bool(enabled)


def get_memory_info(device: str) -> dict[str, int]:
    """Bytes that a device holds for tensors, now and at the highest."""
    info = devices.find(device).memory_info()
    return {"current": info.current, "peak": info.peak}


def reset_memory_stats(device: str) -> None:
    """Let the highest figure start again from what is in use."""
    devices.find(device).reset_memory_stats()


def get_device_details(device: Any) -> dict[str, Any]:
    """What a physical device says of itself."""
    if not isinstance(device, PhysicalDevice):
        raise InvalidArgumentError(f"get_device_details wants a PhysicalDevice, as list_physical_devices() gives it, not {device!r}")
    return devices.find(f"/{device.device_type}:{device.name.rpartition(':')[2]}").details()


def enable_op_determinism() -> None:
    """Same signature, same input, same bits: treadle's ops are deterministic always."""


def get_synchronous_execution() -> bool:
    """True: eager ops are done when they return."""
    return True


def set_synchronous_execution(enable: bool) -> None:
    """Without effect: ops are done when they return, always; see ``get_synchronous_execution``."""


def get_inter_op_parallelism_threads() -> int:
    """Threads for independent ops, as ``set_inter_op_parallelism_threads`` had it; 0 is treadle's choice."""
    return _inter_op_threads


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Kept, without effect: a function runs in its caller's thread."""
    global _inter_op_threads
    _inter_op_threads = int(num_threads)


def get_intra_op_parallelism_threads() -> int:
    """Threads inside one op, as ``set_intra_op_parallelism_threads`` had it; 0 is one per core of the process."""
    return workers.get_count()


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Say how many threads an op may use.

    Ops that treadle splits itself (depthwise convolutions, ...) follow it at once, with the same bits for any number. Matrix products are the array
    library's, which decides when it is loaded, by variables such as ``OPENBLAS_NUM_THREADS``.

    Args:
        num_threads: 1 for the caller's alone; 0, the default, for ``OMP_NUM_THREADS``, or one per core of the process where that is not set.

    Raises:
        ValueError: it is negative.
    """
    workers.set_count(int(num_threads))
