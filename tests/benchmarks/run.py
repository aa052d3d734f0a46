"""Measure what the project promises, and print a table: ``make bench``.

Each line is a ratio inside one run, and the results of both sides are compared first. Leave OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE unset.
"""

from __future__ import annotations

import os
import platform
import sys

import numpy as np
from graphs import first_call, schedule
from measure import Row, ratio
from processes import installed_size, start_up
from workloads import ALL, Workload


def measured(workload: Workload) -> Row:
    """Compare the results, then time."""
    ours, theirs = workload.results()
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=workload.name)
    return ratio(workload.name, workload.ours, workload.theirs, workload.limit, workload.calls)


def main() -> int:
    """Print the table; the exit status says whether every limit holds."""
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        if name in os.environ:
            print(f"note: {name} is set, which slows NumPy's matrix products down", file=sys.stderr)
    wanted = sys.argv[1:]
    rows: list[Row] = []
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores\n")
    print(f"{'what':48s} {'measured':>10s} {'at most':>9s}       note")
    groups = [*((lambda make=make: [measured(make())]) for make in ALL), lambda: [first_call()], schedule, start_up, installed_size]
    for group in groups:
        for row in group():
            if wanted and not any(w in row.name for w in wanted):
                continue
            rows.append(row)
            limit = "" if row.limit is None else f"{row.limit:.4g} {row.unit}"
            verdict = "  " if row.limit is None or row.value <= row.limit else "! "
            print(f"{row.name:48s} {row.value:8.2f} {row.unit:2s}{limit:>9s} {verdict}   {row.note}", flush=True)
    missed = [row.name for row in rows if row.limit is not None and row.value > row.limit]
    print(f"\n{len(rows) - len(missed)} of {len(rows)} lines hold" + (f"; missed: {', '.join(missed)}" if missed else ""))
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
