"""``td.print``: writes tensors when the program runs, in program order."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Any

from treadle import nest
from treadle.declare import FreeSpec, op, public
from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle_ops.print_format import pieces_of, slot

_LEVELS = {logging.INFO: logging.INFO, logging.WARNING: logging.WARNING, logging.ERROR: logging.ERROR}
_LEVELS |= {logging.info: logging.INFO, logging.warning: logging.WARNING, logging.error: logging.ERROR}


@op("print", effect="io")
def print_op(tensors: Sequence[FreeSpec], *, pieces: tuple[Any, ...], stream: Any, summarize: int) -> None:
    """Write text with tensors in it."""


@public("print")
def print_(*inputs: Any, **kwargs: Any) -> Any:
    r"""Write values to a stream each time the program gets here, in order.

    Args:
        *inputs: tensors, Variables, Python values, and structures of these.
        output_stream: ``sys.stderr`` (default), ``sys.stdout``, another file object, ``"file://PATH"`` to add to a file, or a level of ``logging``.
        summarize: how many elements to show at either end of an axis; 3 by default, -1 for all.
        sep: between inputs, a space by default.
        end: at the end, a newline by default.
        name: ignored.

    Returns:
        None; in the graph of a session a node, to be fetched.

    Raises:
        ValueError: there is no such argument, or nothing can be written to ``output_stream``.

    Sources:
        TensorFlow ``tf.print``.
    """
    stream = _stream(kwargs.pop("output_stream", sys.stderr))
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", "\n")
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"td.print has no argument {next(iter(kwargs))!r}; arguments: output_stream, summarize, sep, end, name")
    tensors: list[Any] = []
    pieces: list[Any] = []
    for i, value in enumerate(inputs):
        if i:
            pieces.append(sep)
        pieces += [value] if isinstance(value, str) else pieces_of(_without_tensors(value, tensors))
    return print_op(tensors, pieces=(*pieces, end), stream=stream, summarize=summarize)


def _stream(given: Any) -> Any:
    """A stream as the kernel finds it again: the standard ones by name, so that a replaced ``sys.stdout`` gets its output."""
    if given is sys.stderr:
        return "stderr"
    if given is sys.stdout:
        return "stdout"
    if isinstance(given, str):
        if given.startswith("file://"):
            return given
    elif hasattr(given, "write"):
        return given
    elif (isinstance(given, int) or callable(given)) and given in _LEVELS:
        return _LEVELS[given]
    raise ValueError(
        f"td.print cannot write to {given!r}; expected sys.stderr, sys.stdout, a file object, 'file://PATH', or logging.INFO, logging.WARNING or "
        "logging.ERROR"
    )


def _without_tensors(value: Any, tensors: list[Any]) -> Any:
    """A value with slots for its tensors."""

    def take(leaf: Any) -> Any:
        if isinstance(leaf, Tensor | Variable) or hasattr(type(leaf), "__treadle_tensor__"):
            tensors.append(leaf)
            return slot(len(tensors) - 1)
        return leaf

    return nest.map_structure(take, value)
