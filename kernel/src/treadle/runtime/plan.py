"""The default executable: straight-line Python generated from a graph, with kernels and constants bound ahead.

Nothing is interpreted per call. An elementwise kernel writes into an input that dies with it; other large results go to planned memory through
``out=``; what is dead is let go at once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FrameType
from typing import Any

from treadle.contracts.spec import Spec
from treadle.conversion import host_spec
from treadle.eager.dispatch import infer, quietly
from treadle.errors import DTypeError, InvalidArgumentError, OpError, PluginError, ResourceExhaustedError, ShapeError
from treadle.graph.graph import Graph, Node, Value
from treadle.runtime.writer import Writer
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
            return self.run(*buffers) if self.loud else quietly(self.run, *buffers)
        except Exception as error:
            raise self.explain(error) from error.__cause__

    def explain(self, error: Exception) -> Exception:
        """The error with the op, the inputs' specs and the user's line of the node that raised it."""
        frame, line = self._place_of(error)
        node = self.nodes_by_line.get(line)
        if frame is None or node is None or getattr(error, "_explained", False):
            return error
        if node.op.effect != "io" and not isinstance(error, PluginError):
            error = self._refusal(node, frame, line) or error
        described = ", ".join(repr(v.spec) for v in node.inputs)
        where = f"in op {node.op.name!r} ({described}) of function {self.name!r}, made at {node.source}"
        if isinstance(error, AttributeError) and isinstance(error.obj, Variable):
            error = no_value(error.obj)
        if isinstance(error, OpError):
            error.message = f"{error.message} [{where}]"
            error.args = (error.message,)
            better: Exception = error
        elif node.op.effect == "io" or isinstance(error, PluginError):
            return error
        elif isinstance(error, MemoryError):
            better = ResourceExhaustedError(f"{node.op.name}: out of memory: {error} [{where}]")
        else:
            kind = ShapeError if isinstance(error, ValueError) else DTypeError if isinstance(error, TypeError) else InvalidArgumentError
            better = kind(f"{node.op.name}: {error} [{where}]")
        better._explained = True  # type: ignore[attr-defined]  # a mark on the error, which is the caller's type
        return better

    def _place_of(self, error: Exception) -> tuple[FrameType | None, int]:
        found: tuple[FrameType | None, int] = None, 0
        trace = error.__traceback__
        code = self._program.__code__
        while trace is not None:
            if trace.tb_frame.f_code is code:
                found = trace.tb_frame, trace.tb_lineno
            trace = trace.tb_next
        return found

    def _refusal(self, node: Node, frame: FrameType, line: int) -> OpError | None:
        """What inference says against the values that the kernel was given; None where it has nothing against them."""
        try:
            call = _call_of(self.text.splitlines()[line - 1].strip())
            values = [eval(ast.unparse(a), frame.f_globals, frame.f_locals) for a in call[: len(node.op.inputs)]]
            specs = [_spec(given, value) for given, value in zip(node.grouped(node.inputs), values, strict=True)]
            infer(node.op, specs, node.attrs)
        except OpError as better:
            return better
        except Exception:  # what cannot be looked at says nothing
            return None
        return None


def _call_of(line: str) -> list[ast.expr]:
    """The arguments of the kernel's call in a line of a program, which is `k1(x)`, `v2 = NORMALIZE(k1(x))` or `run(k1, x)`."""
    calls = [node for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    for call in calls:
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name.startswith("k"):
            return call.args
        if name == "run":
            return call.args[1:]
    return []


def _spec(given: Any, value: Any) -> Any:
    """The spec of a kernel's argument for an input of a node, or for several."""
    if isinstance(given, list):
        return [_spec(g, v) for g, v in zip(given, value, strict=True)]
    return Spec(tuple(value.shape), given.spec.dtype) if hasattr(value, "shape") else host_spec(value)
