"""From a code object to the syntax tree of the user's text, with the positions it has in the user's file.

A ``def`` is read by itself, as parsing 15 lines is cheaper than parsing the file; a lambda is looked up in the parsed file, where the columns of its
byte code tell it from others on the same line.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import CodeType
from typing import Any

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


_NAMELESS = frozenset({"<string>", "<stdin>"})
"""File names that any text may have, so that one that is found under them may be another's."""


class SourceError(Exception):
    """The text of a function cannot be had; the message says why."""


def find(code: CodeType, module: dict[str, Any]) -> Definition:
    """The syntax tree of the function that ``code`` was compiled from.

    Args:
        code: of the function.
        module: its globals, which may have a loader.

    Raises:
        SourceError: the text is not available, or is not that of ``code`` any more.
    """
    linecache.lazycache(code.co_filename, module)
    lines = [] if code.co_filename in _NAMELESS else linecache.getlines(code.co_filename)
    if not lines:
        raise SourceError(f"the source of {code.co_qualname!r} is not available: there is no file {code.co_filename!r}")
    if not 0 < code.co_firstlineno <= len(lines):
        raise SourceError(f"the source of {code.co_qualname!r} is not in {code.co_filename!r} any more")
    found = _lambda(code, lines) if code.co_name == "<lambda>" else _block(code, lines)
    if _parameters(found, code) != _arguments(code):
        raise SourceError(f"{code.co_filename!r} has changed since {code.co_qualname!r} was compiled")
    return found


def class_of(code: CodeType) -> str | None:
    """The innermost class around a function, whose name mangles private names."""
    parts = code.co_qualname.split(".")[:-1]
    for i in range(len(parts) - 1, -1, -1):
        if parts[i] != "<locals>" and (i + 1 == len(parts) or parts[i + 1] != "<locals>"):
            return parts[i]
    return None


def mangled(name: str, class_name: str | None) -> str:
    """A private name as the compiler writes it inside a class."""
    if class_name is None or not name.startswith("__") or name.endswith("__") or not class_name.strip("_"):
        return name
    return f"_{class_name.lstrip('_')}{name}"


def _arguments(code: CodeType) -> list[str]:
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return list(code.co_varnames[:count])


def _parameters(node: Definition, code: CodeType) -> list[str]:
    a = node.args
    class_name = class_of(code)
    found = (*a.posonlyargs, *a.args, *a.kwonlyargs, *(p for p in (a.vararg, a.kwarg) if p is not None))
    return [mangled(p.arg, class_name) for p in found]


# ---------------------------------------------------------------------- def


def _block(code: CodeType, lines: list[str]) -> Definition:
    first = code.co_firstlineno
    indent = _indent(lines[first - 1])
    for end in _ends(lines, first, indent):
        text = "".join(lines[first - 1 : end])
        try:
            tree: Any = ast.parse(f"if 1:\n{text}" if indent else text)  # not dedented: columns stay those of the file
        except SyntaxError:
            continue  # inside brackets or a string
        node = tree.body[0].body[0] if indent else tree.body[0]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
            ast.increment_lineno(node, first - (2 if indent else 1))
            return node
        break
    raise SourceError(f"line {first} of {code.co_filename!r} does not define {code.co_name!r}; the file has changed since it was compiled")


def _indent(line: str) -> int:
    text = line.rpartition("\f")[2] if line.lstrip(" \t").startswith("\f") else line  # a form feed begins the line anew, as for the compiler
    text = text.expandtabs()
    return len(text) - len(text.lstrip())


def _ends(lines: list[str], first: int, indent: int) -> Iterator[int]:
    """Where a block may end: before each line that stands no deeper than its first."""
    for i in range(first, len(lines)):
        text = lines[i].strip()
        if text and not text.startswith("#") and _indent(lines[i]) <= indent:
            yield i
    yield len(lines)


# ---------------------------------------------------------------------- lambda

_files: dict[str, tuple[list[str], dict[int, list[ast.Lambda]]]] = {}


def _lambda(code: CodeType, lines: list[str]) -> ast.Lambda:
    known = _files.get(code.co_filename)
    if known is None or known[0] is not lines:
        known = _files[code.co_filename] = (lines, _lambdas(code, lines))
    candidates = [node for node in known[1].get(code.co_firstlineno, ()) if _parameters(node, code) == _arguments(code)]
    if len(candidates) > 1:
        candidates = _where_positions_fit(code, candidates)
    if not candidates:
        raise SourceError(f"line {code.co_firstlineno} of {code.co_filename!r} has no such lambda; the file has changed since it was compiled")
    if len(candidates) > 1 and len({ast.dump(node) for node in candidates}) > 1:
        raise SourceError(
            f"line {code.co_firstlineno} of {code.co_filename!r} has several lambdas that cannot be told apart; put them on lines of their own"
        )
    return candidates[0]


def _lambdas(code: CodeType, lines: list[str]) -> dict[int, list[ast.Lambda]]:
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError as error:
        raise SourceError(f"{code.co_filename!r} does not parse: {error}") from None
    found: dict[int, list[ast.Lambda]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            found.setdefault(node.lineno, []).append(node)
    return found


def _where_positions_fit(code: CodeType, candidates: list[ast.Lambda]) -> list[ast.Lambda]:
    """The lambdas with the smallest body that holds every position of the byte code."""
    spans = [(a, c, b, d) for a, b, c, d in code.co_positions() if None not in (a, b, c, d) and (a, c) != (b, d)]
    fitting = []
    for node in candidates:
        body: Any = node.body
        start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
        if all(start <= span[:2] and span[2:] <= end for span in spans):
            fitting.append((start, node))
    if not spans or not fitting:
        return candidates
    innermost = max(start for start, _ in fitting)
    return [node for start, node in fitting if start == innermost]
