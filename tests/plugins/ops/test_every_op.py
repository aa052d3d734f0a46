"""Every op of the plugin ``core`` keeps what it promises: contract, kernel and gradient agree (``td.testing``)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from treadle.plugins import host
from treadle.registry import registry
from treadle.testing import inspect_op


def _load(name):
    spec = importlib.util.spec_from_file_location(f"treadle_test_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


host.load_ops()
SAMPLES = _load("samples")
OPS = sorted(name for name, entry in registry.ops.items() if entry.plugin == "core" and not name.startswith(SAMPLES.LISTS))


@pytest.mark.parametrize("name", OPS)
def test_an_op_keeps_its_promises(name):
    found = SAMPLES.samples_of(name)
    assert found, f"op {name!r} has no samples; give it some in {Path(SAMPLES.__file__).name}"
    report = inspect_op(name, *found)
    assert report.is_good, str(report)
    if registry.op(name).gradient is not None and name not in SAMPLES.UNCHECKED_GRADIENTS:
        for order in (1, 2):
            kinds = [check for check in report.done if check.startswith(f"gradient of order {order}")]
            assert kinds, f"no sample of {name!r} reaches its gradient of order {order}"


def test_samples_are_of_ops_that_exist():
    named = {*SAMPLES.ELEMENTWISE, *SAMPLES.FUNCTIONS}
    assert named <= set(OPS)
    assert set(SAMPLES.UNCHECKED_GRADIENTS) <= set(OPS)
