"""Builtins on tensors: what they give in Python, or a refusal that names them."""

from __future__ import annotations

import pytest

import treadle as td

CASES = []


def case(*kinds):
    def note(function):
        CASES.append(pytest.param(function, kinds, id=function.__name__))
        return function

    return note


@case("trips")
def zip_of_a_range_and_a_list(n):
    total = 0
    for a, b in zip(range(n), [1, 2, 3]):  # noqa: B905  zip without strict is under test
        total += a * b
    return total


@case("trips")
def zip_of_ranges(n):
    total = 0
    for a, b, d in zip(range(2, n), range(20, 0, -3), range(n)):  # noqa: B905  zip without strict is under test
        total = total * 3 + a * b - d
    return total


@case("trips")
def zip_with_nothing(n):
    total = 0
    for _ in zip(range(n), []):  # noqa: B905  zip without strict is under test
        total += 1
    return total


@case("vector")
def zip_of_a_tensor_and_numbers(xs):
    total = 0
    for k, (x, w) in enumerate(zip(xs, (4, 5, 6))):  # noqa: B905  zip without strict is under test
        total += x * w + k
    return total


@case("trips")
def reversed_ranges(n):
    total = 0
    for i in reversed(range(1, n, 2)):
        total = total * 10 + i
    for i, j in zip(reversed(range(n)), range(n)):  # noqa: B905  zip without strict is under test
        total += i * j
    for i in reversed([1, n]):
        total = total * 2 + i
    return total


@case("vector")
def reversed_rows(xs):
    total = 0
    for k, x in enumerate(reversed(xs)):
        total = total * 3 + x * k
    return total


@case("int", "int")
def ranges_whose_limit_may_lie_behind(n, step):
    total = 0
    for i in range(n, 3, step if step != 0 else 1):
        total = total * 2 + i
    for i in range(3, n, -1):
        total = total * 2 + i
    else:
        total += 100
    return total


@case("int")
def ranges_as_values(n):
    return sum(range(n)), len(range(n)), sum(range(n, 10)), sum(range(10, n, -2)), len(range(0, n, 2))


@case("int")
def extremes_by_a_key(x):
    large = max([x, 4, -7], key=abs)
    small = min(x, 4, key=lambda v: -v)
    of_pairs = min((x, 1), (4, 2), key=lambda pair: pair[0])
    return large, small, of_pairs, max([], key=abs, default=3), max([1, 2], key=lambda v: -v), max([2, 3])


@case("int")
def sorted_python_values(x):
    return sorted([3, 1, 2], key=lambda v: -v), sorted([1, 3, 2], reverse=True), sorted({"b": 1, "a": x}), list(filter(None, [0, 1]))


@pytest.mark.parametrize(("function", "kinds"), CASES)
def test_it_means_what_python_means(function, kinds, agree):
    agree(function, kinds)


def refused(function, *arguments, kind=TypeError):
    with pytest.raises(kind) as caught:
        td.function(function)(*arguments)
    return str(caught.value)


def test_range_takes_integers_only():
    for function in (lambda x: range(x), lambda x: range(1, x), lambda x: range(3, x, 1)):
        assert "range() takes integer scalar tensors; this one has dtype float32" in refused(function, td.constant(3.0))
    assert "float" in refused(lambda x: range(x, 2.5), td.constant(3))
    assert "shape (2,)" in refused(lambda x: range(x), td.constant([1, 2]))


def test_a_step_of_zero_is_refused_when_it_is_known():
    def f(n, step):
        total = 0
        for i in range(0, n, step):
            total += i
        return total

    assert "must not be zero" in refused(lambda n: f(n, 0), td.constant(3), kind=ValueError)
    assert "delta is 0" in refused(f, td.constant(3), td.constant(0), kind=ValueError)


def test_ranges_of_tensors_of_several_dtypes():
    f = td.function(lambda a, b: sum(range(a, b)))
    assert int(f(td.constant(1), td.constant(4, td.int64))) == 6


def test_zip_beside_what_is_no_tensor_names_it():
    def f(n, others):
        total = 0
        for a, _ in zip(range(n), others):  # noqa: B905  zip without strict is under test
            total += a
        return total

    assert "zip: a list cannot go beside items whose number depends on a tensor" in refused(lambda n: f(n, ["a", None]), td.constant(3))
    assert "zip: a dict cannot go" in refused(lambda n: f(n, {1: 2}), td.constant(3))


def test_filter_and_sorted_do_not_go_by_tensors():
    assert "`filter`" in refused(lambda x: list(filter(lambda v: v > 1, [x, x - 3])), td.constant(5))
    assert "td.sort" in refused(lambda x: sorted([x, 3]), td.constant(5))
    assert "td.argsort" in refused(lambda x: sorted([1, 2], key=lambda v: v * x), td.constant(5))


def test_extremes_whose_values_do_not_fit_name_the_builtin():
    message = refused(lambda x: max((x, "a"), (x + 1, "b"), key=lambda pair: pair[0]), td.constant(5))
    assert message.startswith("the value of `max` is 'b' if the condition at ")
    assert __file__ in message
