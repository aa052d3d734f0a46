"""The text of one stub: what it imports and defines, and what a real module comes to as a stub."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterable
from types import ModuleType
from typing import Any


class Module:
    """One ``.pyi`` in the making; names come out sorted, imports first.

    Args:
        doc: its docstring.
        taken: names that it defines, which therefore do not mean the builtins of that name.
    """

    def __init__(self, doc: str, taken: Iterable[str] = ()) -> None:
        self._doc = doc
        self._taken = frozenset(taken)
        self._uses: dict[str, set[str]] = {}
        self._exports: dict[str, set[tuple[str, str]]] = {}
        self._modules: set[str] = set()
        self._definitions: dict[str, str] = {}
        self._body: list[ast.stmt] = []

    # ------------------------------------------------------------------ filling

    def use(self, module: str, name: str) -> str:
        """Import a name for annotations only; the name."""
        self._uses.setdefault(module, set()).add(name)
        return name

    def use_module(self, module: str) -> str:
        """Import a module for annotations; its name."""
        self._modules.add(module)
        return module

    def builtin(self, name: str) -> str:
        """A builtin as an annotation can name it."""
        return f"{self.use_module('builtins')}.{name}" if name in self._taken else name

    def reexport(self, module: str, name: str, as_name: str) -> None:
        """Offer what another module defines."""
        self._exports.setdefault(module, set()).add((name, as_name))

    def add(self, name: str, text: str) -> None:
        """Define something."""
        self._definitions[name] = text

    def constant(self, name: str, kind: str) -> None:
        """Define a value of a type."""
        self._definitions[name] = f"{name}: {kind}"

    def adopt(self, body: list[ast.stmt]) -> None:
        """Take in the statements of a real module."""
        self._body += body

    def extend_class(self, name: str, lines: list[str]) -> None:
        """Put methods into a class that was adopted."""
        found = next(s for s in self._body if isinstance(s, ast.ClassDef) and s.name == name)
        found.body += ast.parse("\n".join(lines)).body

    # ------------------------------------------------------------------ text

    def text(self) -> str:
        """The stub."""
        lines = [f'"""{self._doc}\n"""', ""]
        lines += [f"import {module}" for module in sorted(self._modules)]
        for module in sorted({*self._uses, *self._exports}):
            exported = self._exports.get(module, set())
            plain = self._uses.get(module, set()) - {name for name, as_name in exported if name == as_name}
            if plain:
                lines.append(f"from {module} import {', '.join(sorted(plain))}")
            lines += [f"from {module} import {name} as {as_name}" for name, as_name in sorted(exported)]
        if self._body:
            lines += ["", ast.unparse(ast.Module(self._body, []))]
        previous = ""
        for name in sorted(self._definitions):
            definition = self._definitions[name]
            if "\n" in definition or "\n" in previous or not previous:
                lines.append("")
            lines.append(definition)
            previous = definition
        return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines()) + "\n"


def of_module(module: ModuleType, doc: str) -> Module:
    """A real module as a stub: its imports, classes, functions and constants, without what they do."""
    stub = Module(doc)
    stub.adopt(_statements(ast.parse(inspect.getsource(module)).body, vars(module), at_top=True))
    return stub


def _statements(body: list[ast.stmt], namespace: Any, at_top: bool) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for statement in body:
        match statement:
            case ast.FunctionDef(name="__getattr__") if at_top:
                pass  # what it finds is written out
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                kept.append(_function(statement))
            case ast.ClassDef():
                inner = _statements(statement.body, vars(namespace[statement.name]), at_top=False)
                statement.body = [*_doc(statement), *inner] or [_ellipsis()]
                kept.append(statement)
            case ast.AnnAssign(target=ast.Name()):
                statement.value = None
                kept.append(statement)
            case ast.Assign(targets=[ast.Name(id="__slots__")]):
                pass
            case ast.Assign():
                kept += [_constant(name, namespace) for target in statement.targets for name in _names(target)]
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                kept += _statements(statement.body, namespace, at_top)
            case ast.ImportFrom(module="__future__"):
                pass
            case ast.Import() | ast.ImportFrom() if at_top:
                kept.append(statement)
    return kept


def _doc(statement: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    return statement.body[:1] if ast.get_docstring(statement) is not None else []


def _ellipsis() -> ast.stmt:
    return ast.Expr(ast.Constant(...))


def _function(statement: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    arguments = statement.args
    arguments.defaults = [_default(d) for d in arguments.defaults]
    arguments.kw_defaults = [None if d is None else _default(d) for d in arguments.kw_defaults]
    statement.body = [*_doc(statement), _ellipsis()]
    return statement


def _default(node: ast.expr) -> ast.expr:
    return node if isinstance(node, ast.Constant) else ast.Constant(...)


def _names(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Name):
        return [target.id]
    return [name for item in target.elts for name in _names(item)] if isinstance(target, ast.Tuple | ast.List) else []


def _constant(name: str, namespace: Any) -> ast.stmt:
    kind = type(namespace.get(name))
    known = kind.__name__ if namespace.get(kind.__name__, getattr(builtins, kind.__name__, None)) is kind else "Any"
    return ast.parse(f"{name}: {'Any' if known in ('type', 'function', 'NoneType') else known}").body[0]
