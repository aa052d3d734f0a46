"""Every name that the array kernels ask of their array module is one that CuPy has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
API = json.loads((ROOT / "tests/plugins_gpu/fake_cupy/cupy/api.json").read_text())
SOURCES = sorted([*(ROOT / "plugins/array/src").rglob("*.py"), *(ROOT / "plugins/ops/src/treadle_ops/host_kernels").glob("*.py")])
SOURCES += sorted((ROOT / "plugins_gpu/cuda/src").rglob("*.py"))
METHODS = {"reduce", "accumulate", "reduceat", "at", "outer"}
"""Of ufuncs; which of them CuPy has for which ufunc is what the stand-in plays."""

ONLY_WITH_NUMPY = {
    "logaddexp.accumulate",  # cumulative.py asks whether the module is NumPy
    "linalg.eig",  # CuPy 14 has both; treadle_cuda.kernels.eigenvalues refuses them before
    "linalg.eigvals",
}


def asked(path):
    """Dotted names after ``xp.`` in a source file."""
    return set(re.findall(r"\bxp\.([A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*)", path.read_text()))


def is_known(name):
    parts = name.split(".")
    if parts[0].startswith("__") or parts[-1].startswith("__"):
        return True
    for length in range(len(parts), 0, -1):
        module, leaf = ".".join(["cupy", *parts[: length - 1]]), parts[length - 1]
        if leaf in API["modules"].get(module, ()):
            if f"{module}.{leaf}" in API["modules"]:
                return length == len(parts) or parts[length] in API["modules"][f"{module}.{leaf}"]
            return all(rest in METHODS or rest in ("dtype", "shape", "real") for rest in parts[length:])
    return False


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_name_is_one_that_cupy_has(path):
    unknown = {name for name in asked(path) if not is_known(name)} - ONLY_WITH_NUMPY
    assert not unknown, f"CuPy {' and '.join(API['versions'])} do not both have {sorted(unknown)}"
