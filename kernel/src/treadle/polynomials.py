"""Polynomials with integer coefficients over atoms, in canonical order: what a symbolic size is made of.

What an atom means, and what is known of its range, is in `treadle.dims`; here it is something with a key to sort by.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn, TypeAlias

if TYPE_CHECKING:
    from treadle.dims import Size


class Atom:
    """A symbol (no function) or an opaque function of sizes; equal when their keys are."""

    __slots__ = ("args", "function", "hash", "key", "name")

    def __init__(self, function: str, args: tuple[Size, ...], name: str = "", serial: int = -1):
        self.function = function
        self.args = args
        self.name = name
        # Symbols sort before functions, so keys of one kind only meet keys alike.
        self.key: tuple[object, ...] = (1, function, *map(key_of, args)) if function else (0, "", serial)
        self.hash = hash(self.key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Atom) and self.hash == other.hash and self.key == other.key)

    def __hash__(self) -> int:
        return self.hash


Monomial: TypeAlias = tuple[Atom, ...]  # sorted; a power is a repetition
Terms: TypeAlias = tuple[tuple[Monomial, int], ...]  # leading term first, constant last


class Polynomial:
    """A polynomial that is no constant: immutable, hashable, equal when the terms are."""

    __slots__ = ("_hash", "_terms")

    _terms: Terms
    _hash: int

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Polynomial) and self._hash == other._hash and self._terms == other._terms)

    def __hash__(self) -> int:
        return self._hash

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; cannot set {name!r}")


def terms_of(size: Size) -> Terms:
    """The terms of a size; 0 has none."""
    if isinstance(size, Polynomial):
        return size._terms
    size = operator.index(size)
    return (((), size),) if size else ()


def _atom_key(atom: Atom) -> tuple[object, ...]:
    return atom.key


def _term_key(term: tuple[Monomial, int]) -> tuple[object, ...]:
    # Graded lexicographic, leader first: an order that multiplication keeps, as `divided` needs.
    return (-len(term[0]), tuple(atom.key for atom in term[0]))


def key_of(size: Size) -> tuple[object, ...]:
    """A key that sorts sizes."""
    return tuple((_term_key((monomial, c)), c) for monomial, c in terms_of(size))


def collected(terms: Mapping[Monomial, int]) -> Terms:
    """Terms in order, without those that vanish."""
    kept = [term for term in terms.items() if term[1]]
    if len(kept) > 1:
        kept.sort(key=_term_key)
    return tuple(kept)


def plus(a: Terms, b: Terms) -> Terms:
    """Return ``a + b``."""
    terms = dict(a)
    for monomial, coefficient in b:
        terms[monomial] = terms.get(monomial, 0) + coefficient
    return collected(terms)


def times(a: Terms, b: Terms) -> Terms:
    """Return ``a * b``."""
    terms: dict[Monomial, int] = {}
    for left, p in a:
        for right, q in b:
            monomial = tuple(sorted(left + right, key=_atom_key)) if left and right else left + right
            terms[monomial] = terms.get(monomial, 0) + p * q
    return collected(terms)


def split(a: Terms, k: int) -> tuple[Terms, Terms]:
    """Return q, r with a = k*q + r, |coefficients of r| <= k/2 and its constant in [0, k)."""
    quotient: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, c in a:
        r = c % k
        if monomial and (2 * r > k or (2 * r == k and c < 0)):
            r -= k
        quotient[monomial] = (c - r) // k
        rest[monomial] = r
    return collected(quotient), collected(rest)


def constant_of(a: Terms) -> int:
    """The constant term of what is not 0."""
    monomial, c = a[-1]
    return 0 if monomial else c


def shrink(a: Terms, k: int) -> tuple[Terms, int]:
    """Return x and the largest g with a = g*x + (a constant in [0, g)) and g dividing k."""
    g = math.gcd(k, *(c for monomial, c in a if monomial))
    return collected({monomial: c // g for monomial, c in a}), g


def cancelled(a: Terms, b: Terms) -> tuple[Terms, Terms, Terms]:
    """Return a/f, b/f and f, their largest common factor of one term, of the sign of b."""
    terms = a + b
    g = math.gcd(*(c for _, c in terms))
    if b[0][1] < 0:
        g = -g
    shared = terms[0][0]
    for monomial, _ in terms[1:]:
        shared = _shared(shared, monomial)
    return _over(a, shared, g), _over(b, shared, g), ((shared, g),)


def divided(a: Terms, b: Terms) -> tuple[Terms, Terms]:
    """Return q, r with a = q*b + r by long division over the integers."""
    divisor, d = b[0]
    quotient: Terms = ()
    rest: Terms = ()
    while a:
        monomial, c = a[0]
        over = _without(monomial, divisor)
        if c % d == 0 and over is not None:
            quotient = plus(quotient, ((over, c // d),))
            a = plus(a, times(((over, -(c // d)),), b))
        else:
            rest = plus(rest, a[:1])
            a = a[1:]
    return quotient, rest


def _shared(left: Monomial, right: Monomial) -> Monomial:
    rest = list(right)
    shared: list[Atom] = []
    for atom in left:
        if atom in rest:
            rest.remove(atom)
            shared.append(atom)
    return tuple(shared)


def _over(a: Terms, shared: Monomial, g: int) -> Terms:
    return collected({_without(monomial, shared) or (): c // g for monomial, c in a})


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    left = list(monomial)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)
