"""What a fresh process and an installation cost."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Row

_IMPORT = """
import time
a = time.perf_counter(); import numpy
b = time.perf_counter(); import treadle as td
c = time.perf_counter(); td.add(td.constant([1.0]), td.constant([2.0]))
d = time.perf_counter()
print((b - a) * 1e3, (c - b) * 1e3, (d - c) * 1e3)
"""
_WHOLE = "import treadle as td; td.add(td.constant([1.0]), td.constant([2.0])); import time; print(time.clock_gettime(time.CLOCK_MONOTONIC))"


def start_up(runs: int = 11) -> list[Row]:
    """``import treadle`` beyond ``import numpy``, and a fresh process up to its first result."""
    imports, totals = [], []
    for _ in range(runs + 1):
        imports.append([float(v) for v in _printed(_IMPORT).split()])
        start = time.clock_gettime(time.CLOCK_MONOTONIC)
        totals.append((float(_printed(_WHOLE)) - start) * 1e3)
    numpy, treadle, first = (statistics.median(column) for column in zip(*imports[1:], strict=True))
    whole = statistics.median(totals[1:])
    return [
        Row("import treadle beyond import numpy", treadle, 40.0, "ms", f"import numpy {numpy:.1f} ms, first td.add {first:.1f} ms"),
        Row(
            "fresh process to the first td.add",
            whole,
            90.0,
            "ms",
            f"from the start of the interpreter, NumPy's import included; {min(totals):.1f} to {max(totals):.1f} ms",
        ),
    ]


def _printed(program: str) -> str:
    """What a program prints in a fresh process, where nothing is configured and bytecode is kept."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment, cwd=tempfile.gettempdir())
    return done.stdout


def _needed(*names: str) -> set[str]:
    """Distributions and all that they need, by name."""
    from importlib import metadata

    found: set[str] = set()
    waiting = list(names)
    while waiting:
        current = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        try:
            requirements = metadata.requires(current) or []
        except metadata.PackageNotFoundError:
            continue
        if current not in found:
            found.add(current)
            waiting += [re.match(r"[\w.-]+", r).group() for r in requirements if "extra ==" not in r]
    return found


def _size_of(name: str) -> int:
    """Bytes of a distribution's files."""
    from importlib import metadata

    return sum(f.locate().stat().st_size for f in metadata.files(name) or [] if f.locate().is_file() and "__pycache__" not in f.parts)


def installed_size() -> list[Row]:
    """The size of our own packages, sources without bytecode, and of the whole environment."""
    ours = 0
    for package in ("treadle", "treadle_ops", "treadle_array", "treadle_cpu", "treadle_jit", "treadle_passes"):
        folder = Path(__import__(package).__file__).parent
        ours += sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and "__pycache__" not in f.parts)
    others = sum(_size_of(name) for name in _needed("treadle-cli", "treadle-cpu", "treadle-ops", "treadle-passes") if not name.startswith("treadle"))
    command = Path(__import__("treadle_cli").__file__).parent
    whole = ours + sum(f.stat().st_size for f in command.rglob("*.[pn]*") if "__pycache__" not in f.parts) + others
    return [
        Row("kernel, ops, array, cpu, jit and passes, installed", ours / 1e6, 3.0, "MB", "without bytecode"),
        Row("what pip install treadle brings in all", whole / 1e6, None, "MB", "with NumPy, SciPy and the command's libraries"),
    ]
