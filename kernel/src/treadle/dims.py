"""Sizes of axes that are not known until a graph runs, as canonical integer expressions.

A `Dim` is a polynomial with integer coefficients over atoms: symbols, which stand for
the size of an axis and so are never negative, and opaque functions of expressions
(floor division, remainder, maximum, minimum, broadcasting). What turns out constant
is an ``int``, never a `Dim`; whatever is `==` is equal in every run, while unequal only
means "not known to be equal". Identities of ``//`` and ``%`` hold where the divisor is
not zero. Shapes as the user sees them are in `treadle.shapes`, the text form of sizes in `treadle.dims_text`.
"""

from __future__ import annotations

import itertools
import numbers
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NoReturn, TypeAlias

from treadle.errors import ShapeError
from treadle.polynomials import Atom, Polynomial, Terms, cancelled, collected, constant_of, divided, key_of, plus, shrink, split, terms_of, times

_serials = itertools.count()


class Dim(Polynomial):
    """A size known only when the graph runs: an immutable, hashable, canonical expression.

    ``+ - * // %`` and unary ``-`` take ints and Dims on either side and give an ``int``
    when the result is constant. There is no order and no truth value: use `known_equal`,
    `known_different`, `maximum` and `minimum`.
    """

    __slots__ = ()
    __array_ufunc__ = None  # NumPy integers on the left leave the operator to us

    def __init__(self) -> None:
        raise TypeError("Dim: not made directly; use Dim.symbol(name) and arithmetic")

    @classmethod
    def symbol(cls, name: str | None = None) -> Dim:
        """Return a new symbol, distinct from every other even when the names agree.

        Args:
            name: an identifier to print; ``s<number>`` when left out.
        Returns:
            The symbol; it stands for a size, hence for an integer not below 0.
        Raises:
            ValueError: the name is no identifier, or is that of a function.
        """
        serial = next(_serials)
        name = f"s{serial}" if name is None else name
        if not (name.isidentifier() and name.isascii()) or name in CALLS:
            raise ValueError(f"symbol name {name!r}: expected an ASCII identifier other than {', '.join(CALLS)}")
        return _of_atom(Atom("", (), name, serial))

    @property
    def name(self) -> str | None:
        """The name when this is a lone symbol, else None."""
        atom = _lone_atom(self)
        return atom.name if atom is not None and not atom.function else None

    def symbols(self) -> frozenset[Dim]:
        """Return the symbols that occur, also inside functions."""
        return frozenset(_of_atom(atom) for atom in _symbol_atoms(self))

    def substitute(self, binding: Mapping[Dim, Size]) -> Size:
        """Return the expression with symbols replaced by sizes; others stay.

        Raises:
            ShapeError: sizes under a broadcast neither agree nor are 1.
            ZeroDivisionError: a divisor became 0.
        """
        atoms: dict[Atom, Size] = {}
        for key, value in binding.items():
            atom = _lone_atom(key)
            if atom is None or atom.function:
                raise ValueError(f"substitute: {key} is no symbol; bind symbols only")
            atoms[atom] = value
        return _substitute(self, atoms)

    def evaluate(self, binding: Mapping[Dim, int]) -> int:
        """Return the value under a binding of every symbol that occurs.

        Raises:
            KeyError: a symbol has no value.
            ValueError: a value is negative, or (ShapeError) sizes do not broadcast.
            ZeroDivisionError: a divisor is 0.
        """
        for key, value in binding.items():
            if value < 0:
                raise ValueError(f"evaluate: symbol {key} is a size and cannot be {value}")
        result = self.substitute(binding)
        if isinstance(result, Dim):
            unbound = ", ".join(sorted(map(str, result.symbols())))
            raise KeyError(f"evaluate: no value for {unbound} in {self}")
        return result

    def text(self, names: Mapping[Dim, str] | None = None) -> str:
        """Return what `treadle.dims_text.parse` reads back, with other names for some symbols.

        Args:
            names: what to print for a symbol instead of its own name, which need not be unique.
        """
        from treadle.dims_text import text_of  # it needs this module

        renamed: dict[Atom, str] = {}
        for key, name in (names or {}).items():
            atom = _lone_atom(key)
            if atom is not None:
                renamed[atom] = name
        return text_of(self, renamed)

    def __add__(self, other: Size) -> Size:
        return add(self, other) if _is_size(other) else NotImplemented

    def __radd__(self, other: Size) -> Size:
        return add(other, self) if _is_size(other) else NotImplemented

    def __sub__(self, other: Size) -> Size:
        return add(self, mul(-1, other)) if _is_size(other) else NotImplemented

    def __rsub__(self, other: Size) -> Size:
        return add(other, mul(-1, self)) if _is_size(other) else NotImplemented

    def __mul__(self, other: Size) -> Size:
        return mul(self, other) if _is_size(other) else NotImplemented

    def __rmul__(self, other: Size) -> Size:
        return mul(other, self) if _is_size(other) else NotImplemented

    def __floordiv__(self, other: Size) -> Size:
        return floordiv(self, other) if _is_size(other) else NotImplemented

    def __rfloordiv__(self, other: Size) -> Size:
        return floordiv(other, self) if _is_size(other) else NotImplemented

    def __mod__(self, other: Size) -> Size:
        return mod(self, other) if _is_size(other) else NotImplemented

    def __rmod__(self, other: Size) -> Size:
        return mod(other, self) if _is_size(other) else NotImplemented

    def __neg__(self) -> Size:
        return mul(-1, self)

    def __pos__(self) -> Dim:
        return self

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"size {self} is unknown while tracing, so it is neither true nor false; compare with ==, or use known_equal and known_different"
        )

    def __copy__(self) -> Dim:
        return self

    def __deepcopy__(self, memo: object) -> Dim:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"size {self}: symbols live in one process; write str() and parse() it")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Dim({self.text()})"


Size: TypeAlias = int | Dim


def add(a: Size, b: Size) -> Size:
    """Return ``a + b``."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return _of_terms(plus(terms_of(a), terms_of(b)))


def mul(a: Size, b: Size) -> Size:
    """Return ``a * b``."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return _of_terms(times(terms_of(a), terms_of(b)))


def floordiv(a: Size, b: Size) -> Size:
    """Return ``a // b`` rounded down, with all that divides pulled out of the function.

    Raises:
        ZeroDivisionError: ``b`` is the int 0.
    """
    a, b = _plain(a), _plain(b)
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if isinstance(b, int):
        return _floordiv_by_int(a, b)
    a, b, _ = map(_of_terms, cancelled(terms_of(a), terms_of(b)))
    if isinstance(b, int):
        return floordiv(a, b)
    if _is_below(a, b):
        return 0
    quotient, rest = map(_of_terms, divided(terms_of(a), terms_of(b)))
    if quotient == 0:
        return _call("floordiv", a, b)
    return add(quotient, floordiv(rest, b))


def mod(a: Size, b: Size) -> Size:
    """Return ``a % b``, of the sign of ``b``.

    Raises:
        ZeroDivisionError: ``b`` is the int 0.
    """
    a, b = _plain(a), _plain(b)
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if isinstance(b, int):
        return _mod_by_int(a, b)
    a, b, factor = map(_of_terms, cancelled(terms_of(a), terms_of(b)))
    if isinstance(b, int):
        return mul(factor, mod(a, b))
    if _is_below(a, b):
        return mul(factor, a)
    quotient, rest = map(_of_terms, divided(terms_of(a), terms_of(b)))
    if quotient == 0:
        return mul(factor, _call("mod", a, b))
    return mul(factor, mod(rest, b))


def maximum(a: Size, b: Size) -> Size:
    """Return the larger size."""
    return _extreme("max", a, b)


def minimum(a: Size, b: Size) -> Size:
    """Return the smaller size."""
    return _extreme("min", a, b)


def product(sizes: Iterable[Size]) -> Size:
    """Return the product of the sizes, 1 when there are none."""
    result: Size = 1
    for size in sizes:
        result = result * size if type(size) is int and type(result) is int else mul(result, size)
    return result


def as_user(size: Size | None) -> int | None:
    """Return what the user sees of a size: the int, or None where it is not known."""
    return None if isinstance(size, Dim) else size


def with_symbols(dims: Iterable[Size | None] | None) -> tuple[Size, ...] | None:
    """Return the sizes with a symbol of its own for each that is not an int; None for an unknown rank."""
    return None if dims is None else tuple(d if isinstance(d, int) else Dim.symbol() for d in dims)


def known_equal(a: Size, b: Size) -> bool:
    """Return whether the sizes agree in every run."""
    return a == b


def known_different(a: Size, b: Size) -> bool:
    """Return whether the sizes differ in every run, as ``n`` and ``n + 1`` do."""
    if isinstance(a, int) and isinstance(b, int):
        return a != b
    difference = add(a, mul(-1, b))
    if isinstance(difference, int):
        return difference != 0
    return _is_at_least(difference, 1) or _is_at_least(-difference, 1)


def unify(a: Size, b: Size, what: str) -> Size:
    """Return the one size of two that must be equal, the int if there is one.

    Args:
        a: a size.
        b: the size that it must equal.
        what: subject of the error, such as ``"matmul: inner axes"``.
    Raises:
        ShapeError: the sizes are known to differ.
    """
    if known_different(a, b):
        raise ShapeError(f"{what}: sizes {a} and {b} differ; they must be equal")
    return b if isinstance(b, int) else a


def broadcast(*shapes: tuple[Size, ...] | None) -> tuple[Size, ...] | None:
    """Return the shape that all the shapes broadcast to; None, an unknown rank, wins.

    Of two sizes, 1 yields to the other, an int wins over a Dim, and two Dims not known
    to be equal give the size ``broadcast(a,b)``.

    Raises:
        ShapeError: on some axis sizes differ in every run and none of them can be 1.
    Sources:
        Python array API standard 2024.12, "Broadcasting".
    """
    result: tuple[Size, ...] = ()
    for shape in shapes:
        if shape is None:
            return None
        if shape == result:
            continue
        if not result:
            result = shape
            continue
        rank = max(len(result), len(shape))
        left = (1,) * (rank - len(result)) + result
        right = (1,) * (rank - len(shape)) + shape
        merged: list[Size] = []
        for axis, (a, b) in enumerate(zip(left, right, strict=True)):
            size = _broadcast_sizes(a, b)
            if size is None:
                raise ShapeError(
                    f"broadcast: shapes {_shape_text(result)} and {_shape_text(shape)} have sizes "
                    f"{a} and {b} on axis {axis - rank}; they must be equal, or one of them 1"
                )
            merged.append(size)
        result = tuple(merged)
    return result


# Making canonical terms.


def _is_size(value: object) -> bool:
    return isinstance(value, (int, Dim, numbers.Integral))  # NumPy registers its integers


def _plain(size: Size) -> Size:
    return size if isinstance(size, (int, Dim)) else operator.index(size)


def _of_terms(terms: Terms) -> Size:
    if not terms:
        return 0
    if len(terms) == 1 and not terms[0][0]:
        return terms[0][1]
    dim = object.__new__(Dim)
    object.__setattr__(dim, "_terms", terms)
    object.__setattr__(dim, "_hash", hash(terms))
    return dim


def _of_atom(atom: Atom) -> Dim:
    dim = _of_terms((((atom,), 1),))
    assert isinstance(dim, Dim)
    return dim


def _call(function: str, *args: Size) -> Dim:
    return _of_atom(Atom(function, args))


def _lone_atom(size: Size) -> Atom | None:
    terms = terms_of(size)
    return terms[0][0][0] if len(terms) == 1 and terms[0][1] == 1 == len(terms[0][0]) else None


def _symbol_atoms(size: Size) -> Iterator[Atom]:
    for monomial, _ in terms_of(size):
        for atom in monomial:
            if atom.function:
                for arg in atom.args:
                    yield from _symbol_atoms(arg)
            else:
                yield atom


def _substitute(size: Size, atoms: Mapping[Atom, Size]) -> Size:
    total: Size = 0
    for monomial, coefficient in terms_of(size):
        term: Size = coefficient
        for atom in monomial:
            value: Size
            if not atom.function:
                found = atoms.get(atom)
                value = _of_atom(atom) if found is None else _plain(found)
            else:
                first, *others = (_substitute(arg, atoms) for arg in atom.args)
                value = first
                for other in others:
                    value = _FUNCTIONS[atom.function](value, other)
            term = mul(term, value)
        total = add(total, term)
    return total


# What is known about the range of a size.


def _is_at_least(size: Size, bound: int) -> bool:
    lower = _lower_bound(size)
    return lower is not None and lower >= bound


def _is_below(a: Size, b: Size) -> bool:
    """Whether 0 <= a < b in every run."""
    return _is_at_least(a, 0) and _is_at_least(add(add(b, -1), mul(-1, a)), 0)


def _lower_bound(size: Size) -> int | None:
    total = 0
    for monomial, coefficient in terms_of(size):
        if coefficient < 0:
            atom = monomial[0] if len(monomial) == 1 else None
            if atom is not None and atom.function == "mod" and isinstance(atom.args[1], int):
                total += coefficient * (atom.args[1] - 1)
                continue
            if monomial:
                return None
        for atom in monomial:
            lower = _atom_lower_bound(atom)
            if lower is None or lower < 0:
                return None
            coefficient *= lower
        total += coefficient
    return total


def _atom_lower_bound(atom: Atom) -> int | None:
    if atom.function in ("", "broadcast"):
        return 0
    lowers = [_lower_bound(arg) for arg in atom.args]
    known = [lower for lower in lowers if lower is not None]
    if atom.function == "max":
        return max(known, default=None)
    if atom.function == "mod":  # of the sign of the divisor
        return 0 if lowers[1] is not None and lowers[1] >= 0 else None
    if len(known) < len(lowers):
        return None
    if atom.function == "min":
        return min(known)
    numerator, divisor = known
    if numerator < 0 or divisor < 0:
        return None
    return numerator // divisor if isinstance(atom.args[1], int) else 0


# Division.


def _floordiv_by_int(a: Size, k: int) -> Size:
    if k == 0:
        raise ZeroDivisionError(f"size {a} // 0")
    if k < 0:
        return floordiv(mul(-1, a), -k)
    quotient, rest = map(_of_terms, split(terms_of(a), k))
    if isinstance(rest, int) or _is_below(rest, k):
        return quotient
    if terms_of(rest)[0][1] < 0:  # r // k == -((-r + k-1) // k), so both ways to round up agree
        return add(quotient, mul(-1, floordiv(add(mul(-1, rest), k - 1), k)))
    shrunk, g = shrink(terms_of(rest), k)
    if g > 1:  # (g*x + c) // (g*k) == x // k for 0 <= c < g
        return add(quotient, floordiv(_of_terms(shrunk), k // g))
    constant = constant_of(terms_of(rest))
    inner = _lone_atom(add(rest, -constant))
    if inner is not None and inner.function == "floordiv" and isinstance(inner.args[1], int):
        numerator, m = inner.args  # (x//m + c) // k == (x + c*m) // (m*k)
        return add(quotient, floordiv(add(numerator, mul(constant, m)), mul(m, k)))
    return add(quotient, _call("floordiv", rest, k))


def _mod_by_int(a: Size, k: int) -> Size:
    if k == 0:
        raise ZeroDivisionError(f"size {a} % 0")
    if k < 0:
        return mul(-1, mod(mul(-1, a), -k))
    _, residues = split(terms_of(a), k)
    # A half residue is its own opposite here: n % 2 == -n % 2.
    rest = _of_terms(collected({m: abs(c) if 2 * abs(c) == k else c for m, c in residues}))
    if isinstance(rest, int) or _is_below(rest, k):
        return rest
    shrunk, g = shrink(terms_of(rest), k)
    if g > 1:  # (g*x + c) % (g*k) == g * (x % k) + c for 0 <= c < g
        return add(mul(g, mod(_of_terms(shrunk), k // g)), constant_of(terms_of(rest)) % g)
    return _call("mod", rest, k)


# Functions that are associative and commutative: one atom over sorted arguments.


def _parts(function: str, *sizes: Size) -> list[Size]:
    parts: dict[Size, None] = {}
    for size in sizes:
        atom = _lone_atom(size)
        nested = atom is not None and atom.function == function
        parts.update(dict.fromkeys(atom.args if atom is not None and nested else (size,)))
    return sorted(parts, key=key_of)


def _extreme(function: str, a: Size, b: Size) -> Size:
    a, b = _plain(a), _plain(b)
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b) if function == "max" else min(a, b)
    sign = 1 if function == "max" else -1
    parts = _parts(function, a, b)
    for part in list(parts):
        others = (other for other in parts if other is not part)
        if any(_is_at_least(mul(sign, add(other, mul(-1, part))), 0) for other in others):
            parts.remove(part)
    return parts[0] if len(parts) == 1 else _call(function, *parts)


def _broadcast_sizes(a: Size, b: Size) -> Size | None:
    """Return the size that two axes broadcast to, None if they never do."""
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    known = isinstance(a, int) and isinstance(b, int)
    if known or (_is_at_least(a, 2) and _is_at_least(b, 2) and known_different(a, b)):
        return None
    if isinstance(a, int):
        return a
    if isinstance(b, int):
        return b
    return _call("broadcast", *_parts("broadcast", a, b))


def _broadcast_or_raise(a: Size, b: Size) -> Size:
    size = _broadcast_sizes(a, b)
    if size is None:
        raise ShapeError(f"broadcast: sizes {a} and {b}; they must be equal, or one of them 1")
    return size


def _shape_text(shape: tuple[Size, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


CALLS: Mapping[str, Callable[[Size, Size], Size]] = {
    "max": maximum,
    "min": minimum,
    "broadcast": _broadcast_or_raise,
}
"""What the text form calls by name."""

_FUNCTIONS: Mapping[str, Callable[[Size, Size], Size]] = {
    **CALLS,
    "floordiv": floordiv,
    "mod": mod,
}
