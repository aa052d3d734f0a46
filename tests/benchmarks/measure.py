"""How the benchmarks measure: two things in turn in one process, the ratio pair by pair, medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One line of the table.

    Attributes:
        name: what was measured.
        value: the figure that the limit is on.
        limit: at most this; None where nothing is promised.
        unit: of both: ``x`` for ratios, ``ms``, ``MB``.
        note: how it was got.
    """

    name: str
    value: float
    limit: float | None
    unit: str
    note: str


def seconds(function: Callable[[], Any], calls: int) -> float:
    """Seconds a call takes, over so many calls."""
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls


def ratio(
    name: str, ours: Callable[[], Any], theirs: Callable[[], Any], limit: float | None, calls: int, rounds: int = 15, *, quietest: bool = False
) -> Row:
    """Time both in turn; the median of the ratios, with its spread.

    Args:
        name: of the row.
        ours: what is measured.
        theirs: what it is measured against.
        limit: at most this.
        calls: a round.
        rounds: of both.
        quietest: take the ratio of the fifth fastest rounds of both instead, which what else runs on the machine has disturbed least.
    """
    for _ in range(max(3, calls // 20)):
        ours()
        theirs()
    a, b = [], []
    for _ in range(rounds):
        a.append(seconds(ours, calls))
        b.append(seconds(theirs, calls))
    ratios = sorted(x / y for x, y in zip(a, b, strict=True))
    middle = sorted(a)[4] / sorted(b)[4] if quietest else statistics.median(ratios)
    low, high = ratios[len(ratios) // 10], ratios[-1 - len(ratios) // 10]
    note = f"{statistics.median(a) * 1e6:.2f} us against {statistics.median(b) * 1e6:.2f} us; 80% of rounds in {low:.2f} to {high:.2f}"
    return Row(name, middle, limit, "x", note)
