"""Measure every kernel against the best plain NumPy or SciPy expression with the same results: ``python tests/benchmarks/kernels.py [name...]``.

Both run in turn in one process, and the results are compared first. As hundreds of lines take minutes, and the machine may have more to do than this,
the rounds are short, and the figure is the ratio of the rounds that were disturbed least. A line that misses its limit is measured again, twice at
most, and its best figure stands. Names choose ops by a part of theirs.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import expressions_axes  # noqa: F401 - importing declares the lines
import expressions_elementwise  # noqa: F401
import expressions_images  # noqa: F401
import expressions_matrices  # noqa: F401
import expressions_places  # noqa: F401
import numpy as np
from expressions import TABLE, Line
from measure import Row, ratio, seconds

import treadle as td
from treadle import plugins
from treadle.registry import registry

ROUND = 1e-3
"""Seconds that a round of one side takes, about: too short for most rounds to be interrupted by what else runs."""

ROUNDS = 31
AGAIN = 2


def call_of(name: str, line: Line) -> Callable[[], Any]:
    """The eager call of the op on tensors."""
    op: Any = registry.op(name).entry

    def tensor_of(x: Any) -> Any:
        if isinstance(x, list):
            return [tensor_of(y) for y in x]
        return td.constant(x) if isinstance(x, np.ndarray | np.generic) else x

    inputs, attrs = [tensor_of(x) for x in line.inputs], line.attrs
    return lambda: op(*inputs, **attrs)


def flat(results: Any) -> list[Any]:
    """What a call gave, as arrays."""
    results = results if isinstance(results, tuple | list) else [] if results is None else [results]
    return [np.asarray(r) for r in results]


def compare(name: str, line: Line, ours: Callable[[], Any]) -> None:
    """Fail unless all expressions give what the op gives; decompositions up to signs and order."""
    have = flat(ours())
    for expression in line.theirs:
        want = flat(expression(*line.inputs))
        if not want:
            continue
        assert len(have) == len(want), f"{name}: {len(have)} results against {len(want)}"
        for x, y in zip(have, want, strict=True):
            assert x.shape == y.shape, f"{name}: {x.shape} against {y.shape}"
            if name in ("qr", "svd", "eigh", "eig", "eigvals", "eigh_tridiagonal"):
                x, y = np.sort(np.abs(x), None), np.sort(np.abs(y), None)
            if x.dtype == td.bfloat16.numpy:
                x, y = x.astype(np.float32), y.astype(np.float32)
            np.testing.assert_allclose(x, y, rtol=line.rtol, atol=line.rtol, err_msg=name)


def fastest(line: Line) -> Callable[[], Any]:
    """The expression to beat, or the yardstick."""
    candidates = (line.yardstick,) if line.yardstick else line.theirs
    calls = [lambda e=e: e(*line.inputs) for e in candidates]
    if len(calls) == 1:
        return calls[0]
    return min(calls, key=lambda call: min(seconds(call, 1) for _ in range(5)))


def measured(name: str, line: Line) -> Row:
    """Compare the results, then time."""
    ours = call_of(name, line)
    compare(name, line, ours)
    theirs = fastest(line)
    took = min(seconds(theirs, 1) for _ in range(3))
    calls = max(1, min(1000, int(ROUND / took)))
    rounds = ROUNDS if took < 10 * ROUND else 7
    rows = []
    for _ in range(1 + AGAIN):
        rows.append(ratio(f"{name}, {line.what}" if line.what else name, ours, theirs, line.limit, calls, rounds, quietest=True))
        if rows[-1].value <= line.limit:
            break
    return min(rows, key=lambda row: row.value)


def measurements(wanted: list[str]) -> Iterator[Row]:
    """All lines of the ops asked for."""
    for name in sorted(TABLE):
        if not wanted or any(w in name for w in wanted):
            for line in TABLE[name]():
                with np.errstate(all="ignore"):
                    yield measured(name, line)


def main() -> int:
    """Print the table; the exit status says whether every limit holds."""
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        if name in os.environ:
            print(f"note: {name} is set, which slows NumPy's matrix products down", file=sys.stderr)
    plugins.host.load_ops()
    start = time.perf_counter()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores\n")
    print(f"{'kernel':56s} {'ratio':>7s} {'at most':>8s}       note")
    rows = []
    for row in measurements(sys.argv[1:]):
        rows.append(row)
        verdict = "  " if row.value <= row.limit else "! "
        print(f"{row.name:56s} {row.value:7.2f} {row.limit:8.2f} {verdict}   {row.note}", flush=True)
    missed = [f"{row.name} ({row.value:.2f})" for row in rows if row.value > row.limit]
    print(f"\n{len(rows) - len(missed)} of {len(rows)} lines hold, in {time.perf_counter() - start:.0f} s")
    print(f"missed: {'; '.join(missed) or 'none'}")
    if not sys.argv[1:]:
        others = sorted(name for name, entry in registry.ops.items() if entry.plugin == "core" and name not in TABLE)
        print(f"not compared, as NumPy and SciPy have no counterpart: {', '.join(others)}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
