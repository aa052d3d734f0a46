"""f-strings in ``raise`` and ``assert``: the values of tensors in them are known only when the graph runs and gets there."""

from __future__ import annotations

from typing import Any

from treadle.symbolic import SymbolicTensor
from treadle_autograph.symbols import symbolic


class Text(str):
    """An f-string with tensors in it that have no value while tracing; ``pieces`` are its parts, as ``text`` got them."""

    __slots__ = ("pieces",)
    pieces: tuple[Any, ...]

    @property
    def data(self) -> list[Any]:
        """The texts and tensors that it is made of, in order; formats say nothing of tensors here."""
        return [p if isinstance(p, str) else formatted(*p) if symbolic(p[0]) is None else p[0] for p in self.pieces]


def text(*pieces: Any) -> str:
    """An f-string.

    Args:
        *pieces: texts, and for each replacement field the value, the conversion (-1 for none) and the format.
    """
    made = Text("".join([piece if isinstance(piece, str) else formatted(*piece) for piece in pieces]))
    made.pieces = pieces
    return made if any(not isinstance(piece, str) and symbolic(piece[0]) is not None for piece in pieces) else str(made)


def formatted(value: Any, conversion: int, how: str) -> str:
    """A replacement field; a tensor that has no value yet by its name, whatever the format."""
    if isinstance(value, SymbolicTensor):
        return str(value)
    if conversion >= 0:
        value = {"s": str, "r": repr, "a": ascii}[chr(conversion)](value)
    return format(value, how)
