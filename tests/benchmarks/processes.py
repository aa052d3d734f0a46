"""What a fresh process and an installation cost."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import sysconfig
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
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    imports, totals = [], []
    for _ in range(runs + 1):
        text = subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True, env=environment).stdout
        imports.append([float(v) for v in text.split()])
        import time

        start = time.clock_gettime(time.CLOCK_MONOTONIC)
        end = float(subprocess.run([sys.executable, "-c", _WHOLE], capture_output=True, text=True, check=True, env=environment).stdout)
        totals.append((end - start) * 1e3)
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


def installed_size() -> list[Row]:
    """The size of our own packages, sources without bytecode, and of the whole environment."""
    ours = 0
    for package in ("treadle", "treadle_ops", "treadle_array", "treadle_cpu", "treadle_passes"):
        folder = Path(__import__(package).__file__).parent
        ours += sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and "__pycache__" not in f.parts)
    site = Path(sysconfig.get_paths()["purelib"])
    whole = sum(f.stat().st_size for f in site.rglob("*") if f.is_file() and not f.is_symlink())
    return [
        Row("kernel, ops, array, cpu and passes, installed", ours / 1e6, 3.0, "MB", "without bytecode"),
        Row("this environment's site-packages", whole / 1e6, None, "MB", "with the test tools, if they are installed"),
    ]
