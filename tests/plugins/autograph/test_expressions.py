"""Chained comparisons, `in`, `and` and `or` give on tensors what they give on Python values."""

from __future__ import annotations

import pytest

import treadle as td

CASES = []


def case(*kinds):
    def note(function):
        CASES.append(pytest.param(function, kinds, id=function.__name__))
        return function

    return note


# ---------------------------------------------------------------------- `:=` in a chain


@case("int")
def walrus_in_the_middle_of_a_chain_that_a_loop_tests(x):
    n = 0
    while 0 < (n := x - 1) < 10:
        x = n - 2
    return n, x


@case("int")
def walrus_in_the_middle_of_a_chain_in_a_loop(x):
    total = 0
    for i in td.range(4):
        if 0 < (n := x - i) < 10:
            total += n
    return total


@case("int")
def walrus_in_the_middle_of_a_chain_that_is_asserted(x):
    k = 0
    if x > 3:
        assert 0 < (k := x * 2) < 100  # noqa: RUF018  the walrus is under test
    return k


@case("int")
def walrus_in_the_middle_of_a_chain_in_a_branch(x):
    a, z = 0, False
    if x > 0:
        z = 2 < (a := x) < 5
    return a, z


@case("int")
def walruses_in_a_chain(x):
    n = m = 0
    if x > 0 and 0 < (n := x - 1) < (m := n + 4) < 10:
        x = m
    return x, n, m


@case("trips")
def walrus_that_counts(n):
    k = 0
    while n > (k := k + 1) > 0:
        pass
    return k


@case("int")
def walrus_in_a_chain_of_a_lambda(x):
    def f(v):
        return 0 < (n := v) < 5 + n

    if x > -10:
        r = f(x)
    else:
        r = (lambda v: 0 < (n := v) < 5 + n)(x)
    return r


# ---------------------------------------------------------------------- in


@case("int")
def membership_as_a_value(x):
    items = [1, x + 1, 3]
    return x in items, 4 not in items, x not in (0, 9), x in items[:0], "a" in {"a": 1}


@case("int")
def membership_as_a_test(x):
    items = [1, x + 1, 3]
    r = 0
    if x in (0, 1) or x == 9:
        r = 1
    if x not in [9]:
        r += 2
    if not x in (3,):  # noqa: E713  the form is under test
        r += 4
    if 1 <= x in (3, 9):
        r += 8
    if x > 0 and x + 1 in (4, 10) and x not in items:
        r += 16
    while x in (3, 4, 5):
        x += 1
    return r, x


@case("int")
def membership_in_a_loop(x):
    total = 0
    for i in td.range(4):
        if i in (x, 2):
            total += i
        elif i not in (1, x - 1):
            total += 10
        total += 100 if i * 2 in (2, x) else 0
        assert i in (0, 1, 2, 3)
        if x in (1, 2) and i in (3, 4):
            break
    return total


@case("int")
def membership_whose_operands_count(x):
    n = 0

    def f():
        nonlocal n
        n += 1
        return x

    r = 0
    if f() in (3, 9):
        r = 1
    if f() + 1 in [f(), f() + 1]:
        r += 1
    return r, n


@case("int")
def membership_of_python_values(x):
    seen = {1: "a"}
    return [v for v in (1, 2) if v in seen], 1 in seen, [v for v in [x] if 1 in seen]


# ---------------------------------------------------------------------- and, or


@case("int")
def bools_and_numbers(x):
    chosen = (x > 2 and 1) or 0, (x > 2 and 1.5) or 0
    return chosen, not x or (x and 3), (x > 5) or x, x and (x > 5), x or (x > 5), x > 2 and x < 5 and 7


@case("int")
def values_that_nobody_sees(x):
    x > 2 and 1  # noqa: B018  the statement is under test
    (x > 2 and str) or 3  # noqa: B018
    x > 5 or given(x)
    given(x) if x > 2 else None
    x > 1 and (y := x)
    if x > 1:
        x < 4 and given(x)
        x += y
    return x


def given(x):
    return x, None


@pytest.mark.parametrize(("function", "kinds"), CASES)
def test_it_means_what_python_means(function, kinds, agree):
    agree(function, kinds)


def test_what_nobody_sees_happens_only_if_it_is_wanted(capfd):
    @td.function
    def f(x):
        x > 2 and td.print("large")
        td.print("small") if x < 0 else None
        return x

    for x in (3, 1, -1):
        f(td.constant(x))
    assert capfd.readouterr().err.splitlines() == ["large", "small"]


def test_a_bool_and_what_is_no_number_have_no_value():
    with pytest.raises(TypeError, match=r"the value of `and` is None if the condition at .* holds, and a tensor of shape \(\) and dtype bool"):
        td.function(lambda x: x > 2 and None)(td.constant(1))


def test_membership_in_what_hashes_and_in_a_filter_is_pythons():
    with pytest.raises(TypeError, match="unhashable"):
        td.function(lambda x: x in {1, 2})(td.constant(1))
    with pytest.raises(TypeError, match="Python bool") as caught:
        td.function(lambda x: [v for v in (x, 2) if v in (1, 2)])(td.constant(1))
    assert "the filter of a comprehension" in caught.value.__notes__[0]


def test_a_filter_of_several_operands_takes_each_for_itself():
    @td.function
    def f(x):
        return [k * x for k in range(6) if k in (1, 3) or (k > 4 and len(x.shape) == 0)]

    @td.function
    def refused(x):
        return [k for k in range(3) if k in (1, 2) and x > k]

    x = td.constant(2)
    assert [int(v) for v in f(x)] == [2, 6, 10]
    with pytest.raises(TypeError, match="filter of a comprehension"):
        refused(x)


def test_membership_as_a_value_is_as_python_has_it_for_all_containers():
    class Listed(list):
        pass

    def f(x, s, key):
        a = x in s
        b = x not in (1, 2)
        c = key in {1: 2}
        return a, b, c, x + 1 in s

    converted = td.autograph.to_graph(f)
    for s in ([1, 2], (1, 2), {1, 2}, {1: 0, 2: 0}, range(1, 3), Listed([1, 2])):
        for x in (1, 3):
            assert converted(x, s, x) == f(x, s, x)
    for s in ([1, 2], (1, 2), Listed([1, 2])):
        assert [bool(v) for v in td.function(lambda x, s=s: f(x, s, 1))(td.constant(2))] == [True, False, True, False]
