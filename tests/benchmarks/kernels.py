"""Measure every kernel against the best plain NumPy or SciPy expression with the same results: ``python tests/benchmarks/kernels.py [name...]``.

Both run in turn in one process, over the same memory, and the results are compared first. As hundreds of lines take minutes, and the machine may have
more to do than this, the rounds are short, and the figure is the ratio of the rounds that were disturbed least. A line that misses its limit is
measured again at once, and after all others, as a shared machine has seconds in which its cores are slow to pass data to each other; its best figure
stands. Names choose ops by a part of theirs.
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
LATER, PAUSE = 3, 10.0
"""How often lines that missed are measured after all others, and the seconds before each time."""


def shared(x: Any) -> tuple[Any, Any]:
    """An input as tensor and as array over the same memory: where arrays happen to lie makes up to a fifth. Anything but arrays is passed on."""
    if isinstance(x, list):
        pairs = [shared(y) for y in x]
        return [tensor for tensor, _ in pairs], [array for _, array in pairs]
    if isinstance(x, np.ndarray):
        tensor = td.constant(x)
        return tensor, np.asarray(tensor)
    return (td.constant(x) if isinstance(x, np.generic) else x), x


def call_of(name: str, line: Line) -> tuple[Callable[[], Any], Line]:
    """The eager call of the op on tensors, and the line with arrays in their memory."""
    op: Any = registry.op(name).entry
    pairs, attrs = [shared(x) for x in line.inputs], line.attrs
    tensors = [tensor for tensor, _ in pairs]
    return lambda: op(*tensors, **attrs), line._replace(inputs=tuple(array for _, array in pairs))


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
    ours, line = call_of(name, line)
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


def lines_of(wanted: list[str]) -> Iterator[tuple[str, Line]]:
    """All lines of the ops asked for, by op."""
    for name in sorted(TABLE):
        if not wanted or any(w in name for w in wanted):
            for line in TABLE[name]():
                yield name, line


def show(row: Row) -> None:
    """Print a line of the table."""
    verdict = "  " if row.value <= row.limit else "! "
    print(f"{row.name:56s} {row.value:7.2f} {row.limit:8.2f} {verdict}   {row.note}", flush=True)


def main() -> int:
    """Print the table; the exit status says whether every limit holds."""
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        if name in os.environ:
            print(f"note: {name} is set, which slows NumPy's matrix products down", file=sys.stderr)
    plugins.host.load_ops()
    start = time.perf_counter()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores\n")
    print(f"{'kernel':56s} {'ratio':>7s} {'at most':>8s}       note")
    rows, missed = [], []
    with np.errstate(all="ignore"):
        for name, line in lines_of(sys.argv[1:]):
            rows.append(measured(name, line))
            show(rows[-1])
            if rows[-1].value > line.limit:
                missed.append((len(rows) - 1, name, line))
        for _ in range(LATER):
            if missed:
                time.sleep(PAUSE)
            for number, name, line in list(missed):
                rows[number] = min(rows[number], measured(name, line), key=lambda row: row.value)
                if rows[number].value <= line.limit:
                    show(rows[number])
                    missed.remove((number, name, line))
    told = [f"{row.name} ({row.value:.2f})" for row in rows if row.value > row.limit]
    print(f"\n{len(rows) - len(told)} of {len(rows)} lines hold, in {time.perf_counter() - start:.0f} s")
    print(f"missed: {'; '.join(told) or 'none'}")
    if not sys.argv[1:]:
        others = sorted(name for name, entry in registry.ops.items() if entry.plugin == "core" and name not in TABLE)
        print(f"not compared, as NumPy and SciPy have no counterpart: {', '.join(others)}")
    return 1 if told else 0


if __name__ == "__main__":
    raise SystemExit(main())
