"""From the user's code object to converted code with the same file, lines and name.

The converted tree is compiled inside a function whose parameters are the free variables, and a method's inside a class of its class's name, so that
cells and private names come out as in the original. Generated functions get the name of the user's function, as tracebacks show names.
"""

from __future__ import annotations
import __future__

import ast
import builtins
from types import CodeType
from typing import Any

from treadle_autograph.names import HIDDEN
from treadle_autograph.nodes import LAZY, OPERATORS, located
from treadle_autograph.source import Definition, SourceError, class_of, find
from treadle_autograph.statements import Converter

_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag
_FACTORY, _FUNCTION = f"{HIDDEN}factory", f"{HIDDEN}function"
_OPTIMIZED = 1
"""Code flag of functions, which the body of a class does not have."""


class Part:
    """What a code object inside converted code is.

    Attributes:
        host: a token of the user's function that it belongs to.
        is_generated: it is not that function itself.
    """

    __slots__ = ("__weakref__", "host", "is_generated")

    def __init__(self, host: object, is_generated: bool) -> None:
        self.host = host
        self.is_generated = is_generated


class Compiled:
    """One converted function.

    Attributes:
        code: of the converted function; its free variables are those of the original and ``ag__``.
        parts: every code object inside, ``code`` included, and what it is.
    """

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.parts: list[tuple[CodeType, Part]] = []


def convert_code(code: CodeType, module: dict[str, Any]) -> Compiled:
    """Convert a function.

    Args:
        code: of the function.
        module: its globals.

    Raises:
        SourceError: its text is not available.
        NotConvertibleError: it has a construct that cannot be converted.
    """
    try:
        return _compile(code, converted_tree(code, module))
    except SyntaxError:  # too many statically nested blocks, of which watching takes two each
        return _compile(code, converted_tree(code, module, watches=False))


def converted_tree(code: CodeType, module: dict[str, Any], watches: bool = True) -> ast.FunctionDef:
    """The converted function as a syntax tree; tests are watched only where byte code knows its columns."""
    node = find(code, module)
    hidden = {name for name in module if name in vars(builtins)}
    watches = watches and any(column is not None for _, _, column, _ in code.co_positions())
    return Converter(_as_def(node), {*code.co_freevars, *hidden}, set(), class_of(code), watches).convert()


def _as_def(node: Definition) -> ast.FunctionDef:
    if isinstance(node, ast.FunctionDef):
        return node
    assert isinstance(node, ast.Lambda)
    function = ast.FunctionDef("lambda_", node.args, [ast.copy_location(ast.Return(node.body), node.body)], [])
    if "type_params" in ast.FunctionDef._fields:
        function.type_params = []
    return ast.copy_location(function, node)


def _compile(code: CodeType, tree: ast.FunctionDef) -> Compiled:
    bare = _without_surroundings(tree)
    class_name = class_of(code)
    body: Any = bare
    if class_name is not None:
        body = ast.ClassDef(class_name, [], [], [body], [])
    free = [name for name in code.co_freevars if name != "__class__"]
    parameters = ast.arguments(posonlyargs=[], args=[ast.arg(n) for n in (*free, OPERATORS)], kwonlyargs=[], kw_defaults=[], defaults=[])
    factory = ast.FunctionDef(_FACTORY, parameters, [body], [])
    if class_name is not None and class_name not in free:
        factory.body.insert(0, ast.copy_location(ast.Global([class_name]), tree))  # the function means the global of that name
    for node in (factory, body):
        if "type_params" in node._fields and not hasattr(node, "type_params"):
            node.type_params = []
        located(node, tree)
    bare.lineno = code.co_firstlineno  # that of the first decorator
    compiled = compile(ast.Module([factory], []), code.co_filename, "exec", flags=code.co_flags & _FUTURES, dont_inherit=True)
    found = _nested(compiled, _FACTORY)
    if class_name is not None:
        found = _nested(found, class_name)
    found = _nested(found, _FUNCTION)
    if not set(found.co_freevars) <= {*code.co_freevars, OPERATORS}:
        raise SourceError(f"{code.co_filename!r} has changed since {code.co_qualname!r} was compiled")
    result = Compiled(found)
    renamed = _renamed(found, code.co_name, code.co_qualname, Part(object(), False), result)
    result.code = renamed
    return result


def _without_surroundings(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function without defaults, decorators and annotations, which are the original's."""
    a = tree.args
    plain = ast.arguments(
        posonlyargs=[_bare(p) for p in a.posonlyargs],
        args=[_bare(p) for p in a.args],
        vararg=None if a.vararg is None else _bare(a.vararg),
        kwonlyargs=[_bare(p) for p in a.kwonlyargs],
        kw_defaults=[None for _ in a.kw_defaults],
        kwarg=None if a.kwarg is None else _bare(a.kwarg),
        defaults=[],
    )
    twin = ast.FunctionDef(_FUNCTION, plain, tree.body, [])
    if "type_params" in ast.FunctionDef._fields:
        twin.type_params = []
    return ast.copy_location(twin, tree)


def _bare(parameter: ast.arg) -> ast.arg:
    return ast.copy_location(ast.arg(parameter.arg), parameter)


def _nested(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


def _renamed(code: CodeType, name: str, qualname: str, part: Part, result: Compiled) -> CodeType:
    """A code object and those inside it under the names of the user's functions."""
    is_function = bool(code.co_flags & _OPTIMIZED)
    consts = []
    for const in code.co_consts:
        if isinstance(const, CodeType):
            own = const.co_name.startswith(HIDDEN) or const.co_varnames[: const.co_argcount] == (LAZY,)
            if own:
                const = _renamed(const, name, qualname, Part(part.host, True), result)
            else:
                inner = f"{qualname}{'.<locals>' if is_function else ''}.{const.co_name}"
                const = _renamed(const, const.co_name, inner, Part(object(), False), result)
        elif not is_function and const == code.co_qualname:
            const = qualname  # what the class body sets __qualname__ to
        consts.append(const)
    twin = code.replace(co_consts=tuple(consts), co_name=name, co_qualname=qualname)
    result.parts.append((twin, part))
    return twin
