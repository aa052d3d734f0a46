"""Signatures as a stub writes them: annotations with the imports that they need, defaults where they are short, and what is given back.

A public function that does not say what it gives back is read: where all it returns are results of ops, that is a Tensor.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from treadle.contracts.op import Op
from treadle.contracts.spec import Spec
from treadle.tensor import Tensor
from treadle_cli.stub_module import Module

_SHORT = 40


class Signatures:
    """Writes ``def`` statements; knows which public functions give a Tensor."""

    def __init__(self) -> None:
        self._gives_tensor: dict[Any, bool] = {}

    # ------------------------------------------------------------------ definitions

    def of_op(self, entry: Any, name: str, stub: Module) -> str:
        """The entry point of an op."""
        op: Op = entry.op
        hints = op.infer.__annotations__
        inputs = [f"{i.name}: {stub.use('typing', 'Any')}" for i in op.inputs]
        attributes = []
        for attribute, default in op.defaults.items():
            kind = self.annotation(hints.get(attribute, "Any"), op.infer, stub)
            attributes.append(f"{attribute}: {kind}{'' if repr(default) == 'REQUIRED' else f' = {_default(default)}'}")
        taken = {i.name for i in op.inputs} | set(op.defaults)
        trailing = [] if "name" in taken else [f"name: {stub.builtin('str')} | None = None"]
        parameters = [*inputs, "*", *attributes, *trailing] if attributes else [*inputs, *trailing]
        return self._definition(name, ", ".join(parameters), self._result_of(op, stub), entry)

    def _result_of(self, op: Op, stub: Module) -> str:
        if op.outputs == "none":
            return "None"
        tensor = stub.use("treadle.tensor", "Tensor")
        if op.outputs == "one":
            return tensor
        if op.outputs == "list":
            return f"list[{tensor}]"
        fields = getattr(op.result, "_fields", None)
        if fields is None or op.result is None:
            return f"tuple[{tensor}, ...]"
        lines = "\n".join(f"    {field}: {tensor}" for field in fields)
        stub.add(op.result.__name__, f"class {op.result.__name__}({stub.use('typing', 'NamedTuple')}):\n{lines}")
        return op.result.__name__

    def of_function(self, function: Callable[..., Any], name: str, stub: Module, returns: str = "") -> str:
        """A public function."""
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            any_ = stub.use("typing", "Any")
            return self._definition(name, f"*args: {any_}, **kwargs: {any_}", any_, function)
        result = returns or self.annotation(signature.return_annotation, function, stub)
        if result == "Any" and self.gives_tensor(function):
            result = "Tensor"
        if result == "Tensor":
            stub.use("treadle.tensor", "Tensor")
        return self._definition(name, ", ".join(self.parameters(function, stub)), result, function)

    def _definition(self, name: str, parameters: str, result: str, function: Any) -> str:
        doc = self.doc(function, "    ")
        head = f"def {name}({parameters}) -> {result}:"
        return f'{head}\n    """{doc}"""\n    ...' if doc else f"{head} ..."

    def doc(self, function: Any, indent: str) -> str:
        """A docstring ready to stand between quotation marks."""
        text = inspect.cleandoc(function.__doc__ or "").replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        if "\n" in text:
            return textwrap.indent(f"{text}\n", indent).strip(" ") + indent
        return text[:-1] + '\\"' if text.endswith('"') else text

    # ------------------------------------------------------------------ parts

    def parameters(self, function: Callable[..., Any], stub: Module) -> list[str]:
        """The parameters of a function, one text each, with the markers ``/`` and ``*``."""
        texts: list[str] = []
        parameters = list(inspect.signature(function).parameters.values())
        has_star = False
        for i, p in enumerate(parameters):
            if p.kind is p.KEYWORD_ONLY and not has_star:
                texts.append("*")
                has_star = True
            kind = self.annotation(p.annotation, function, stub)
            star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            has_star = has_star or p.kind is p.VAR_POSITIONAL
            texts.append(f"{star}{p.name}: {kind}{'' if p.default is p.empty else f' = {_default(p.default)}'}")
            if p.kind is p.POSITIONAL_ONLY and (i + 1 == len(parameters) or parameters[i + 1].kind is not p.POSITIONAL_ONLY):
                texts.append("/")
        return texts

    def annotation(self, given: Any, function: Any, stub: Module) -> str:
        """An annotation that holds in the stub; ``Any`` where it cannot be said there."""
        if given is None or given is type(None):
            return "None"
        if isinstance(given, type) and given is not inspect.Parameter.empty and not hasattr(given, "__origin__"):
            given = given.__name__
        if not isinstance(given, str):
            return stub.use("typing", "Any")
        try:
            tree = ast.parse(given, mode="eval")
            resolved = _Resolve(_globals(function), stub).visit(tree)
        except (SyntaxError, LookupError):
            return stub.use("typing", "Any")
        return ast.unparse(resolved)

    def type_of(self, thing: Any, stub: Module) -> str:
        """The type of a value."""
        kind = type(thing)
        if thing is None:
            return "None"
        if kind.__module__ == "builtins" and kind in (bool, int, float, complex, str, bytes):
            return stub.builtin(kind.__name__)
        if kind.__module__.startswith("treadle") and getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind:
            return stub.use(kind.__module__, kind.__name__)
        return stub.use("typing", "Any")

    # ------------------------------------------------------------------ what a function gives back

    def gives_tensor(self, function: Any) -> bool:
        """True if everything that a function returns is the result of an op; False where that cannot be seen."""
        known = self._gives_tensor.get(function)
        if known is None:
            self._gives_tensor[function] = False  # while it is looked at: recursion proves nothing
            known = self._gives_tensor[function] = self._read(function)
        return known

    def _read(self, function: Any) -> bool:
        if isinstance(getattr(function, "op", None), Op):
            return bool(function.op.outputs == "one")
        function = inspect.unwrap(function) if callable(function) else function
        if not isinstance(function, FunctionType) or not function.__module__.startswith("treadle"):
            return False
        if function.__annotations__.get("return") == "Tensor" or (function.__module__, function.__name__) in _TENSOR_FUNCTIONS:
            return True
        if function.__annotations__.get("return") != "Any":
            return False
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        except (OSError, SyntaxError):
            return False
        if not isinstance(tree, ast.FunctionDef):
            return False
        return _Body(self, function).returns_tensor(tree)


_TENSOR_FUNCTIONS = {("treadle.conversion", "constant"), ("treadle.conversion", "convert_to_tensor"), ("treadle_ops.arguments", "tensor")}


class _Body:
    """What the local names of one function are, as far as assignments tell."""

    def __init__(self, signatures: Signatures, function: FunctionType) -> None:
        self._signatures = signatures
        self._globals = function.__globals__

    def returns_tensor(self, tree: ast.FunctionDef) -> bool:
        """True if every ``return`` of the function itself gives a tensor."""
        nodes = list(_own_nodes(tree))
        returned = [node.value for node in nodes if isinstance(node, ast.Return)]
        assigned: dict[str, list[ast.expr]] = {}
        for node in nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                assigned.setdefault(node.targets[0].id, []).append(node.value)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assigned.setdefault(node.id, [])
        parameters = {argument.arg for argument in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]}
        self._locals = assigned | {name: [] for name in parameters}  # what a parameter is, nobody knows
        self._stored = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        return bool(returned) and all(value is not None and self._is_tensor(value, ()) for value in returned)

    def _is_tensor(self, value: ast.expr, visited: tuple[str, ...]) -> bool:
        match value:
            case ast.Call(func=ast.Name(id=name)) if name not in self._locals:
                return self._signatures.gives_tensor(self._globals.get(name))
            case ast.IfExp(body=yes, orelse=no):
                return self._is_tensor(yes, visited) and self._is_tensor(no, visited)
            case ast.BinOp(left=left, right=right):
                return self._is_tensor(left, visited) or self._is_tensor(right, visited)
            case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
                return self._is_tensor(operand, visited)
            case ast.Name(id=name) if name not in visited and self._locals.get(name) and self._stored[name] == len(self._locals[name]):
                return all(self._is_tensor(v, (*visited, name)) for v in self._locals[name])
        return False


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp, ast.ListComp, ast.DictComp, ast.SetComp)


def _own_nodes(tree: ast.FunctionDef) -> Any:
    """The nodes of a function without those of the functions inside it."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)


class _Resolve(ast.NodeTransformer):
    """Looks up the names of an annotation where it was written, and imports them into the stub."""

    def __init__(self, namespace: dict[str, Any], stub: Module) -> None:
        self._namespace = namespace
        self._stub = stub

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name: of a builtin, of ``typing``, or of a class."""
        thing = self._namespace.get(node.id, getattr(builtins, node.id, None))
        if thing is Spec:
            thing = Tensor
        if thing is getattr(builtins, node.id, self) and node.id != "None":
            return ast.parse(self._stub.builtin(node.id), mode="eval").body
        where, name = getattr(thing, "__module__", ""), getattr(thing, "__name__", node.id)
        if isinstance(thing, ModuleType):
            raise LookupError(node.id)
        if getattr(sys.modules.get(where), name, None) is not thing or thing is None:
            raise LookupError(node.id)
        return ast.Name(self._stub.use(where, name))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """``module.Name``."""
        module = self._namespace.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if not isinstance(module, ModuleType) or not hasattr(module, node.attr):
            raise LookupError(ast.unparse(node))
        return ast.parse(f"{self._stub.use_module(module.__name__)}.{node.attr}", mode="eval").body

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """``None``, ``...``, or an annotation within an annotation."""
        return self.visit(ast.parse(node.value, mode="eval").body) if isinstance(node.value, str) else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """``Literal["a"]`` holds texts, not annotations."""
        if isinstance(node.value, ast.Name) and node.value.id == "Literal":
            return ast.Subscript(self.visit(node.value), node.slice)
        return ast.Subscript(self.visit(node.value), self.visit(node.slice))


def _globals(function: Any) -> dict[str, Any]:
    found = inspect.unwrap(function) if callable(function) else function
    return getattr(found, "__globals__", {})


def _default(value: Any) -> str:
    """A default in full where it is short and plain, else ``...``."""
    if isinstance(value, float) and not math.isfinite(value):
        return "..."
    parts = value if isinstance(value, tuple) else (value,)
    is_plain = all(part is None or type(part) in (bool, int, float, str) for part in parts)
    return repr(value) if is_plain and len(repr(value)) <= _SHORT else "..."
