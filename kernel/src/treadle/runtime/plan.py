"""The default executable: straight-line Python generated from a graph, with kernels and constants bound ahead.

Nothing is interpreted per call. An elementwise kernel writes into an input that dies with it; other large results go to planned memory through
``out=``; what is dead is let go at once.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from treadle.eager.dispatch import flat, infer, kind_of
from treadle.errors import OpError, PluginError, ResourceExhaustedError
from treadle.graph.graph import Graph, Node, Value
from treadle.runtime.failure import given_specs
from treadle.runtime.writer import Writer
from treadle.state import LOCAL, is_reentry, quiet_context
from treadle.variable import Variable, no_value


class Plan:
    """An executable graph.

    Attributes:
        run: takes the buffers of the graph's inputs (Variables for resources) and gives the only output's buffer, or a tuple of all.
        text: the generated program.
        nodes_by_line: which node a line of it is for.
        loud: it calls back into the user's program, so it must not run inside the quiet context.
    """

    def __init__(self, graph: Graph, device: Any, bound: dict[Value, Any]) -> None:
        writer = Writer(graph, device, bound)
        self.name = graph.name
        self.text = writer.text
        self.loud = writer.loud
        self.nodes_by_line = writer.nodes_by_line
        namespace = writer.namespace
        self._code = compile(self.text, f"<plan of {graph.name}>", "exec")
        exec(self._code, namespace)
        self._program = namespace["plan"]
        self.run: Callable[..., Any] = device.bind(lambda _: self._program)

    def __call__(self, *buffers: Any) -> Any:
        """Run, and explain what goes wrong by the user's line."""
        try:
            if self.loud:
                return self.run(*buffers)
            try:
                return LOCAL.run(self.run, *buffers)
            except RuntimeError as error:
                if not is_reentry(error):
                    raise
            return quiet_context().run(self.run, *buffers)
        except Exception as error:
            raise self.explain(error) from error.__cause__

    def explain(self, error: Exception) -> Exception:
        """The error with the op, the inputs' specs and the user's line of the node that raised it."""
        trace = self._trace_of(error)
        node = None if trace is None else self.nodes_by_line.get(trace.tb_lineno)
        if trace is None or node is None or getattr(error, "_explained", False):
            return error
        if isinstance(error, AttributeError) and isinstance(error.obj, Variable):
            error = no_value(error.obj)
        if isinstance(error, PluginError) or (node.op.effect == "io" and not isinstance(error, OpError)):
            return error
        specs: list[Any] = [v.spec for v in node.inputs]
        if not node.op.structural:
            given = given_specs(node, self.text.splitlines()[trace.tb_lineno - 1], trace.tb_frame)
            specs = flat(given)
            error = _refused(node, given) or error
        where = f"in op {node.op.name!r} ({', '.join(map(repr, specs))}) of function {self.name!r}, made at {node.source}"
        if isinstance(error, OpError):
            error.message = f"{error.message} [{where}]"
            error.args = (error.message,)
            better: Exception = error
        elif isinstance(error, MemoryError):
            better = ResourceExhaustedError(f"{node.op.name}: out of memory: {error} [{where}]")
        else:
            better = kind_of(error)(f"{node.op.name}: {error} [{where}]")
        better._explained = True  # type: ignore[attr-defined]  # a mark on the error, which is the caller's type
        return better

    def _trace_of(self, error: Exception) -> TracebackType | None:
        """Where in the program it was raised."""
        found = None
        trace = error.__traceback__
        code = self._program.__code__
        while trace is not None:
            if trace.tb_frame.f_code is code:
                found = trace
            trace = trace.tb_next
        return found


def _refused(node: Node, specs: list[Any]) -> OpError | None:
    """What inference says against these inputs: what an eager call would say."""
    try:
        infer(node.op, specs, node.attrs)
    except OpError as error:
        return error
    return None
