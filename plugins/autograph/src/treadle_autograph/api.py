"""``td.autograph``: converted functions and their text, what cannot be converted, and how much is logged."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import wraps
from typing import Any

from treadle.declare import public
from treadle_autograph.check import Finding, check_entity
from treadle_autograph.compilation import converted_tree
from treadle_autograph.convert import convert, entry_of, python_function, why_not
from treadle_autograph.names import HIDDEN, SHOWN


@public("autograph.to_graph")
def to_graph(entity: Callable[..., Any], recursive: bool = True, experimental_optional_features: Any = None) -> Callable[..., Any]:
    """The converted function, as tracing calls it; it may also be called eagerly.

    Args:
        entity: a function or method of the user's.
        recursive: ignored; what is called is converted when it is.
        experimental_optional_features: ignored.

    Raises:
        ValueError: it cannot be converted; the message says why.

    Sources:
        TensorFlow ``tf.autograph.to_graph``.
    """
    _convertible(entity)
    return convert(getattr(entity, "python_function", entity))


@public("autograph.to_code")
def to_code(entity: Callable[..., Any], recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The Python text that a function is converted to.

    Args:
        entity: a function or method of the user's.
        recursive: ignored.
        experimental_optional_features: ignored.

    Raises:
        ValueError: it cannot be converted; the message says why.

    Sources:
        TensorFlow ``tf.autograph.to_code``.
    """
    function = _convertible(entity)
    return ast.unparse(ast.fix_missing_locations(converted_tree(function.__code__, function.__globals__))).replace(HIDDEN, SHOWN)


def _convertible(entity: Any) -> Any:
    function = python_function(entity)
    code = getattr(function, "__code__", None)
    if code is None:
        raise ValueError(f"{entity!r} is no function written in Python, so there is nothing to convert")
    reason = why_not(code, function.__globals__)
    entry = entry_of(code, function.__globals__)
    if entry.compiled is None:
        raise ValueError(f"{code.co_qualname!r} is not converted: {reason or entry.reason}")
    return function


@public("autograph.check")
def check(entity: Callable[..., Any]) -> list[Finding]:
    """What in a function would not work, or not as it does in Python, if it depended on tensors; nothing runs.

    Args:
        entity: a function, a method, or a class for all that it defines.

    Returns:
        Findings with ``line``, ``construct`` and ``reason``, by line.
    """
    return check_entity(entity)


@public("autograph.trace")
def trace(*args: Any) -> None:
    """Print values while tracing: once for each trace, where ``td.print`` prints at each call.

    Args:
        *args: anything.

    Sources:
        TensorFlow ``tf.autograph.trace``.
    """
    print(*args)


@public("autograph.set_verbosity")
def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Log what is converted, to the logger ``treadle.autograph``.

    Args:
        level: 0 for nothing; from 1 which functions are converted and which are not, and why.
        alsologtostdout: write it to the standard output too.

    Sources:
        TensorFlow ``tf.autograph.set_verbosity``.
    """
    import logging
    import sys

    from treadle_autograph import convert as conversion

    conversion.verbose = level > 0
    log = logging.getLogger(conversion.LOGGER)
    log.setLevel(logging.INFO if level > 0 else logging.WARNING)
    for handler in [h for h in log.handlers if getattr(h, "of_set_verbosity", False)]:
        log.removeHandler(handler)
    if alsologtostdout:
        handler = logging.StreamHandler(sys.stdout)
        handler.of_set_verbosity = True
        log.addHandler(handler)


@public("autograph.experimental.do_not_convert")
def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Let a function, and what it calls, run as it is written. May be used as a decorator.

    Args:
        func: the function; without it, a decorator is given back.

    Sources:
        TensorFlow ``tf.autograph.experimental.do_not_convert``.
    """
    if func is None:
        return do_not_convert

    @wraps(func)
    def as_written(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return as_written


@public("autograph.experimental.set_loop_options")
def set_loop_options(parallel_iterations: Any = None, swap_memory: Any = None, maximum_iterations: Any = None, shape_invariants: Any = None) -> None:
    """Say more about the loop whose first statement this call is; it has no effect on loops that Python runs.

    Args:
        parallel_iterations: ignored.
        swap_memory: ignored.
        maximum_iterations: at most so many turns.
        shape_invariants: pairs of a loop variable and a shape that it has on every turn.

    Sources:
        TensorFlow ``tf.autograph.experimental.set_loop_options``.
    """
