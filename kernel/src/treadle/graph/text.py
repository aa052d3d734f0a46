"""Graphs as text that prints and parses, so that a test of a pass is text in, text out.

    graph f(x: float32[batch, 4], w: float32&[4, 2]) {
      %read_2 = read(%w) : float32[4, 2]
      %matmul_3 = matmul(%x, %read_2; transpose_a=False, transpose_b=False) : float32[batch, 2]
      return %matmul_3
    }

``&`` marks the handle of a Variable. Constants are ``array("float32", (2,), [1.0, 2.0])``. A dtype attribute is its name.
"""

from __future__ import annotations

import ast
import base64
import itertools
import re
from typing import Any

import numpy as np

from treadle import dtypes
from treadle.contracts.spec import Spec
from treadle.dims import Dim
from treadle.dims_text import parse
from treadle.dtypes import DType, as_dtype
from treadle.eager.dispatch import infer
from treadle.errors import GraphError
from treadle.graph.graph import Graph, Node, Value
from treadle.graph.source import UNKNOWN
from treadle.graph.structural import CONST, OPS, PLACEHOLDER, as_constant
from treadle.registry import registry

_MOST_SHOWN = 256


# ---------------------------------------------------------------------- printing


def to_text(graph: Graph, sources: bool = False) -> str:
    """A graph as text.

    Args:
        graph: to print.
        sources: put the user's line behind each node, as a comment.
    """
    names = _symbol_names(graph)
    inputs = ", ".join(f"{v.node.name}: {_spec_text(v.spec, names)}" for v in graph.inputs)
    lines = [f"graph {_quoted(graph.name)}({inputs}) {{"]
    for node in graph.nodes:
        if node.op is PLACEHOLDER:
            continue
        line = f"  {_node_text(node, names)}"
        lines.append(f"{line}  # {node.source}" if sources and node.source is not UNKNOWN else line)
    lines.append(f"  return {', '.join(_reference(v) for v in graph.outputs)}".rstrip())
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) else repr(name)


def _reference(value: Value) -> str:
    return f"%{value.name}"


def _node_text(node: Node, names: dict[Dim, str]) -> str:
    inputs = [_reference_or_list(item) for item in node.grouped(node.inputs)]
    attrs = [f"{name}={_attr_text(value)}" for name, value in node.attrs.items()]
    call = f"{node.op.name}({', '.join(inputs)}{'; ' if attrs else ''}{', '.join(attrs)})"
    device = f" @{node.device}" if node.device else ""
    if not node.outputs:
        return f"%{node.name} = {call}{device}"
    return f"%{node.name} = {call} : {', '.join(_spec_text(v.spec, names) for v in node.outputs)}{device}"


def _reference_or_list(item: Any) -> str:
    return f"[{', '.join(_reference(v) for v in item)}]" if isinstance(item, list) else _reference(item)


def _spec_text(spec: Spec, names: dict[Dim, str]) -> str:
    dims = "?" if spec.dims is None else ", ".join(str(d) if isinstance(d, int) else d.text(names) for d in spec.dims)
    return f"{spec.dtype.name}{'&' if spec.resource else ''}[{dims}]"


def _attr_text(value: Any) -> str:
    if isinstance(value, DType):
        return value.name
    if isinstance(value, np.ndarray):
        return _array_text(value)
    if isinstance(value, float) and value != value:
        return "nan"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, tuple):
        return "(" + ", ".join(_attr_text(v) for v in value) + ("," if len(value) == 1 else "") + ")"
    return f"<{getattr(value, 'name', type(value).__name__)}>"


def _array_text(array: np.ndarray[Any, Any]) -> str:
    dtype = dtypes.from_numpy[array.dtype]
    if array.size > _MOST_SHOWN or dtype.is_complex or (dtype.is_floating and dtype.size < 4):
        content = repr(base64.b85encode(array.tobytes()).decode())
    else:
        content = "[" + ", ".join(repr(v) for v in array.reshape(-1).tolist()) + "]"
    return f'array("{dtype.name}", {array.shape!r}, {content})'


def _symbol_names(graph: Graph) -> dict[Dim, str]:
    """A name for every symbol in a graph, different for different ones."""
    names: dict[Dim, str] = {}
    taken: set[str] = set()
    for node in graph.nodes:
        for value in node.outputs:
            for size in value.spec.dims or ():
                if isinstance(size, int):
                    continue
                for symbol in sorted(size.symbols(), key=str):
                    if symbol in names:
                        continue
                    base = symbol.name or "n"
                    base = base if base.isidentifier() else "n"
                    name, number = base, 0
                    while name in taken:
                        number += 1
                        name = f"{base}{number}"
                    names[symbol] = name
                    taken.add(name)
    return names


# ---------------------------------------------------------------------- parsing

_HEAD = re.compile(r"graph\s+(\w+|'[^']*'|\"[^\"]*\")\s*\((.*)\)\s*\{")
_LINE = re.compile(r"%([\w.-]+)\s*=\s*([\w.]+)\((.*)\)\s*(?::\s*(.*?))?\s*(?:@(\S+))?")
_SPEC = re.compile(r"(\w+)(&?)\[([^\]]*)\]")


def from_text(text: str) -> Graph:
    """Read a graph.

    Raises:
        GraphError: the text is not a graph; the message names the line.
    """
    lines = [(n, re.sub(r"\s+#.*$", "", line).strip()) for n, line in enumerate(text.splitlines(), 1)]
    lines = [(n, line) for n, line in lines if line and not line.startswith("#")]
    if not lines:
        raise GraphError("an empty text is no graph; expected `graph name(inputs) {`")
    return _Reader(lines).read()


class _Reader:
    def __init__(self, lines: list[tuple[int, str]]) -> None:
        self._lines = lines
        self._symbols: dict[str, Dim] = {}
        self._values: dict[str, Value] = {}
        self._last_serial = len(lines)

    def read(self) -> Graph:
        number, head = self._lines[0]
        match = _HEAD.fullmatch(head)
        if match is None:
            raise self._error(number, f"expected `graph name(inputs) {{`, got {head!r}")
        self._graph = Graph(match.group(1).strip("'\""))
        for declared in _split(match.group(2)):
            name, _, spec = declared.partition(":")
            if not spec:
                raise self._error(number, f"input {declared!r} has no spec; write `x: float32[2, 3]`")
            self._values[name.strip()] = self._graph.placeholder(self._spec(spec.strip(), number), name.strip())
        for number, line in self._lines[1:]:
            if line.startswith("return"):
                self._graph.outputs = [self._value(item, number) for item in _split(line.removeprefix("return"))]
            elif line != "}":
                self._node(number, line)
        self._graph.next_serial = itertools.count(self._last_serial + 1).__next__
        return self._graph

    def _node(self, number: int, line: str) -> None:
        match = _LINE.fullmatch(line)
        if match is None:
            raise self._error(number, f"expected `%name = op(inputs; attributes) : specs`, got {line!r}")
        name, op_name, inside, specs_text, device = match.groups()
        op = OPS.get(op_name) or registry.op(op_name)
        inputs_text, _, attrs_text = _cut(inside)
        values: list[Value] = []
        splits: list[int] = []
        for item in _split(inputs_text):
            if item.startswith("["):
                inner = [self._value(v, number) for v in _split(item[1:-1])]
                values += inner
                splits.append(len(inner))
            else:
                values.append(self._value(item, number))
                splits.append(-1)
        attrs = {**op.defaults, **self._attrs(attrs_text, number)}
        specs = [self._spec(s, number) for s in _split(specs_text or "")] if specs_text else None
        if op is CONST:
            node = self._graph.add(op, [], {"value": as_constant(attrs["value"])}, source=UNKNOWN)
        else:
            node = self._graph.add(op, values, attrs, splits=tuple(splits) if op.variadic else None, specs=specs, source=UNKNOWN)
            self._add_values(node)
        node.device = device
        serial = re.fullmatch(re.escape(op_name) + r"_(\d+)", name)
        if serial is None:
            node.label = name
        else:
            node.serial = int(serial.group(1))
            self._last_serial = max(self._last_serial, node.serial)
        for value in node.outputs:
            self._values[name if len(node.outputs) == 1 else f"{name}:{value.index}"] = value

    def _add_values(self, node: Node) -> None:
        """Known values of shape-like results are not in the text; inference finds them again."""
        if node.op.structural or not any(v.spec.dtype.is_integer for v in node.outputs):
            return
        for value, spec in zip(node.outputs, infer(node.op, node.grouped([v.spec for v in node.inputs]), node.attrs), strict=True):
            if spec.value is not None and spec.dtype is value.spec.dtype:
                value.spec = Spec(value.spec.dims, spec.dtype, spec.value)

    def _attrs(self, text: str, number: int) -> dict[str, Any]:
        try:
            call = ast.parse(f"f({text})", mode="eval").body
        except SyntaxError:
            raise self._error(number, f"the attributes {text!r} cannot be read") from None
        assert isinstance(call, ast.Call)
        return {keyword.arg or "": self._literal(keyword.value, number) for keyword in call.keywords}

    def _literal(self, node: ast.expr, number: int) -> Any:
        if isinstance(node, ast.Name):
            return float("nan") if node.id == "nan" else float("inf") if node.id == "inf" else as_dtype(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._literal(node.operand, number)
        if isinstance(node, ast.Tuple):
            return tuple(self._literal(v, number) for v in node.elts)
        if isinstance(node, ast.List):
            return [self._literal(v, number) for v in node.elts]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "array":
            dtype, shape, content = (self._literal(a, number) for a in node.args)
            wanted = as_dtype(dtype).numpy
            flat = np.frombuffer(base64.b85decode(content), wanted) if isinstance(content, str) else np.array(content, wanted)
            return flat.reshape(shape)
        if isinstance(node, ast.Constant):
            return node.value
        raise self._error(number, f"{ast.unparse(node)!r} is no attribute value")

    def _value(self, text: str, number: int) -> Value:
        found = self._values.get(text.strip().removeprefix("%"))
        if found is None:
            raise self._error(number, f"{text.strip()!r} is not defined above; defined are {', '.join('%' + v for v in self._values) or 'none'}")
        return found

    def _spec(self, text: str, number: int) -> Spec:
        match = _SPEC.fullmatch(text.strip())
        if match is None:
            raise self._error(number, f"{text!r} is no spec; write `float32[2, n]`, `float32[?]` for an unknown rank, `float32&[2]` for a Variable")
        dtype, resource, inside = match.groups()
        if inside.strip() == "?":
            return Spec(None, as_dtype(dtype), resource=bool(resource))
        for name in re.findall(r"[A-Za-z_]\w*", inside):
            if name not in ("max", "min", "broadcast", "floordiv", "mod") and name not in self._symbols:
                self._symbols[name] = Dim.symbol(name)
        dims = tuple(parse(d, self._symbols) for d in _split(inside))
        return Spec(dims, as_dtype(dtype), resource=bool(resource))

    def _error(self, number: int, problem: str) -> GraphError:
        return GraphError(f"line {number}: {problem}")


def _cut(text: str) -> tuple[str, str, str]:
    """The text before and after the first semicolon outside quotes."""
    quote = ""
    for i, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == ";":
            return text[:i], ";", text[i + 1 :]
    return text, "", ""


def _split(text: str) -> list[str]:
    """The parts between commas that stand outside brackets."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts
