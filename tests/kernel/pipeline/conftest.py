"""These tests run where no op plugin is: with the kernel alone installed, or in a process that has the others switched off."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import treadle as td
from treadle import plugins

collect_ignore_glob = ["test_*.py"] if any(not r.disabled for r in plugins.host.records("treadle.ops")) else []


def _load_toy():
    spec = importlib.util.spec_from_file_location("treadle_toy", Path(__file__).with_name("toy.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["treadle_toy"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def toy():
    """The toy plugin, registered once."""
    from treadle.registry import registry

    module = _load_toy()
    module.register(registry)
    return module


@pytest.fixture
def tf(toy):
    """The module under test with the toy ops registered."""
    return td
