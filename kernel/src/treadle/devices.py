"""Device names and the devices that are open.

Canonical names are ``/CPU:0`` and ``/GPU:0``; ``CPU:0``, ``/device:cpu:0``, ``cpu`` and TensorFlow's
``/job:localhost/replica:0/task:0/device:CPU:0`` are accepted.
"""

from __future__ import annotations

import re
import threading
from typing import Any, NamedTuple

from treadle import plugins, settings, state
from treadle.contracts.device import Availability, Device
from treadle.errors import DeviceError, InvalidArgumentError
from treadle.registry import open_devices, registry

_NAME = re.compile(r"(?:/?job:[^/]*)?(?:/?replica:[^/]*)?(?:/?task:[^/]*)?/?(?:device:)?([a-z_]+)(?::(\d+|\*))?", re.IGNORECASE)
_lock = threading.RLock()


class DeviceName(NamedTuple):
    """A parsed name; ``number`` is 0 when the name has none."""

    type: str
    number: int

    def __str__(self) -> str:
        return f"/{self.type}:{self.number}"


def parse(name: str) -> DeviceName:
    """Read a device name in any accepted form.

    Raises:
        InvalidArgumentError: it is not a device name.
    """
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        raise InvalidArgumentError(f"{name!r} is not a device name; write it like '/CPU:0' or '/GPU:1'")
    index = match.group(2)
    return DeviceName(match.group(1).upper(), 0 if index in (None, "*") else int(index))


def find(name: str) -> Device:
    """The open device of that name, opening it if need be.

    Raises:
        DeviceError: there is no such device type, or no such device here; the message says why.
    """
    device = open_devices.get(name)
    return device if device is not None else _open(parse(name))


def default() -> Device:
    """The device for ops without inputs and outside ``td.device``."""
    device: Device | None = state.LOCAL.device
    if device is not None:
        return device
    name = settings.current().device
    return open_devices.get(name) or _find_configured(name)


def _find_configured(name: str) -> Device:
    try:
        return find(name)
    except (DeviceError, ValueError) as error:
        origin = settings.current().origin["device.default"]
        if origin == "default":
            raise
        raise DeviceError(f"{settings.heading(origin, 'device')}: default is {name!r}: {error}") from error


def _open(name: DeviceName) -> Device:
    with _lock:
        device = open_devices.get(str(name))
        if device is not None:
            return device
        plugins.host.load_for_device(name.type)
        entry = registry.devices.get(name.type)
        if entry is None:
            known = ", ".join(sorted(registry.devices)) or "none"
            raise DeviceError(
                f"no plugin offers the device type {name.type!r}; device types: {known}. {plugins.host.failures('treadle.devices')}".rstrip()
            )
        available = probe(name.type)
        if name.number >= available.count:
            where = f"device type {name.type!r} (plugin {entry.plugin!r}, {plugins.host.distribution_of(entry.plugin)})"
            if available.count == 0:
                raise DeviceError(f"{where} is installed but not usable here: {available.reason}")
            raise DeviceError(f"{name}: {where} has {available.count} device(s) here, numbered from 0")
        try:
            opened: Device = entry.value(name.number)
        except Exception as error:
            where = f"{name} (plugin {entry.plugin!r}, {plugins.host.distribution_of(entry.plugin)})"
            raise DeviceError(f"{where} cannot be opened: {type(error).__name__}: {error}") from error
        open_devices[opened.name] = opened
        try:
            registry.import_kernels(opened)
        except BaseException:
            del open_devices[opened.name]
            raise
        plugins.host.call("treadle_device_opened", device=opened)
        return opened


def probe(device_type: str) -> Availability:
    """How many devices of a type there are; a probe that raises counts as none, with the reason."""
    try:
        return Availability(*registry.devices[device_type].value.probe())
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # the contract says that a probe does not raise, but it is a plugin's code; it may even call sys.exit
        return Availability(0, f"its probe raised {type(error).__name__}: {error}")


def close(name: str) -> None:
    """Close a device; its tensors cannot be used any more."""
    device = open_devices.pop(str(parse(name)), None)
    if device is not None:
        device.close()
        registry.invalidate()


def _after_fork() -> None:
    """A thread that is gone in the child may have held the lock."""
    global _lock
    _lock = threading.RLock()


state.after_fork(_after_fork)


class device:
    """Place what has no inputs, and what is created, on a device: ``with td.device("/GPU:0"): ...``.

    Args:
        device_name: a device name, or None for the default device.
    """

    def __init__(self, device_name: str | None) -> None:
        self._name = device_name
        self._outer: list[Any] = []
        if device_name is not None:
            parse(device_name)

    def __enter__(self) -> None:
        chosen = None if self._name is None else find(self._name)
        self._outer.append(state.LOCAL.device)
        state.enter()
        state.LOCAL.device = chosen

    def __exit__(self, *exc_info: object) -> None:
        state.LOCAL.device = self._outer.pop()
        state.leave()
