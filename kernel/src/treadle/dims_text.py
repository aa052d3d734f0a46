"""The text form of sizes, such as ``3*((n+1)//2)``: written, and read back."""

from __future__ import annotations

import re
from collections.abc import Mapping

from treadle.dims import CALLS, Dim, Size, add, floordiv, mod, mul
from treadle.polynomials import Atom, terms_of

_SIGNS = {"floordiv": "//", "mod": "%"}
_TOKEN = re.compile(r"\s*(//|[-+*%(),]|[0-9]+|[A-Za-z_][A-Za-z0-9_]*)")


def text_of(size: Size, renamed: Mapping[Atom, str]) -> str:
    """Return what `parse` reads back, with other names for some symbols."""
    out = ""
    for monomial, c in terms_of(size):
        atoms = [_atom_text(atom, renamed) for atom in monomial]
        if len(atoms) != 1 or c != 1:
            atoms = [f"({t})" if a.function in _SIGNS else t for a, t in zip(monomial, atoms, strict=True)]
        factors = atoms if monomial and abs(c) == 1 else [str(abs(c)), *atoms]
        out += ("-" if c < 0 else "+" if out else "") + "*".join(factors)
    return out or "0"


def _atom_text(atom: Atom, renamed: Mapping[Atom, str]) -> str:
    if not atom.function:
        return renamed.get(atom, atom.name)
    args = [text_of(arg, renamed) for arg in atom.args]
    if atom.function not in _SIGNS:
        return f"{atom.function}({','.join(args)})"
    return _SIGNS[atom.function].join(text if text.isidentifier() or text.isdigit() else f"({text})" for text in args)


def parse(text: str, symbols: Mapping[str, Dim]) -> Size:
    """Read the text form: ints, names, ``+ - * // %``, parentheses, max, min and broadcast.

    Args:
        text: what ``str(dim)`` wrote.
        symbols: the symbol that each name stands for.
    Raises:
        ValueError: the text is malformed or names an unknown symbol.
    """
    return _Parser(text, symbols).parse()


class _Parser:
    def __init__(self, text: str, symbols: Mapping[str, Dim]) -> None:
        self.text = text
        self.symbols = symbols
        self.tokens: list[str] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                raise self.error(f"unexpected character {text[position:].lstrip()[0]!r}")
            self.tokens.append(match[1])
            position = match.end()
        self.tokens.reverse()  # the next one is the last

    def error(self, problem: str) -> ValueError:
        return ValueError(f"size {self.text!r}: {problem}")

    def parse(self) -> Size:
        size = self.sum()
        if self.tokens:
            raise self.error(f"unexpected {self.tokens[-1]!r}")
        return size

    def accept(self, *tokens: str) -> str | None:
        return self.tokens.pop() if self.tokens and self.tokens[-1] in tokens else None

    def expect(self, token: str) -> None:
        if self.accept(token) is None:
            raise self.error(f"expected {token!r}, found {self.tokens[-1] if self.tokens else 'end'!r}")

    def sum(self) -> Size:
        size = self.term()
        while sign := self.accept("+", "-"):
            term = self.term()
            size = add(size, term if sign == "+" else mul(-1, term))
        return size

    def term(self) -> Size:
        size = self.factor()
        while sign := self.accept("*", "//", "%"):
            size = {"*": mul, "//": floordiv, "%": mod}[sign](size, self.factor())
        return size

    def factor(self) -> Size:
        if self.accept("-"):
            return mul(-1, self.factor())
        if self.accept("("):
            size = self.sum()
            self.expect(")")
            return size
        if not self.tokens:
            raise self.error("expected a size, found the end")
        token = self.tokens.pop()
        if token.isdigit():
            return int(token)
        if token in CALLS:
            return self.call(token)
        if token in self.symbols:
            return self.symbols[token]
        if token.isidentifier():
            names = ", ".join(self.symbols) or "none"
            raise self.error(f"unknown name {token!r}; symbols: {names}")
        raise self.error(f"expected a size, found {token!r}")

    def call(self, function: str) -> Size:
        self.expect("(")
        size = self.sum()
        while self.accept(","):
            size = CALLS[function](size, self.sum())
        self.expect(")")
        return size
