"""A machine with two cards that are not there: the stand-in for CuPy in front of ``sys.path`` for as long as a test module needs it."""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
STAND_IN = HERE / "fake_cupy"
SECONDS_PER_TEST = 60


def forget_cupy():
    """Drop every imported module of CuPy or the stand-in."""
    for name in [n for n in sys.modules if n.split(".")[0] in ("cupy", "cupyx", "cupy_backends")]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def td():
    """treadle on a machine with two stand-in cards."""
    import treadle
    from treadle import devices
    from treadle.registry import open_devices

    forget_cupy()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(STAND_IN))
        patch.setenv("FAKE_CUPY_CARDS", "2")
        yield treadle
        gc.collect()
        for name in [n for n in open_devices if n.startswith("/GPU")]:
            devices.close(name)
    forget_cupy()


@pytest.fixture
def cards(td):
    """The stand-in's module ``cupy.cuda``; a test fails if it leaves a misuse behind."""
    import cupy

    cupy.cuda.violations.clear()
    yield cupy.cuda
    gc.collect()
    assert cupy.cuda.violations == []


@pytest.fixture(autouse=True)
def _bounded():
    """Fail a test that runs longer than its share."""

    def expired(signum, frame):
        raise TimeoutError(f"still running after {SECONDS_PER_TEST} s")

    previous = signal.signal(signal.SIGALRM, expired)
    signal.alarm(SECONDS_PER_TEST)
    with np.errstate(all="ignore"):
        yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)


@pytest.fixture(scope="session")
def run_on_card():
    """The script for real cards, as a module."""
    spec = importlib.util.spec_from_file_location("run_on_card", HERE / "run_on_card.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def child(tmp_path):
    """Run a program in a fresh interpreter: ``child(text, stand_in=True, **environment)`` gives back its standard output."""

    def run(program, stand_in=True, **environment):
        script = tmp_path / "program.py"
        script.write_text(textwrap.dedent(program))
        path = os.pathsep.join([str(STAND_IN)] if stand_in else [])
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, timeout=40, env={**os.environ, "PYTHONPATH": path, **environment}
        )
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr[-2000:]}"
        return done.stdout.strip()

    return run
