"""Programs over two devices, the second of which keeps its memory in NumPy arrays too."""

from __future__ import annotations

import pytest

import treadle as td
from treadle import devices
from treadle.registry import registry
from treadle_cpu.device import CpuDevice


@pytest.fixture
def other():
    class Other(CpuDevice):
        type = "OTHER"

    with registry.transaction("other"):
        registry.add_device(Other)
    yield "/OTHER:0"
    devices.close("/OTHER:0")
    del registry.devices["OTHER"]


def test_what_a_function_captures_stays_on_its_device(other):
    with td.device(other):
        there = td.constant([1.0, 2.0])
    assert (there + 1).device == other
    f = td.function(lambda: there + 1)
    assert f().device == other
    assert td.function(lambda x: x + there)(td.constant(1.0)).device == other
    devices.close(other)
    for call in (lambda: there + 1, f):
        with pytest.raises(ValueError, match="/OTHER:0, which was closed"):
            call()


def test_a_device_that_cannot_be_opened_names_its_plugin():
    class Broken(CpuDevice):
        type = "BROKEN"

        def __init__(self, index):
            raise ValueError("no memory on the board")

    class Leaves(CpuDevice):
        type = "LEAVES"

        @classmethod
        def probe(cls):
            raise SystemExit(3)

    with registry.transaction("boards"):
        registry.add_device(Broken)
        registry.add_device(Leaves)
    try:
        cannot = r"/BROKEN:0 \(plugin 'boards'.*cannot be opened: ValueError: no memory on the board"
        with pytest.raises(td.errors.DeviceError, match=cannot), td.device("/BROKEN:0"):
            td.constant(1.0)
        with pytest.raises(td.errors.DeviceError, match="not usable here: its probe raised SystemExit: 3"), td.device("/LEAVES:0"):
            td.constant(1.0)
    finally:
        del registry.devices["BROKEN"], registry.devices["LEAVES"]
