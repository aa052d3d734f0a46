"""``treadle explain``: a function's graph as traced, after each pass that changed it, and the program that runs in the end."""

from __future__ import annotations

import difflib
import functools
import inspect
import warnings
from typing import Any

from rich.console import Console

from treadle import nest, plugins
from treadle.contracts.passes import PassReport
from treadle.functions.concrete import ConcreteFunction
from treadle.functions.keys import TensorPart
from treadle.functions.polymorphic import Function
from treadle.graph.inline import inlined
from treadle.graph.structural import CALL, CUSTOM
from treadle.graph.text import to_text
from treadle.grappler.item import GrapplerItem
from treadle.grappler.meta import MetaOptimizer, OptimizerWarning
from treadle.grappler.schedule import in_force
from treadle.tensorspec import TensorSpec
from treadle_cli import users_file
from treadle_cli.console import console, duration, plain, plural, rewrites_text, table
from treadle_cli.failures import CommandError, users_program
from treadle_cli.specs import parse_all

ADDED, REMOVED = "green", "red"


def show(target: str, specs: list[str], plan: bool = False, diff: bool = False, sources: bool = False) -> None:
    """Explain every trace that is asked for.

    Args:
        target: ``FILE.py:FUNCTION``.
        specs: the arguments to trace for, as text; none: the input signature's, or the traces that the file has made.
        plan: print the program too.
        diff: print changes instead of whole graphs.
        sources: put the user's line behind each node.
    """
    file, name = users_file.split(target)
    args, kwargs = parse_all(specs)
    schedule = in_force()  # what is wrong in the settings is told before the file is run
    module = users_file.load(file)
    function = users_file.find(module, file, name)
    out = console()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimizerWarning)  # the reports tell of it
        traces = find_traces(function, args, kwargs, target)
        for number, concrete in enumerate(traces):
            if number:
                out.print()
            _Explanation(out, concrete, diff, sources).show(schedule, plan)


def find_traces(function: Any, args: list[Any], kwargs: dict[str, Any], target: str) -> list[ConcreteFunction]:
    """The traces to explain.

    Raises:
        CommandError: there are none, and it is not known what to trace for.
        UserProgramError: tracing raised.
    """
    if isinstance(function, ConcreteFunction):
        return [function]
    if not users_file.is_traced(function):
        function = Function(function)
    try:
        signature: inspect.Signature = function.signature.python
    except ValueError as error:
        raise CommandError(f"{error}. A method is explained through an instance that the file has, such as FILE.py:model.{function.name}") from None
    if args or kwargs:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise CommandError(f"{function.name}{signature} does not take these arguments: {error}; give one --spec for each") from None
    elif function.input_signature is None:
        if traces := function.concrete_functions():
            return list(traces)
        needed = [p.name for p in signature.parameters.values() if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if needed:
            example = " ".join(f'--spec "{name}=float32[None,3]"' for name in needed)
            raise CommandError(
                f"{function.name}{signature} has no input_signature and has not been called yet, so it is not known what to trace it for; "
                f"say it: treadle explain {target} {example}"
            )
    with users_program():
        return [function.get_concrete_function(*args, **kwargs)]


class _Bare(str):
    """Text that stands in a structure without quotation marks."""

    __slots__ = ()
    __repr__ = str.__str__


def signature_text(concrete: ConcreteFunction) -> str:
    """``f(x: float32[None, 784]) -> float32[None, 10]``."""

    def leaf_text(leaf: object) -> object:
        if not isinstance(leaf, TensorSpec):
            return leaf
        return _Bare(TensorPart(leaf.dtype, None if leaf.shape.rank is None else leaf.shape.as_list()))

    outputs = nest.map_structure(leaf_text, concrete.structured_outputs)
    return f"{concrete.pretty_printed_signature().partition(' -> ')[0]} -> {outputs!r}"


class _Explanation:
    """Prints what happens to one trace."""

    def __init__(self, out: Console, concrete: ConcreteFunction, diff: bool, sources: bool) -> None:
        self._out = out
        self._concrete = concrete
        self._diff = diff
        self._print = functools.partial(to_text, sources=sources)
        self._text = ""

    def show(self, schedule: Any, plan: bool) -> None:
        """Print all of it."""
        executable = self._concrete.atomic.executable()
        self._out.print(plain(signature_text(self._concrete), "bold"), soft_wrap=True)
        graph, _ = inlined(self._concrete.graph)
        title = "As traced"
        if any(node.op in (CALL, CUSTOM) for node in self._concrete.graph.nodes):
            self._section(f"{title}, {plural(len(self._concrete.graph), 'node')}", self._print(self._concrete.graph))
            title, self._text = "With the functions that it calls put in", ""
        self._section(f"{title}, {plural(len(graph), 'node')}", self._print(graph))
        item = GrapplerItem(self._concrete.name, graph, executable.device)
        reports = MetaOptimizer(schedule, snapshot=self._print).optimize(item)
        for report in reports:
            self._pass(report)
        self._summary(reports, len(item.graph))
        if plan:
            self._plan(executable)

    def _section(self, title: str, text: str) -> None:
        self._out.print()
        self._out.print(plain(title, "bold cyan"), soft_wrap=True)
        before, self._text = self._text, text
        if self._diff and before:
            for line in list(difflib.unified_diff(before.splitlines(), text.splitlines(), n=1, lineterm=""))[2:]:
                style = ADDED if line.startswith("+") else REMOVED if line.startswith("-") else "dim"
                self._out.print(plain("    ..." if line.startswith("@@") else line, style), soft_wrap=True)
        else:
            self._out.print(plain(text.rstrip("\n")), soft_wrap=True)

    def _pass(self, report: PassReport) -> None:
        head = f"Round {report.round}, {report.name}"
        if report.error is not None:
            self._out.print()
            self._out.print(plain(f"{head}: rolled back, {report.error}", "bold red"), soft_wrap=True)
        elif report.changed:
            nodes = f"{report.nodes_before} to {plural(report.nodes_after, 'node')}"
            told = [nodes, duration(report.seconds), *filter(None, [rewrites_text(report.rewrites)])]
            self._section(f"{head}: {', '.join(told)}", report.text or "")

    def _summary(self, reports: list[PassReport], nodes: int) -> None:
        self._out.print()
        if not reports:
            self._out.print(plain("No pass is scheduled: `treadle passes` shows the schedule in force."))
            return
        is_wide = self._out.width >= 100
        offered = ["offered by"] if is_wide else []
        rows = table("round", "pass", *offered, "nodes", "time", "rewrites by rule~", right=("round", "nodes", "time"))
        for report in reports:
            told = plain("rolled back", "red") if report.error is not None else plain(rewrites_text(report.rewrites))
            counts = f"{report.nodes_before} to {report.nodes_after}" if report.changed else str(report.nodes_after)
            style = "" if report.changed or report.error is not None else "dim"
            by = [plain(plugins.host.distribution_of(report.plugin))] if is_wide else []
            rows.add_row(str(report.round), plain(report.name), *by, counts, duration(report.seconds), told, style=style)
        self._out.print(rows)
        rounds = plural(max(report.round for report in reports), "round")
        seconds = duration(sum(report.seconds for report in reports))
        self._out.print(plain(f"{plural(reports[0].nodes_before, 'node')} became {nodes} in {rounds} and {seconds}"))

    def _plan(self, executable: Any) -> None:
        text = getattr(executable.plan, "text", None)
        self._out.print()
        self._out.print(plain(f"The plan for {executable.device.name}", "bold cyan"))
        if not text:
            self._out.print(plain(f"{executable.plan!r} has no text"))
            return
        nodes = executable.plan.nodes_by_line  # line number to node, for error messages
        lines = text.rstrip("\n").splitlines()
        width = min(max(map(len, lines)), 60)
        for number, line in enumerate(lines, 1):
            node = nodes.get(number)
            is_call = node is not None and not line.lstrip().startswith("del ")
            comment = f"{'':{max(width - len(line), 0)}}  # {node.name}" if is_call else ""
            self._out.print(plain(line) + plain(comment, "dim"), soft_wrap=True)
