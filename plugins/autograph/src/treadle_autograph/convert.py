"""``convert``: a function whose control flow may depend on tensors; and which functions that is done to.

The user's functions are converted, each code object once; libraries, the standard library and plugins of treadle are not, nor are generators and
coroutines, nor functions without source. Converted functions share globals, cells and defaults with the original.
"""

from __future__ import annotations

import functools
import os
import threading
import types
import warnings
import weakref
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

from treadle.state import own_packages
from treadle_autograph.compilation import Compiled, Part, convert_code
from treadle_autograph.jumps import NotConvertibleError
from treadle_autograph.nodes import OPERATORS
from treadle_autograph.source import SourceError

_LEFT_ALONE = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators
KEPT = "__treadle_converted__"
"""Where a function keeps its conversion, beside the code and the closure that it is of."""
_CALL = "__call__"
LOGGER = "treadle.autograph"
verbose = False
"""Set by ``set_verbosity``."""


class AutographWarning(UserWarning):
    """A function could not be converted; it runs as it is written."""


class _Entry:
    """What is known of a code object.

    Attributes:
        compiled: the conversion; None if the code runs as it is.
        reason: why it does.
        reference: to the code, as ids are used again.
    """

    __slots__ = ("__weakref__", "compiled", "reason", "reference")

    def __init__(self, code: CodeType, compiled: Compiled | None, reason: str) -> None:
        self.compiled = compiled
        self.reason = reason
        key = id(code)
        self.reference = weakref.ref(code, lambda _: _entries.pop(key, None))


_entries: dict[int, _Entry] = {}
_lock = threading.RLock()
parts: weakref.WeakValueDictionary[int, Part] = weakref.WeakValueDictionary()
"""By the id of a code object of converted code, what it is."""


def note(message: str, *arguments: Any) -> None:
    """Log what is done, if ``set_verbosity`` wants it; ``logging`` is not imported before."""
    if verbose:
        import logging

        logging.getLogger(LOGGER).info(message, *arguments)


def convert(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its control flow made ready for tensors.

    Args:
        function: a function, method, partial or object with ``__call__``.

    Returns:
        The converted one, or ``function`` itself if it is to run as it is.
    """
    kind = type(function)
    if kind is FunctionType:
        return _of_function(function)
    if kind is MethodType:
        inner = convert(function.__func__)
        return function if inner is function.__func__ else MethodType(inner, function.__self__)
    if kind is functools.partial:
        partial: Any = function
        inner = convert(partial.func)
        return function if inner is partial.func else functools.partial(inner, *partial.args, **partial.keywords)
    if kind is BuiltinFunctionType or issubclass(kind, type):
        return function
    method = getattr(kind, _CALL, None)
    if type(method) is FunctionType:
        inner = _of_function(method)
        if inner is not method:
            return MethodType(inner, function)
    return function


def _of_function(function: Any) -> Any:
    code = function.__code__
    kept = function.__dict__.get(KEPT)
    if kept is not None and kept[0] is code and kept[1] is function.__closure__ and kept[2].__defaults__ is function.__defaults__:
        return kept[2]
    compiled = entry_of(code, function.__globals__).compiled
    if compiled is None:
        return function
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells[OPERATORS] = _operators()
    closure = tuple(cells[name] for name in compiled.code.co_freevars)
    converted = FunctionType(compiled.code, function.__globals__, function.__name__, function.__defaults__, closure)
    converted.__kwdefaults__ = function.__kwdefaults__
    converted.__dict__.update(function.__dict__)
    converted.__annotations__ = function.__annotations__
    converted.__doc__, converted.__module__, converted.__qualname__ = function.__doc__, function.__module__, function.__qualname__
    function.__dict__[KEPT] = (code, function.__closure__, converted)  # with the function, and not in a table: both go together
    return converted


def python_function(entity: Any) -> Any:
    """The function as written of a function, method, traced function, partial or object with ``__call__``."""
    while not isinstance(entity, FunctionType):
        inner = getattr(entity, "python_function", None) or getattr(entity, "__func__", None) or getattr(entity, "func", None)
        if inner is None:
            method = None if isinstance(entity, type) else getattr(type(entity), _CALL, None)
            return method if isinstance(method, FunctionType) else entity
        entity = inner
    return entity


@functools.cache
def _operators() -> types.CellType:
    from treadle_autograph import operators

    return types.CellType(operators)


def entry_of(code: CodeType, module: dict[str, Any]) -> _Entry:
    """What is known of a function's code; it is converted at the first question."""
    found = _entries.get(id(code))
    if found is not None and found.reference() is code:
        return found
    with _lock:
        found = _entries.get(id(code))
        if found is None or found.reference() is not code:
            found = _entries[id(code)] = _new_entry(code, module)
        return found


def _new_entry(code: CodeType, module: dict[str, Any]) -> _Entry:
    reason = why_not(code, module)
    if reason:
        return _Entry(code, None, reason)
    try:
        compiled = _converted_code(code, module)
    except (SourceError, NotConvertibleError) as error:
        note("%s runs as it is: %s", code.co_qualname, error)
        return _Entry(code, None, str(error))
    except Exception as error:
        place = f"{code.co_qualname!r} ({code.co_filename}:{code.co_firstlineno})"
        message = f"AutoGraph could not convert {place}, which runs as it is written: {type(error).__name__}: {error}"
        warnings.warn(message, AutographWarning, stacklevel=2)
        return _Entry(code, None, message)
    for inner, part in compiled.parts:
        _entries[id(inner)] = _Entry(inner, None, "it is converted already")
        parts[id(inner)] = part
    note("converted %s (%s:%d)", code.co_qualname, code.co_filename, code.co_firstlineno)
    return _Entry(code, compiled, "")


def why_python_decides(code: CodeType, module: dict[str, Any]) -> str:
    """Why a condition in a function was Python's, and not for the graph."""
    if id(code) in parts:
        return _ONLY_PYTHON
    entry = entry_of(code, module)
    place = f"{code.co_qualname!r} ({code.co_filename}:{code.co_firstlineno})"
    return f"{place} runs as it is written, not converted by AutoGraph: {entry.reason if entry.compiled is None else _NOT_CALLED}"


_ONLY_PYTHON = (
    "AutoGraph leaves it to Python what a `case` matches, what is `in` a container in the filter of a comprehension, whether lists with tensors in "
    "them are equal, what the methods of a list compare, and what the `__bool__` of a class says: none of these may depend on a tensor that has no "
    "value while tracing"
)
_NOT_CALLED = (
    "it was not called by converted code, but by an operator, a property, a `with`, a library, or under do_not_convert or autograph=False. "
    "Call it by its name from a converted function, or use td.cond"
)


def _converted_code(code: CodeType, module: dict[str, Any]) -> Compiled:
    try:
        return convert_code(code, module)
    except RecursionError:  # the program may be near the limit itself: a new thread has the whole stack
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:
            return pool.submit(convert_code, code, module).result()


def why_not(code: CodeType, module: dict[str, Any]) -> str:
    """Why a function runs as it is written; an empty text if it is to be converted."""
    if code.co_flags & _LEFT_ALONE:
        return "it is a generator or coroutine"
    package = str(module.get("__name__", "")).partition(".")[0]
    if package in own_packages:
        return f"it belongs to {package}"
    if is_library(code.co_filename):
        return "it belongs to an installed library"
    return ""


@functools.lru_cache(maxsize=4096)
def is_library(filename: str) -> bool:
    """True for files of the standard library and of installed packages."""
    if filename.startswith("<frozen"):
        return True
    if f"{os.sep}site-packages{os.sep}" in filename or f"{os.sep}dist-packages{os.sep}" in filename:
        return True
    return filename.startswith(os.path.dirname(os.__file__) + os.sep)
