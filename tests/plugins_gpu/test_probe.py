"""How many GPUs there are and, if none, why: in one line that says what to do."""

from __future__ import annotations

import importlib.util

import pytest

from treadle.errors import DeviceError

without_cupy = pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed here")

PROBE = """
    from treadle_cuda.device import GpuDevice
    print(*GpuDevice.probe(), sep="|")
"""


@without_cupy
def test_without_a_wheel_the_reason_is_the_missing_module_and_how_to_install_it(child):
    count, reason = child(PROBE, stand_in=False).split("|")
    assert count == "0"
    assert reason.startswith("No module named 'cupy': install a wheel")
    assert "treadle[cuda12x]" in reason


def test_a_wheel_that_cannot_be_imported_is_told_from_a_missing_one(child):
    count, reason = child(PROBE, FAKE_CUPY_IMPORT="broken").split("|")
    assert count == "0"
    assert reason.startswith("CuPy cannot be imported: ImportError: libcudart.so.12: cannot open shared object file")


@pytest.mark.parametrize(
    ("cards", "said"),
    [
        ("no-driver", "CUDA says CUDARuntimeError: cudaErrorInsufficientDriver"),
        ("no-card", "CUDA says CUDARuntimeError: cudaErrorNoDevice"),
        ("0", "CUDA finds no card"),
    ],
)
def test_without_a_driver_or_a_card_the_reason_says_which(td, monkeypatch, cards, said):
    from treadle_cuda.device import GpuDevice

    monkeypatch.setenv("FAKE_CUPY_CARDS", cards)
    count, reason = GpuDevice.probe()
    assert count == 0
    assert reason.startswith("CuPy 13.6.0 is installed, but ")
    assert said in reason


def test_a_card_without_the_toolkit_cannot_compile_kernels(td, monkeypatch):
    from treadle_cuda.device import GpuDevice

    monkeypatch.setenv("FAKE_CUPY_NVRTC", "missing")
    count, reason = GpuDevice.probe()
    assert count == 0
    assert "the CUDA toolkit is not" in reason
    assert "libnvrtc.so.12" in reason


@pytest.mark.parametrize("cards", ["1", "2", "8"])
def test_cards_are_counted(td, monkeypatch, cards):
    from treadle_cuda.device import GpuDevice

    monkeypatch.setenv("FAKE_CUPY_CARDS", cards)
    assert tuple(GpuDevice.probe()) == (int(cards), "")


def test_the_list_of_physical_devices_has_every_card(td):
    assert [d.name for d in td.config.list_physical_devices("GPU")] == ["/physical_device:GPU:0", "/physical_device:GPU:1"]


def test_asking_for_a_card_that_is_not_there_says_how_many_are(td):
    with (
        pytest.raises(DeviceError, match=r"/GPU:7: device type 'GPU' \(plugin 'cuda', treadle-cuda .*\) has 2 device\(s\) here"),
        td.device("/GPU:7"),
    ):
        pass


@without_cupy
def test_asking_for_a_gpu_without_a_wheel_says_so_and_the_cpu_works_on(child):
    said = child(
        """
        import treadle as td
        try:
            with td.device("/GPU:0"):
                pass
        except td.errors.InvalidArgumentError as error:
            print(error)
        print(float(td.add(1.0, 2.0)))
        """,
        stand_in=False,
    )
    assert "is installed but not usable here: No module named 'cupy'" in said
    assert said.endswith("3.0")


def test_nothing_imports_cupy_before_a_gpu_is_asked_for(child):
    said = child("import sys, treadle as td; td.function(lambda x: x + 1)(td.ones([2])); print('cupy' in sys.modules)")
    assert said == "False"
