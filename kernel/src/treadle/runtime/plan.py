"""The default executable: straight-line Python generated from a graph, with kernels and constants bound ahead.

Nothing is interpreted per call. An elementwise kernel writes into an input that dies with it; other large results go to planned memory through
``out=``; what is dead is let go at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treadle import state
from treadle.contracts.spec import is_concrete
from treadle.conversion import to_tuples
from treadle.eager.dispatch import bind, find_kernel_row, quietly
from treadle.errors import DTypeError, GraphError, InvalidArgumentError, OpError, ResourceExhaustedError, ShapeError
from treadle.graph.graph import Graph, Node, Value
from treadle.graph.structural import ASSIGN, CONST, PLACEHOLDER, READ
from treadle.runtime.arena import ArenaPlan
from treadle.runtime.liveness import Liveness

LARGE = 16 * 1024
"""Bytes from which a result gets planned memory; below, allocating is faster."""


class Plan:
    """An executable graph.

    Attributes:
        run: takes the buffers of the graph's inputs (Variables for resources) and gives the only output's buffer, or a tuple of all.
        text: the generated program.
        nodes_by_line: which node a line of it is for.
        loud: it calls back into the user's program, so it must not run inside the quiet context.
    """

    def __init__(self, graph: Graph, device: Any, bound: dict[Value, Any]) -> None:
        writer = _Writer(graph, device, bound)
        self.name = graph.name
        self.text = writer.text
        self.loud = writer.loud
        self.nodes_by_line = writer.nodes_by_line
        namespace = writer.namespace
        self._code = compile(self.text, f"<plan of {graph.name}>", "exec")
        exec(self._code, namespace)
        self.run: Callable[..., Any] = namespace["plan"]

    def __call__(self, *buffers: Any) -> Any:
        """Run, and explain what goes wrong by the user's line."""
        try:
            return self.run(*buffers) if self.loud else quietly(self.run, *buffers)
        except Exception as error:
            raise self.explain(error) from error.__cause__

    def explain(self, error: Exception) -> Exception:
        """The error with the op, the inputs' specs and the user's line of the node that raised it."""
        node = self._node_of(error)
        if node is None or getattr(error, "_explained", False):
            return error
        described = ", ".join(repr(v.spec) for v in node.inputs)
        where = f"in op {node.op.name!r} ({described}) of function {self.name!r}, made at {node.source}"
        if isinstance(error, OpError):
            error.message = f"{error.message} [{where}]"
            error.args = (error.message,)
            better: Exception = error
        elif node.op.effect == "io":
            return error
        elif isinstance(error, MemoryError):
            better = ResourceExhaustedError(f"{node.op.name}: out of memory: {error} [{where}]")
        else:
            kind = ShapeError if isinstance(error, ValueError) else DTypeError if isinstance(error, TypeError) else InvalidArgumentError
            better = kind(f"{node.op.name}: {error} [{where}]")
        better._explained = True  # type: ignore[attr-defined]
        return better

    def _node_of(self, error: Exception) -> Node | None:
        found = None
        trace = error.__traceback__
        code = self.run.__code__  # type: ignore[attr-defined]
        while trace is not None:
            if trace.tb_frame.f_code is code:
                found = self.nodes_by_line.get(trace.tb_lineno)
            trace = trace.tb_next
        return found


class _Writer:
    """Writes the program of a plan."""

    def __init__(self, graph: Graph, device: Any, bound: dict[Value, Any]) -> None:
        self.graph = graph
        self.device = device
        self.live = Liveness(graph)
        self.arena = ArenaPlan()
        self.namespace: dict[str, Any] = {"__builtins__": {}, "NORMALIZE": device.normalize, "HOST": _to_host, "LOCAL": state.LOCAL}
        self.names: dict[Value, str] = {}
        self.views: dict[Value, int] = {}
        self.nodes_by_line: dict[int, Node] = {}
        self._free_names: list[str] = []
        self._counter = 0
        self._bound_names: dict[Any, str] = {}
        self.loud = any(node.op.effect == "io" for node in self.live.order)
        parameters = []
        for i, value in enumerate(graph.inputs):
            if value in bound:
                self.names[value] = self._bind("r", bound[value])
            else:
                self.names[value] = f"p{i}"
                parameters.append(f"p{i}")
        body: list[str] = []
        for node in self.live.order:
            before = len(body)
            self._write(node, body)
            for n in range(before, len(body)):
                self.nodes_by_line[n] = node
            self._let_go(node, body)
        lines = [f"def plan({', '.join(parameters)}):"]
        if self.loud:
            lines.append("    run = LOCAL.run")
        if self.arena.views:
            self.namespace.update(FREE=[], POP=_checkout, MAKE=self.arena.make)
            lines.append("    arena = POP(FREE, MAKE)")
            names = [f"a{i}" for i in range(len(self.arena.views))]
            lines.append(f"    {', '.join(names)}{',' if len(names) == 1 else ''} = arena")
        offset = len(lines) + 1
        self.nodes_by_line = {n + offset: node for n, node in self.nodes_by_line.items()}
        lines += ["    " + line for line in body]
        if self.arena.views:
            lines.append("    FREE.append(arena)")
        outputs = [self.names[v] for v in graph.outputs]
        lines.append("    return " + (outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})" if outputs else "()"))
        self.text = "\n".join(lines) + "\n"

    # ------------------------------------------------------------------ names

    def _bind(self, prefix: str, thing: Any) -> str:
        key = (prefix, id(thing))
        name = self._bound_names.get(key)
        if name is None:
            name = self._bound_names[key] = f"{prefix}{len(self._bound_names)}"
            self.namespace[name] = thing
        return name

    def _new_name(self) -> str:
        if self._free_names:
            return self._free_names.pop()
        self._counter += 1
        return f"v{self._counter}"

    def _let_go(self, node: Node, body: list[str]) -> None:
        for value in self.live.dies_at(node):
            view = self.views.pop(value, None)
            if view is not None:
                self.arena.release(view)
            name = self.names.pop(value, None)
            if name is None or not name.startswith("v"):
                continue
            if value.spec.nbytes > 4096:
                body.append(f"del {name}")
            self._free_names.append(name)

    # ------------------------------------------------------------------ nodes

    def _write(self, node: Node, body: list[str]) -> None:
        if node.op is PLACEHOLDER:
            if node.outputs[0] not in self.names:
                raise GraphError(f"{self.graph.name}: placeholder {node.name} is not among the inputs")
        elif node.op is CONST:
            array = node.attrs["value"]
            buffer = array if isinstance(array, self.device.array_type) else self.device.copy_in(array)
            self.names[node.out] = self._bind("c", buffer)
        elif node.op is READ:
            name = self._new_name()
            body.append(f"{name} = {self.names[node.inputs[0]]}._buffer")
            self.names[node.out] = name
        elif node.op is ASSIGN:
            body.append(f"{self.names[node.inputs[0]]}._buffer = {self.names[node.inputs[1]]}")
        else:
            self._write_kernel(node, body)

    def _write_kernel(self, node: Node, body: list[str]) -> None:
        op = node.op
        row = find_kernel_row(op, self.device, _kernel_dtype(node))
        kernel = bind(row, self.device)
        name = self._bind("k", kernel)
        arguments = self._arguments(node)
        attrs = [f"{attr}={self._literal(value)}" for attr, value in node.attrs.items()]
        is_ufunc = isinstance(kernel, np.ufunc) and kernel.nout == 1 and kernel.nin == len(node.inputs) and not attrs
        target = None
        if op.outputs == "one" and (is_ufunc or row.out):
            target = self._overwritten(node) if op.elementwise and is_ufunc else None
            if target is None and self._wants_arena(node):
                view = self.arena.place(node.out.spec)
                self.views[node.out] = view
                target = f"a{view}"
        if target is not None:
            arguments.append(target if is_ufunc else f"out={target}")
        call = ", ".join([*arguments, *attrs])
        text = f"{name}({call})" if not self.loud or op.effect == "io" else f"run({', '.join([name, *filter(None, [call])])})"
        if op.outputs == "one":
            if target is not None and target.startswith("a"):
                body.append(text)
                self.names[node.out] = target
                return
            result = self._new_name() if target is None else target
            if target is None and not node.out.spec.rank:
                text = f"NORMALIZE({text})"
            body.append(f"{result} = {text}" if target is None else text)
            self.names[node.out] = result
        elif not node.outputs:
            body.append(text)
        else:
            results = [self._new_name() for _ in node.outputs]
            body.append(f"{', '.join(results)}{',' if len(results) == 1 else ''} = {text}")
            for value, result in zip(node.outputs, results, strict=True):
                self.names[value] = result
                if not value.spec.rank:
                    body.append(f"{result} = NORMALIZE({result})")

    def _arguments(self, node: Node) -> list[str]:
        arguments = []
        for declared, given in zip(node.op.inputs, node.grouped(node.inputs), strict=True):
            if declared.kind == "host":
                arguments.append(self._host(given))
            elif isinstance(given, list):
                arguments.append("[" + ", ".join(self.names[v] for v in given) + "]")
            else:
                arguments.append(self.names[given])
        return arguments

    def _host(self, value: Value) -> str:
        if value.constant is not None:
            return self._literal(to_tuples(value.constant.tolist()))
        if is_concrete(value.spec.value):
            return self._literal(value.spec.value)
        return f"HOST({self.names[value]})"

    def _literal(self, value: Any) -> str:
        if value is None or isinstance(value, bool | int | str) or (isinstance(value, tuple) and all(type(v) is int for v in value)):
            return repr(value)
        self.namespace[f"l{len(self.namespace)}"] = value
        return f"l{len(self.namespace) - 1}"

    def _overwritten(self, node: Node) -> str | None:
        """The name of an input that the result may be written over."""
        spec = node.out.spec
        for value in node.inputs:
            if value.spec.dtype is spec.dtype and value.spec.dims == spec.dims and spec.dims is not None and self.live.may_overwrite(value, node):
                if self.live.memory[node.out].escapes and value in self.views:
                    continue
                view = self.views.pop(value, None)
                if view is not None:
                    self.views[node.out] = view
                name = self.names.pop(value)
                return name
        return None

    def _wants_arena(self, node: Node) -> bool:
        spec = node.out.spec
        return spec.is_static and spec.nbytes >= LARGE and not self.live.memory[node.out].escapes and isinstance(self.device.allocate((1,), spec.dtype), np.ndarray)


def _kernel_dtype(node: Node) -> Any:
    for declared, given in zip(node.op.inputs, node.grouped(node.inputs), strict=True):
        if declared.kind != "host":
            value = given[0] if isinstance(given, list) and given else given
            if isinstance(value, Value):
                return value.spec.dtype
    return next((node.attrs[a] for a in node.op.dtype_attrs), None)


def _to_host(buffer: Any) -> Any:
    return to_tuples(buffer.tolist())


def _checkout(free: list[Any], make: Callable[[], Any]) -> Any:
    """An arena that no other call uses; popping a list is atomic."""
    try:
        return free.pop()
    except IndexError:
        return make()


