"""Symbolic sizes: canonical arithmetic, what is known of them, broadcasting."""

from __future__ import annotations

import copy
import itertools
import pickle
import random

import numpy as np
import pytest

from treadle.dims import (
    Dim,
    Size,
    add,
    as_user,
    broadcast,
    floordiv,
    known_different,
    known_equal,
    maximum,
    minimum,
    mod,
    mul,
    product,
    unify,
)
from treadle.dims_text import parse
from treadle.errors import ShapeError

n, m, k = Dim.symbol("n"), Dim.symbol("m"), Dim.symbol("k")


def value(size: Size, binding: dict[Dim, int]) -> int:
    return size.evaluate(binding) if isinstance(size, Dim) else size


def test_a_constant_result_is_an_int() -> None:
    for size, expected in (
        (n - n, 0),
        (n * 0, 0),
        ((n + 3) - n, 3),
        ((2 * n) % 2, 0),
        (n % 1, 0),
        (n // n, 1),
    ):
        assert type(size) is int
        assert size == expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (2 * n + n, 3 * n),
        ((n + 1) * 2, 2 * n + 2),
        (n * m * n, n * n * m),
        ((n + m) * (n - m), n * n - m * m),
        (-(n * -1), n),
        (n // 1, n),
        (2 * n // 2, n),
        ((2 * n + 4) // 2, n + 2),
        ((6 * n + m) // 3, 2 * n + m // 3),
        ((2 * n + 3) // 2, n + 1),
        ((n + 7) // 4, (n + 3) // 4 + 1),
        (n // 2 // 3, n // 6),
        (((n + 1) // 2 + 1) // 2, (n + 3) // 4),
        (-(-n // 2), (n + 1) // 2),
        (-(-n // 3), (n + 2) // 3),
        (n // -2, -n // 2),
        (4 * n // 6, 2 * n // 3),
        ((n + 5) % 5, n % 5),
        ((4 * n + 3) % 6, 2 * ((2 * n + 1) % 3) + 1),
        (n % 3 % 4, n % 3),
        (n % -3, -(-n % 3)),
        (n * m // m, n),
        ((n * m + k) // m, n + k // m),
        (6 * n * m // (4 * m), 3 * n // 2),
        ((n * m + n) // (m + 1), n),
        (m % m, 0),
        (n * k % (m * k), n % m * k),
        (n // (n + 1), 0),
        (maximum(n, m), maximum(m, n)),
        (maximum(n, maximum(m, k)), maximum(maximum(k, n), m)),
        (maximum(n, 0), n),
        (maximum(n + 3, n), n + 3),
        (minimum(n, n + m), n),
        (minimum(n, n), n),
    ],
)
def test_equal_expressions_are_equal_and_hash_alike(left: Size, right: Size) -> None:
    assert left == right
    assert hash(left) == hash(right)
    assert known_equal(left, right)
    assert not known_different(left, right)


def test_symbols_of_one_name_are_distinct() -> None:
    assert Dim.symbol("n") != n
    assert Dim.symbol().name != Dim.symbol().name
    with pytest.raises(ValueError, match="identifier"):
        Dim.symbol("max")
    with pytest.raises(ValueError, match="identifier"):
        Dim.symbol("a b")


def test_symbols_are_found_inside_functions() -> None:
    size = maximum(n // m, k) * n
    assert isinstance(size, Dim)
    assert size.symbols() == {n, m, k}
    assert n.name == "n"
    assert (n + 1).name is None  # type: ignore[union-attr]


def random_size(rng: random.Random, depth: int) -> tuple[Size, object]:
    """A size, and the Python function of a binding that it should agree with."""
    if depth == 0 or rng.random() < 0.15:
        if rng.random() < 0.4:
            c = rng.randint(-4, 6)
            return c, lambda b: c
        s = rng.choice((n, m, k))
        return s, lambda b: b[s]
    (a, f), (b, g) = random_size(rng, depth - 1), random_size(rng, depth - 1)
    op = rng.choice((add, add, mul, floordiv, mod, maximum, minimum))
    if op in (floordiv, mod) and (rng.random() < 0.7 or b == 0):
        c = rng.choice((-3, -2, 1, 2, 3, 4, 6))
        b, g = c, lambda _: c
    plain = {add: lambda x, y: x + y, mul: lambda x, y: x * y, floordiv: lambda x, y: x // y, mod: lambda x, y: x % y, maximum: max, minimum: min}[op]
    return op(a, b), lambda v: plain(f(v), g(v))


@pytest.mark.parametrize("seed", range(8))
def test_any_expression_evaluates_as_python_does_and_reads_back(seed: int) -> None:
    rng = random.Random(seed)
    names = {"n": n, "m": m, "k": k}
    pairs = []
    for _ in range(150):
        size, python = random_size(rng, 4)
        assert parse(str(size), names) == size
        for _ in range(8):
            binding = {n: rng.randint(0, 9), m: rng.randint(0, 9), k: rng.randint(0, 30)}
            try:
                expected = python(binding)  # type: ignore[operator]
            except ZeroDivisionError:
                continue
            try:
                assert value(size, binding) == expected, (str(size), binding)
            except ZeroDivisionError:  # a divisor that folding kept, such as 0 * (1 // 0), cannot be
                pytest.fail(f"{size} divides by zero where Python does not: {binding}")
        pairs.append(size)
    for a, b in itertools.pairwise(pairs):
        if known_different(a, b):
            binding = {n: rng.randint(1, 9), m: rng.randint(1, 9), k: rng.randint(1, 30)}
            try:
                assert value(a, binding) != value(b, binding)
            except ZeroDivisionError:
                continue


def test_evaluate_asks_for_every_symbol_and_for_sizes() -> None:
    size = n * 2 + m
    assert isinstance(size, Dim)
    assert size.evaluate({n: 3, m: 4, k: 9}) == 10
    with pytest.raises(KeyError, match="no value for m"):
        size.evaluate({n: 3})
    with pytest.raises(ValueError, match="cannot be -1"):
        size.evaluate({n: 3, m: -1})


def test_substitute_takes_sizes_and_leaves_the_rest() -> None:
    size = (n + 1) // 2 + m
    assert isinstance(size, Dim)
    assert size.substitute({n: 2 * k - 1}) == k + m


def test_division_by_the_int_zero_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        n // 0
    with pytest.raises(ZeroDivisionError):
        n % 0
    size = 1 // n
    assert isinstance(size, Dim)
    with pytest.raises(ZeroDivisionError):
        size.evaluate({n: 0})


def test_a_dim_has_no_truth_and_no_order() -> None:
    with pytest.raises(TypeError, match="unknown while tracing"):
        bool(n)
    with pytest.raises(TypeError):
        n < 3  # type: ignore[operator]  # noqa: B015
    with pytest.raises(TypeError):
        n + 1.5  # type: ignore[operator]
    assert n != 3


def test_a_dim_is_immutable_and_stays_in_its_process() -> None:
    with pytest.raises(AttributeError):
        n.other = 1  # type: ignore[attr-defined]
    assert copy.deepcopy([n])[0] is n
    with pytest.raises(TypeError, match="parse"):
        pickle.dumps(n)
    with pytest.raises(TypeError, match=r"Dim\.symbol"):
        Dim()


def test_numpy_integers_stand_on_either_side() -> None:
    assert np.int64(2) * n == n * np.int64(2) == 2 * n
    assert np.int32(1) + n == n + 1
    assert np.int64(7) // n == 7 // n
    assert type(n - n + np.int64(2)) is not Dim


def test_known_different_is_only_what_holds_in_every_run() -> None:
    assert known_different(2, 3)
    assert known_different(n, n + 1)
    assert known_different(n + 3, 2)
    assert known_different(n + m + 1, n)
    assert not known_different(n, m)
    assert not known_different(n, 3)
    assert not known_different(n + 1, 2)


def test_product_and_as_user() -> None:
    assert product([]) == 1
    assert product([2, n, 3]) == 6 * n
    assert product([2, 3]) == 6
    assert (as_user(n), as_user(3), as_user(None)) == (None, 3, None)


def test_unify_prefers_the_int_and_refuses_what_differs() -> None:
    assert unify(n, 3, "x") == unify(3, n, "x") == 3
    assert unify(n, m, "x") == n
    with pytest.raises(ShapeError, match="matmul: inner axes: sizes 2 and 3 differ"):
        unify(2, 3, "matmul: inner axes")
    with pytest.raises(ShapeError):
        unify(n, n + 1, "x")


def test_broadcast_follows_numpy_and_keeps_what_is_unknown() -> None:
    assert broadcast() == ()
    assert broadcast((2, 1), (3,)) == (2, 3)
    assert broadcast((2, 3), None) is None
    assert broadcast((n, 3), (1, 1)) == (n, 3)
    assert broadcast((n,), (5,)) == broadcast((5,), (n,)) == (5,)
    assert broadcast((n,), (0,)) == (0,)
    assert broadcast((n, 2), (n, 1), (2,)) == (n, 2)
    assert broadcast((1,), (0,)) == (0,)


def test_broadcast_of_two_unknown_sizes_is_one_canonical_size() -> None:
    assert broadcast((n,), (m,)) == broadcast((m,), (n,))
    assert broadcast((n,), (m,), (k,)) == broadcast((k,), (n,), (m,), (n,))
    shape = broadcast((n,), (m,))
    assert shape is not None
    size = shape[0]
    assert isinstance(size, Dim)
    assert str(size) == "broadcast(n,m)"
    assert [size.evaluate({n: a, m: b}) for a, b in ((1, 4), (4, 1), (4, 4), (1, 0))] == [4, 4, 4, 0]
    with pytest.raises(ValueError, match="broadcast: sizes 2 and 3"):
        size.evaluate({n: 2, m: 3})


def test_broadcast_raises_only_what_never_broadcasts() -> None:
    with pytest.raises(ShapeError, match=r"shapes \(2, 3\) and \(2,\) have sizes 3 and 2 on axis -1"):
        broadcast((2, 3), (2,))
    with pytest.raises(ShapeError):
        broadcast((n + 2,), (n + 3,))
    assert broadcast((n,), (n + 1,)) is not None  # n may be 1
