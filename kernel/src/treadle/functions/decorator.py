"""``td.function``, the decorator: what is handed to it, and what it makes of that."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from treadle.functions.instances import BoundFunction
from treadle.functions.polymorphic import Function


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Trace a Python function into a graph, once per signature of its arguments (TensorFlow's ``tf.function``).

    Args:
        func: the function; without it, a decorator is given back.
        input_signature: ``TensorSpec``s, nested as the arguments; then one trace serves every call. A ``TensorArraySpec`` stands for an array.
        autograph: convert Python control flow that depends on tensors.
        jit_compile: compile to native code where a compiler is installed.
        reduce_retracing: trace for unknown sizes once sizes have been seen to vary.
        experimental_implements: kept, without effect.
        experimental_autograph_options: kept, without effect.
        experimental_attributes: kept, without effect.
        experimental_relax_shapes: the older name of ``reduce_retracing``.
        experimental_compile: the older name of ``jit_compile``.
        experimental_follow_type_hints: convert Python numbers to tensors for parameters annotated ``td.Tensor``, so that one trace serves them all.

    Returns:
        A callable ``Function``.
    """
    options = {
        "jit_compile": jit_compile if jit_compile is not None else experimental_compile,
        "experimental_implements": experimental_implements,
        "follow_type_hints": bool(experimental_follow_type_hints),
    }
    relax = bool(reduce_retracing or experimental_relax_shapes)

    def decorate(f: Any) -> Any:
        if isinstance(f, classmethod | staticmethod):
            return type(f)(decorate(f.__func__))
        if not callable(f):
            raise TypeError(f"td.function wants a callable, got {f!r}")
        if isinstance(f, BoundFunction):
            f = types.MethodType(f.__func__, f.__self__)
        elif isinstance(f, Function):
            f = f.python_function
        return Function(f, input_signature, autograph, relax, options)

    return decorate if func is None else decorate(func)
