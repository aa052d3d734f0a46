"""``td.print``: writes tensors when the program runs, in program order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle import nest
from treadle.contracts.spec import Spec
from treadle.declare import op, public
from treadle.tensor import Tensor
from treadle.variable import Variable


@op("print", effect="io")
def print_op(tensors: Sequence[Spec], *, pieces: tuple[Any, ...], stream: Any, summarize: int, end: str) -> None:
    """Write text with tensors in it."""


@public("print")
def print_(*inputs: Any, **kwargs: Any) -> None:
    """Write values to a stream each time the program gets here, in order.

    Args:
        *inputs: tensors, Variables, Python values, and structures of these.
        output_stream: ``sys.stderr`` (default), ``sys.stdout``, or another file object.
        summarize: how many elements to show at either end of an axis; 3 by default, -1 for all.
        sep: between inputs.
        end: at the end.
        name: ignored.
    """
    import sys

    stream = kwargs.pop("output_stream", sys.stderr)
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", "\n")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"td.print has no argument {next(iter(kwargs))!r}; arguments: output_stream, summarize, sep, end, name")
    tensors: list[Any] = []
    pieces: list[Any] = []
    for i, value in enumerate(inputs):
        pieces.append(sep if i else "")
        pieces.append(_template(value, tensors))
    name = "stderr" if stream is sys.stderr else "stdout" if stream is sys.stdout else stream
    print_op(tensors, pieces=tuple(pieces), stream=name, summarize=summarize, end=end)


class Placeholder(int):
    """Stands in a printed structure for the tensor of that number."""


def _template(value: Any, tensors: list[Any]) -> Any:
    """A value with its tensors taken out."""

    def take(leaf: Any) -> Any:
        if isinstance(leaf, Tensor | Variable) or hasattr(type(leaf), "__treadle_tensor__"):
            tensors.append(leaf)
            return Placeholder(len(tensors) - 1)
        return leaf

    return nest.map_structure(take, value)
