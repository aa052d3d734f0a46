"""Runs the schedule over a graph, round by round, and contains passes that go wrong.

A pass that raises, breaks the graph or never settles is rolled back and reported; the program goes on with the graph from before it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from treadle import plugins
from treadle.collector import without_collector
from treadle.contracts.passes import PassReport
from treadle.dims import known_different
from treadle.errors import GraphError
from treadle.graph.graph import Graph
from treadle.graph.verify import verify
from treadle.grappler.item import Context, GrapplerItem
from treadle.grappler.schedule import Schedule, ScheduledPass
from treadle.user_warnings import warn


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
        """Rewrite ``item.graph`` until no pass changes it; one report per run of a pass.

        When a pass goes wrong, all begins again from the graph as it was, without that pass.
        """
        with without_collector():
            return self._optimize(item)

    def _optimize(self, item: GrapplerItem) -> list[PassReport]:
        nodes, face = len(item.graph), _Face(item.graph)
        excluded: list[PassReport] = []
        check_each = self._schedule.verify != "off"
        while True:
            reports = self._attempt(item, {r.name for r in excluded}, check_each, face)
            culprit = next((r for r in reports if r.error is not None), None)
            if not check_each and (culprit is not None or _damage(None, item, face) is not None):
                check_each, culprit = True, None  # find out which pass it was: one may raise on what another left
            elif culprit is None:
                culprit = self._unsettled(item, reports)
                if culprit is None:
                    break
            if culprit is not None:
                culprit.changed, culprit.nodes_after = False, nodes
                excluded.append(culprit)
                self._tell(culprit)
            item.graph = item.again()
        for report in reports:
            plugins.host.call("treadle_pass_finished", report=report)
        return excluded + reports

    def _attempt(self, item: GrapplerItem, excluded: set[str], check_each: bool, face: _Face) -> list[PassReport]:
        """Go round until nothing changes, or a pass goes wrong, which is then the last one reported."""
        reports: list[PassReport] = []
        passes = [p for p in self._schedule.passes if p.instance.name not in excluded]
        unchanged = 0
        for round_ in range(1, self._schedule.rounds + 1):
            for line in passes:
                if unchanged == len(passes):
                    return reports
                before = item.graph.copy()[0] if self._schedule.verify == "numeric" else None
                report = self._run(line, item, round_)
                reports.append(report)
                if report.error is None and check_each:  # whatever the pass says that it did
                    report.error = _damage(before, item, face)
                if report.error is not None:
                    return reports
                unchanged = 0 if report.changed else unchanged + 1
                if report.changed and self._snapshot is not None:
                    report.text = self._snapshot(item.graph)
        return reports

    def _unsettled(self, item: GrapplerItem, reports: list[PassReport]) -> PassReport | None:
        """A pass that still changed the graph in the last round and, run again at once, changes it again."""
        for report in reports:
            if report.round != self._schedule.rounds or not report.changed:
                continue
            line = next(p for p in self._schedule.passes if p.instance.name == report.name)
            trial = GrapplerItem(item.name, item.graph.copy()[0], item.device)
            if self._run(line, trial, self._schedule.rounds).changed:
                report.error = f"never settles: it still changes the graph after {self._schedule.rounds} rounds"
                return report
        return None

    def _run(self, line: ScheduledPass, item: GrapplerItem, round_: int) -> PassReport:
        before = len(item.graph)
        context = Context(item.device, self._schedule.fast_math, most=20 * before + 1000)
        report = PassReport(line.instance.name, line.plugin, item.name, round_, before)
        start = time.perf_counter()
        try:
            report.changed = bool(line.instance.run(item, context))
            report.nodes_after = len(item.graph)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # a pass is a plugin's code; it may even call sys.exit
            report.error = f"{type(error).__name__}: {error}"
        report.seconds = time.perf_counter() - start
        report.rewrites = dict(context.rewrites)
        return report

    def _tell(self, report: PassReport) -> None:
        warn(
            f"optimizer pass {report.name!r} (plugin {report.plugin!r}, {plugins.host.distribution_of(report.plugin)}) was rolled back "
            f"on {report.graph!r}: {report.error}. The function runs without it.",
            OptimizerWarning,
        )


class _Face:
    """What passes must keep of a graph.

    Attributes:
        values: dtype, dims and kind of its inputs and its results, as a caller sees them.
        names: of the nodes that came from the user's program.
    """

    def __init__(self, graph: Graph) -> None:
        self.values = _values(graph)
        self.names = frozenset(node.name for node in graph.nodes)


def _values(graph: Graph) -> list[Any]:
    return [[(v.spec.dtype, v.spec.dims, v.spec.resource) for v in values] for values in (graph.inputs, graph.outputs)]


def _damage(before: Graph | None, item: GrapplerItem, face: _Face) -> str | None:
    """What is wrong with a graph after a pass: with itself, for its caller, and where results are compared, with those; None if nothing is."""
    try:
        verify(item.graph, face.names)
        for what, was, now in zip(("inputs", "results"), face.values, _values(item.graph), strict=True):
            if len(was) != len(now) or any(a[0] is not b[0] or a[2] != b[2] or _differ(a[1], b[1]) for a, b in zip(was, now, strict=True)):
                return f"broke the graph: its {what} were {_shown(was)} and are {_shown(now)}"
        if before is not None:
            _same_results(before, item.graph, item.device)
    except Exception as error:
        return f"broke the graph: {error}"
    return None


def _differ(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return False
    return len(a) != len(b) or any(known_different(x, y) for x, y in zip(a, b, strict=True))


def _shown(specs: list[Any]) -> str:
    return ", ".join(f"{dtype.name}{'?' if dims is None else list(map(str, dims))}" for dtype, dims, _ in specs) or "none"


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
        if not value.spec.is_static or value.spec.resource or value.spec.dtype.kind == "l":
            return
        shape: Any = value.spec.dims
        buffers.append(device.copy_in(np.asarray(rng.integers(0, 5, shape) - 2).astype(value.spec.dtype.numpy)))
    results: list[Any] = []
    for graph in (before, after):
        try:
            found = Plan(graph, device, {})(*buffers)
        except Exception as error:
            results.append(type(error).__name__)
        else:
            results.append([np.asarray(device.copy_out(b)).tobytes() for b in (found if isinstance(found, tuple) else (found,))])
    if results[0] != results[1]:
        raise GraphError(f"{after.name}: the results on the same inputs differ from those before the pass")
