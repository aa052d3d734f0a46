"""Runs the schedule over a graph, round by round, and contains passes that go wrong.

A pass that raises, breaks the graph or never settles is rolled back and reported; the program goes on with the graph from before it.
"""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from treadle import plugins
from treadle.contracts.passes import PassReport
from treadle.errors import GraphError
from treadle.grappler.item import Context, GrapplerItem
from treadle.grappler.schedule import Schedule, ScheduledPass
from treadle.graph.graph import Graph
from treadle.graph.verify import verify


class OptimizerWarning(UserWarning):
    """A pass went wrong and was rolled back."""


class MetaOptimizer:
    """Applies a schedule.

    Args:
        schedule: the passes.
        snapshot: called with the graph after each pass that changed it; its result is kept in the report.
    """

    def __init__(self, schedule: Schedule, snapshot: Callable[[Graph], str] | None = None) -> None:
        self._schedule = schedule
        self._snapshot = snapshot

    def optimize(self, item: GrapplerItem) -> list[PassReport]:
        """Rewrite ``item.graph`` until no pass changes it; one report per run of a pass."""
        with _without_collector():
            return self._optimize(item)

    def _optimize(self, item: GrapplerItem) -> list[PassReport]:
        original = _Saved(item)
        excluded: dict[str, str] = {}
        reports = self._attempt(item, excluded, self._schedule.verify != "off", original)
        for _ in self._schedule.passes:
            problem = self._problem(item, reports)
            if problem is None:
                break
            failed = [r for r in reports if r.error is not None]
            original.restore(item)
            culprit, why = problem
            excluded[culprit] = why
            reports = failed + self._attempt(item, excluded, True, original)
        return reports

    def _problem(self, item: GrapplerItem, reports: list[PassReport]) -> tuple[str, str] | None:
        """A pass that spoiled the graph unseen, or that does not settle, and why; None if all is well."""
        try:
            verify(item.graph)
        except GraphError as error:
            changed = [r for r in reports if r.changed and r.error is None]
            return (changed[-1].name, f"broke the graph: {error}") if changed else None
        last = [r for r in reports if r.round == self._schedule.rounds and r.changed and r.error is None]
        for report in last:
            line = next(p for p in self._schedule.passes if p.instance.name == report.name)
            saved = _Saved(item)
            again = self._run(line, item, self._schedule.rounds)
            saved.restore(item)
            if again.changed and again.error is None:
                return report.name, f"never settles: it still changes the graph after {self._schedule.rounds} rounds"
        return None

    def _attempt(self, item: GrapplerItem, excluded: dict[str, str], each: bool, saved: _Saved) -> list[PassReport]:
        """Run all but the excluded passes; check the graph after ``each``, or leave that to the caller."""
        reports: list[PassReport] = []
        dropped: set[str] = set()
        for line in self._schedule.passes:
            if line.instance.name in excluded:
                report = PassReport(line.instance.name, line.plugin, item.name, 0, len(item.graph), len(item.graph))
                report.error = excluded[line.instance.name]
                dropped.add(line.instance.name)
                self._tell(report)
                reports.append(report)
        unchanged_since = 0
        active = [p for p in self._schedule.passes if p.instance.name not in dropped]
        for round_ in range(1, self._schedule.rounds + 1):
            for line in list(active):
                if unchanged_since >= len(active):
                    return reports
                try:
                    saved = saved if saved.is_current(item) else _Saved(item)
                except Exception:
                    return reports  # an earlier pass broke the graph: the caller finds out which
                report = self._run(line, item, round_)
                if report.error is None and report.changed and each:
                    self._check(item, saved, report)
                if report.error is not None:
                    saved.restore(item)
                    report.changed, report.nodes_after = False, len(item.graph)
                    active.remove(line)
                    self._tell(report)
                reports.append(report)
                plugins.host.call("treadle_pass_finished", report=report)
                if report.error is None:
                    unchanged_since = 0 if report.changed else unchanged_since + 1
                if report.changed and self._snapshot is not None:
                    report.text = self._snapshot(item.graph)
        return reports

    def _run(self, line: ScheduledPass, item: GrapplerItem, round_: int) -> PassReport:
        before = len(item.graph)
        context = Context(item.device, self._schedule.fast_math, most=20 * before + 1000)
        report = PassReport(line.instance.name, line.plugin, item.name, round_, before)
        start = time.perf_counter()
        try:
            report.changed = bool(line.instance.run(item, context))
        except Exception as error:
            report.error = f"{type(error).__name__}: {error}"
        report.seconds = time.perf_counter() - start
        report.nodes_after = len(item.graph)
        report.rewrites = dict(context.rewrites)
        return report

    def _check(self, item: GrapplerItem, saved: _Saved, report: PassReport) -> None:
        try:
            verify(item.graph)
            if self._schedule.verify == "numeric":
                _same_results(saved.graph, item.graph, item.device)
        except Exception as error:
            report.error = f"broke the graph: {error}"

    def _tell(self, report: PassReport) -> None:
        warnings.warn(
            f"optimizer pass {report.name!r} (plugin {report.plugin!r}, {plugins.host.distribution_of(report.plugin)}) was rolled back on {report.graph!r}: "
            f"{report.error}. The function runs without it.",
            OptimizerWarning,
            stacklevel=2,
        )


@contextmanager
def _without_collector() -> Iterator[None]:
    """No cyclic garbage collection: its full passes cost as much as the optimizer where many nodes are made and none is garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Saved:
    """A graph as it is now, to go back to."""

    def __init__(self, item: GrapplerItem) -> None:
        self.graph, _ = item.graph.copy()
        self._original = item.graph
        self._version = item.graph.version

    def is_current(self, item: GrapplerItem) -> bool:
        """True if the graph is still as it was when saved."""
        return item.graph is self._original and item.graph.version == self._version

    def restore(self, item: GrapplerItem) -> None:
        item.graph, _ = self.graph.copy()


def _same_results(before: Graph, after: Graph, device: Any) -> None:
    """Run both graphs on the same made-up inputs.

    Raises:
        GraphError: the results differ by a bit.
    """
    from treadle.runtime.plan import Plan

    if any(not n.op.pure or n.op.structural for g in (before, after) for n in g.nodes if n.op.name not in ("const", "placeholder")):
        return
    rng = np.random.default_rng(0)
    buffers = []
    for value in before.inputs:
        if not value.spec.is_static or value.spec.resource:
            return
        buffers.append(device.copy_in(np.asarray(rng.integers(0, 5, value.spec.dims) - 2).astype(value.spec.dtype.numpy)))
    results = []
    for graph in (before, after):
        try:
            found = Plan(graph, device, {})(*buffers)
        except Exception as error:
            results.append(type(error).__name__)
        else:
            results.append([np.asarray(device.copy_out(b)).tobytes() for b in (found if isinstance(found, tuple) else (found,))])
    if results[0] != results[1]:
        raise GraphError(f"{after.name}: the results on the same inputs differ from those before the pass")
