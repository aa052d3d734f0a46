"""Elementwise ops declared as rows: name, public names, dtypes, what it does."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import op
from treadle.dtypes import DType
from treadle_ops.inference import elementwise, kinds_text, value_arithmetic


def unary(
    name: str,
    public: str | Sequence[str],
    kinds: str,
    summary: str,
    *,
    dtype: DType | None = None,
    sources: str = "",
    argument: str = "x",
    **options: Any,
) -> Any:
    """Declare an elementwise op of one input.

    Args:
        name: of the op.
        public: the public names of its entry point.
        kinds: of dtypes that it takes.
        summary: what it does, in one line.
        dtype: of the result where it is not that of the input.
        sources: a line for the docs.
        argument: the input's name.
        **options: of the op.
    """

    def infer(x: Spec) -> Spec:
        return elementwise(x, kinds=kinds, dtype=dtype)

    if argument != "x":
        infer = _renamed(infer, argument)
    result = f"of dtype {dtype.name}" if dtype is not None else f"of the dtype of ``{argument}``"
    return _declare(
        infer,
        name,
        public,
        summary,
        f"    {argument}: any shape, {kinds_text(kinds)}.",
        f"    The shape of ``{argument}``, {result}.",
        sources,
        options,
    )


def binary(
    name: str,
    public: str | Sequence[str],
    kinds: str,
    summary: str,
    *,
    dtype: DType | None = None,
    sources: str = "",
    arguments: tuple[str, str] = ("x", "y"),
    value: Callable[[Any, Any], Any] | None = None,
    **options: Any,
) -> Any:
    """Declare an elementwise op of two inputs that broadcast; arguments as for ``unary``.

    Args:
        arguments: the inputs' names.
        value: what the op does with two sizes, each an int or symbolic, so that shape arithmetic stays known while tracing.
    """

    def infer(x: Spec, y: Spec) -> Spec:
        result = elementwise(x, y, kinds=kinds, dtype=dtype)
        if value is not None and x.value is not None and y.value is not None:
            result.value = value_arithmetic(value, x, y)
        return result

    first, second = arguments
    if arguments != ("x", "y"):
        infer = _renamed(infer, first, second)
    result = f"of dtype {dtype.name}" if dtype is not None else "of their dtype"
    args = f"    {first}: any shape, {kinds_text(kinds)}.\n    {second}: a shape that broadcasts with that of ``{first}``, the same dtype."
    return _declare(
        infer,
        name,
        public,
        summary,
        args,
        f"    The broadcast shape, {result}.",
        sources,
        options,
        raises="    ShapeError: the shapes do not broadcast.\n",
    )


def _declare(
    infer: Any, name: str, public: Any, summary: str, args: str, returns: str, sources: str, options: dict[str, Any], raises: str = ""
) -> Any:
    infer.__module__ = inspect.currentframe().f_back.f_back.f_globals["__name__"]
    paths = public.split() if isinstance(public, str) else public
    source = sources or (f"TensorFlow ``tf.{paths[-1]}``." if paths else "")
    infer.__doc__ = (
        f"{summary}\n\nArgs:\n{args}\n    name: ignored.\n\nReturns:\n{returns}\n\nRaises:\n{raises}    DTypeError: the dtype is another one.\n"
    )
    if source:
        infer.__doc__ += f"\nSources:\n    {source}\n"
    return op(name, public=paths, elementwise=True, **options)(infer)


def _renamed(infer: Any, *arguments: str) -> Any:
    """The same function with its parameters called otherwise."""
    code = infer.__code__
    renamed = type(infer)(
        code.replace(co_varnames=(*arguments, *code.co_varnames[len(arguments) :])),
        infer.__globals__,
        infer.__name__,
        infer.__defaults__,
        infer.__closure__,
    )
    renamed.__annotations__ = {**dict.fromkeys(arguments, "Spec"), "return": "Spec"}
    return renamed
