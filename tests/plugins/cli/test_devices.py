"""``treadle devices``."""

from __future__ import annotations

import pytest

from treadle import settings
from treadle.contracts.device import Availability, Device
from treadle.registry import registry


@pytest.fixture
def absent_device():
    """A device type of which this machine has none."""

    class Absent(Device):
        type = "ABSENT"

        @classmethod
        def probe(cls):
            return Availability(0, "no card [of this kind] is here")

    before = dict(registry.devices)
    with registry.transaction("test"):
        registry.add_device(Absent)
    yield
    registry.devices = before


def test_the_cpu_is_there_with_what_it_is_and_its_memory(treadle):
    shown = treadle("devices")
    assert shown.exit_code == 0
    (row,) = [line for line in shown.stdout.splitlines() if "/CPU:0 " in line and "peak" in line]
    assert "cpu" in row
    assert f"default device: {settings.current().device} " in shown.stdout


def test_a_type_without_a_device_says_why(treadle, absent_device):
    shown = treadle("devices", width=120)
    (row,) = [line.split() for line in shown.stdout.splitlines() if "ABSENT" in line]
    assert row[:3] == ["ABSENT", "0", "test"]
    assert "none here: no card [of this kind] is here" in shown.stdout
