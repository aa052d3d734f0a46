"""Writing the program of a plan: one statement per node, with names, planned memory and what to let go.

Compiling and running it, and explaining its errors, is in `treadle.runtime.plan`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from treadle import state
from treadle.contracts.lists import BufferList
from treadle.contracts.spec import is_concrete
from treadle.conversion import to_tuples
from treadle.eager.dispatch import bind, find_kernel_row
from treadle.eager.promises import check_results, read_only, refuse_writing, vetted, vetting_key
from treadle.errors import GraphError
from treadle.graph.effects import effect_of
from treadle.graph.graph import Graph, Node, Value
from treadle.graph.structural import ASSIGN, CONDS, CONST, LOOPS, NOTHING, PLACEHOLDER, READ
from treadle.runtime.arena import ArenaPlan
from treadle.runtime.liveness import Liveness
from treadle.shapes import TensorShape

LARGE = 16 * 1024
"""Bytes from which a result gets planned memory; below, allocating is faster."""


_GIVES_ARRAYS = np.lib.NumpyVersion(np.__version__) >= "2.3.0"
"""A ufunc told ``out=...`` gives rank-0 arrays and no scalars, in half the time of making arrays of these."""


class Writer:
    """Writes the program of a plan.

    Attributes:
        text: the program, a function called ``plan``.
        namespace: what it finds by name.
        nodes_by_line: which node a line of it is for.
        loud: it calls back into the user's program.
    """

    def __init__(self, graph: Graph, device: Any, bound: dict[Value, Any]) -> None:
        self.graph = graph
        self.device = device
        self.live = Liveness(graph)
        self.arena = ArenaPlan()
        self.namespace: dict[str, Any] = {
            "__builtins__": {},
            "__name__": __name__,
            "NORMALIZE": device.normalize,
            "HOST": _to_host,
            "LOCAL": state.LOCAL,
        }
        self.namespace.update(READ=self._read, ASSIGN=self._assign)
        self.names: dict[Value, str] = {}
        self.views: dict[Value, int] = {}
        self.fresh: set[Value] = set()
        self.nodes_by_line: dict[int, Node] = {}
        self._free_names: list[str] = []
        self._counter = 0
        self._depth = 0
        self._bound_names: dict[Any, str] = {}
        self.loud = effect_of(graph) == "io"
        parameters = []
        for i, value in enumerate(graph.inputs):
            if value in bound:
                self.names[value] = self._bind("r", bound[value])
            else:
                self.names[value] = f"p{i}"
                parameters.append(f"p{i}")
        body = _Lines()
        self._write_nodes(body)
        lines = [f"def plan({', '.join(parameters)}):"]
        if self.loud:
            lines.append("    run = LOCAL.run")
        if self.arena.views:
            self.namespace.update(FREE=[], POP=_checkout, MAKE=self.arena.make)
            lines.append("    arena = POP(FREE, MAKE)")
            names = [f"a{i}" for i in range(len(self.arena.views))]
            lines.append(f"    {', '.join(names)}{',' if len(names) == 1 else ''} = arena")
        offset = len(lines) + 1
        self.nodes_by_line = {n + offset: node for n, node in enumerate(body.nodes)}
        lines += ["    " + line for line in body.lines]
        if self.arena.views:
            lines.append("    FREE.append(arena)")
        outputs = [self.names[v] for v in graph.outputs]
        lines.append("    return " + (outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})" if outputs else "()"))
        self.text = "\n".join(lines) + "\n"

    def _write_nodes(self, body: _Lines) -> None:
        for node in self.live.order:
            body.node = node
            self._write(node, body)
            self._let_go(node, body)

    def _write_inner(self, graph: Graph, inputs: list[str], body: _Lines) -> list[str]:
        """Write the nodes of a branch or loop body in place; the names of its results."""
        outer, node = self.live, body.node
        self.live = Liveness(graph)
        self._depth += 1
        self.names.update(zip(graph.inputs, inputs, strict=True))
        before = len(body.lines)
        self._write_nodes(body)
        results = [self.names[v] for v in graph.outputs]
        for value in self.live.memory:
            name = self.names.pop(value, "")
            if name.startswith("v") and name not in inputs and name not in results:
                self._free_names.append(name)
        if len(body.lines) == before:
            body.append("0")
        self._depth -= 1
        self.live, body.node = outer, node
        return results

    def _free_results(self, results: list[str], inputs: list[str]) -> None:
        self._free_names += {name for name in results if name.startswith("v") and name not in inputs}

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

    def _let_go(self, node: Node, body: _Lines) -> None:
        for value in self.live.dies_at(node):
            view = self.views.pop(value, None)
            if view is not None:
                self.arena.release(view)
            name = self.names.pop(value, None)
            if name is None or not name.startswith("v") or value.node.op is PLACEHOLDER:
                continue
            if value.spec.nbytes > 4096:
                body.append(f"del {name}")
            self._free_names.append(name)

    # ------------------------------------------------------------------ nodes

    def _write(self, node: Node, body: _Lines) -> None:
        if node.op is PLACEHOLDER:
            if node.outputs[0] not in self.names:
                raise GraphError(f"{self.graph.name}: placeholder {node.name} is not among the inputs")
        elif node.op is CONST:
            array = node.attrs["value"]
            buffer = array if isinstance(array, self.device.array_type) else self.device.copy_in(array)
            self.names[node.out] = self._bind("c", buffer)
        elif node.op is READ:
            name = self._new_name()
            variable = self.names[node.inputs[0]]
            body.append(f"{name} = {variable}._buffer" if self._at_home(node.inputs[0]) else f"{name} = READ({variable})")
            self.names[node.out] = name
        elif node.op is ASSIGN:
            variable, value = self.names[node.inputs[0]], self.names[node.inputs[1]]
            is_plain = self._at_home(node.inputs[0]) and _is_known_to_fit(*node.inputs)
            body.append(f"{variable}._buffer = {value}" if is_plain else f"ASSIGN({variable}, {value})")
        elif node.op is NOTHING:
            self.names[node.out] = "None"
        elif node.op in CONDS:
            self._write_cond(node, body)
        elif node.op in LOOPS:
            self._write_loop(node, body)
        else:
            self._write_kernel(node, body)

    def _write_cond(self, node: Node, body: _Lines) -> None:
        inputs = [self.names[v] for v in node.inputs[1:]]
        outputs = [self._new_name() for _ in node.outputs]
        for head, branch in zip((f"if {self.names[node.inputs[0]]}:", "else:"), node.attrs["branches"], strict=True):
            body.append(head)
            with body.indented():
                results = self._write_inner(branch, inputs, body)
                body.move(outputs, results)
                self._free_results(results, inputs)
        self.names.update(zip(node.outputs, outputs, strict=True))

    def _write_loop(self, node: Node, body: _Lines) -> None:
        attrs = node.attrs
        carried, popped = attrs["carried"], attrs["popped"]
        names = [self.names[v] for v in node.inputs]
        variables = [self._new_name() for _ in range(carried)]
        captured, lists = names[carried : len(names) - popped], names[len(names) - popped :]
        pushed = [self._new_name() for _ in node.outputs[carried:]]
        body.move(variables, names[:carried])
        for name in pushed:
            body.append(f"{name} = []")
        elements: list[str] = []
        if attrs["condition"] is None:
            turn = self._new_name()
            self.namespace["DOWN"] = _downwards
            body.append(f"for {turn} in DOWN({lists[0]}):")
        else:
            body.append("while 1:")
        with body.indented():
            if attrs["condition"] is None:
                for name in lists:
                    elements.append(self._new_name())
                    body.append(f"{elements[-1]} = {name}.items[{turn}]")
            else:
                (holds,) = self._write_inner(attrs["condition"], [*variables, *captured], body)
                body.append(f"if not {holds}: break")
                self._free_results([holds], [*variables, *captured])
            inputs = [*variables, *captured, *elements]
            results = self._write_inner(attrs["body"], inputs, body)
            for name, result in zip(pushed, results[carried:], strict=True):
                body.append(f"{name}.append({result})")
            body.move(variables, results[:carried])
            self._free_results(results, inputs)
        for name in pushed:
            self.namespace["LIST"] = _as_list
            body.append(f"{name} = LIST({name})")
        self._free_names += elements
        self.names.update(zip(node.outputs, [*variables, *pushed], strict=True))

    def _write_kernel(self, node: Node, body: _Lines) -> None:
        op = node.op
        row = find_kernel_row(op, self.device, _kernel_dtype(node))
        kernel = bind(row, self.device)
        arguments = self._arguments(node)
        attrs = [f"{attr}={self._literal(value)}" for attr, value in node.attrs.items()]
        is_ufunc = isinstance(kernel, np.ufunc) and kernel.nout == 1 and kernel.nin == len(node.inputs) and not attrs
        name = self._bind_kernel(node, kernel, writes_out=is_ufunc or row.out)
        target = None
        if is_ufunc or row.out:
            self.fresh.update(node.outputs)
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
            if target is None and not node.out.spec.rank and node.out.spec.dtype.kind != "l":
                text = f"{text[:-1]}, out=...)" if is_ufunc and _GIVES_ARRAYS else f"NORMALIZE({text})"
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

    def _bind_kernel(self, node: Node, kernel: Any, writes_out: bool) -> str:
        """The name of a kernel; one that never ran for these dtypes is held to its contract at the first call."""
        op, namespace, device = node.op, self.namespace, self.device
        key = vetting_key(op, [v.spec.dtype for v in node.inputs], node.attrs, device)
        if key in vetted:
            return self._bind("k", kernel)
        specs = [value.spec for value in node.outputs]

        def once(*args: Any, **kwargs: Any) -> Any:
            try:
                result = kernel(*(args if writes_out else read_only(args)), **kwargs)
            except Exception as error:
                refuse_writing(op, device, error)
                raise
            given = [] if writes_out else [a for entry in args for a in (entry if isinstance(entry, list) else [entry]) if isinstance(a, np.ndarray)]
            check_results(op, specs, result, given, device)
            vetted.add(key)
            namespace[name] = kernel
            return result

        name = self._bind("k", once)
        return name

    def _at_home(self, variable: Value) -> bool:
        """Whether a Variable is known to be on this device."""
        known = self.namespace.get(self.names[variable])
        return known is not None and known._key.device is self.device

    def _read(self, variable: Any) -> Any:
        source = variable._key.device
        return variable._buffer if source is self.device else self.device.copy_from(variable._buffer, source)

    def _assign(self, variable: Any, buffer: Any) -> None:
        variable.require_fitting(TensorShape(buffer.shape))
        target = variable._key.device
        variable._buffer = buffer if target is self.device else target.copy_from(buffer, self.device)

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
        """The name of an input that the result may be written over.

        Only one that a kernel certainly made anew: a ufunc, or one that fills ``out``. Never a complex one: NumPy rounds a complex product
        otherwise where operands and result overlap.
        """
        spec = node.out.spec
        if spec.dtype.is_complex:
            return None
        for value in node.inputs:
            alike = value.spec.dtype is spec.dtype and value.spec.dims == spec.dims and spec.dims is not None
            if alike and value in self.fresh and self.live.may_overwrite(value, node):
                if self.live.memory[node.out].escapes and value in self.views:
                    continue
                view = self.views.pop(value, None)
                if view is not None:
                    self.views[node.out] = view
                return self.names.pop(value)
        return None

    def _wants_arena(self, node: Node) -> bool:
        spec = node.out.spec
        return (
            self._depth == 0
            and spec.is_static
            and spec.nbytes >= LARGE
            and not self.live.memory[node.out].escapes
            and isinstance(self.device.allocate((1,), spec.dtype), np.ndarray)
        )


class _Lines:
    """Lines of a program, each with the node that it is for."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.nodes: list[Node] = []
        self.node: Any = None
        self._indent = ""

    def append(self, line: str) -> None:
        """Add a line for the current node."""
        self.lines.append(self._indent + line)
        self.nodes.append(self.node)

    def move(self, targets: list[str], sources: list[str]) -> None:
        """Assign several names at once."""
        pairs = [(t, s) for t, s in zip(targets, sources, strict=True) if t != s]
        if pairs:
            self.append(f"{', '.join(t for t, _ in pairs)} = {', '.join(s for _, s in pairs)}")

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Lines inside stand under the last one."""
        self._indent += "    "
        yield
        self._indent = self._indent[:-4]


def _downwards(items: BufferList) -> range:
    """The positions of a list from its end."""
    return range(items.size - 1, -1, -1)


def _as_list(buffers: list[Any]) -> BufferList:
    """What was pushed as the buffer of a list."""
    return BufferList(dict(enumerate(buffers)), len(buffers))


def _kernel_dtype(node: Node) -> Any:
    for declared, given in zip(node.op.inputs, node.grouped(node.inputs), strict=True):
        if declared.kind != "host":
            value = given[0] if isinstance(given, list) and given else given
            if isinstance(value, Value):
                return value.spec.dtype
    return next((node.attrs[a] for a in node.op.dtype_attrs), None)


def _is_known_to_fit(variable: Value, value: Value) -> bool:
    """Whether sizes known ahead show that a Variable takes a value."""
    wanted, given = variable.spec.dims, value.spec.dims
    if wanted is None:
        return True
    return given is not None and len(wanted) == len(given) and all(not isinstance(w, int) or w == g for w, g in zip(wanted, given, strict=True))


def _to_host(buffer: Any) -> Any:
    return to_tuples(buffer.tolist())


def _checkout(free: list[Any], make: Callable[[], Any]) -> Any:
    """An arena that no other call uses; popping a list is atomic."""
    try:
        return free.pop()
    except IndexError:
        return make()
