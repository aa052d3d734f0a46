"""``treadle devices``: every device type that a plugin offers, how many there are here and, if none, why."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from treadle import devices, settings
from treadle.errors import PluginError
from treadle.plugins import PluginWarning, host
from treadle.registry import registry
from treadle_cli.console import console, place, plain, size, table


class Found(NamedTuple):
    """One device, or a device type of which there is none."""

    name: str
    count: int
    plugin: str
    about: str
    memory: str


def load_devices() -> None:
    """Load every device plugin; one that fails is told of below the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)
        for record in host.records("treadle.devices"):
            try:
                host.load(record.group, record.name)
            except PluginError:
                continue


def find_all() -> list[Found]:
    """Every device of every type, opened to ask it what it is."""
    load_devices()
    found = []
    for device_type in sorted(registry.devices):
        available = devices.probe(device_type)
        plugin = registry.devices[device_type].plugin
        if not available.count:
            found.append(Found(device_type, 0, plugin, f"none here: {available.reason or 'its probe gives no reason'}", ""))
        found += [_describe(f"/{device_type}:{i}", available.count, plugin) for i in range(available.count)]
    return found


def _describe(name: str, count: int, plugin: str) -> Found:
    try:
        device = devices.find(name)
        about = "\n".join(f"{key}: {value}" for key, value in device.details().items())
        return Found(name, count, plugin, about, _memory(device))
    except Exception as error:  # a plugin's code
        return Found(name, count, plugin, f"cannot be opened: {type(error).__name__}: {error}", "")


def _memory(device: Any) -> str:
    info = device.memory_info()
    return f"{size(info.current)}, peak {size(info.peak)}" if info.peak else ""


def show() -> None:
    """Print all devices, and the default one."""
    out = console()
    rows = table("device", "count", "plugin", "about~", "memory in use", right=("count",))
    for found in find_all():
        style = "" if found.count else "dim"
        rows.add_row(*(plain(text, style) for text in (found.name, found.count, found.plugin, found.about, found.memory)))
    out.print(rows)
    if told := host.failures("treadle.devices"):
        out.print(plain(told, "red"), soft_wrap=True)
    current = settings.current()
    out.print(plain(f"default device: {current.device} ({place(current.origin['device.default'])})"))
