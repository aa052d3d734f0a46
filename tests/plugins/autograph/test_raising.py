"""What a loop raises is raised when the graph runs and gets there."""

from __future__ import annotations

import pytest

import treadle as td

CASES = []


def case(*kinds):
    def note(function):
        CASES.append(pytest.param(function, kinds, id=function.__name__))
        return function

    return note


@case("int")
def every_turn_raises(x):
    while x > 3:
        if x > 8:
            raise ValueError("big")
        raise KeyError("small")
    return x


@case("trips")
def a_for_that_raises(n):
    for i in td.range(n):
        raise ValueError(i)
    return n


@case("trips")
def a_for_over_rows_that_raises(n):
    for k, _ in enumerate(range(n)):
        raise ValueError(k)
    else:
        n = 7
    return n


@case("vector")
def rows_of_which_each_raises(xs):
    for x in xs:
        if x > 4:
            raise ValueError("big")
        raise KeyError("small")
    return 1


@case("int")
def an_assertion_that_cannot_hold(x):
    while x > 0:
        assert False  # noqa: B011, PT015  the statement is under test
    return x


@case("trips")
def loops_in_loops(n):
    total = 0
    for i in td.range(n):
        total += i
        if i > 1:
            while total > 0:
                raise ValueError(total)
    while n > 1:
        for _ in td.range(n):
            raise KeyError
        n -= 1
    return total


@case("int")
def a_known_number_of_turns(x):
    if x > 1:
        for _ in td.range(3):
            if x > 5:
                raise KeyError
            raise ValueError
    return x


@case("int")
def a_return_beside(x):
    while x > 0:
        if x > 10:
            return 7
        raise ValueError
    return x


@case("int")
def variables_of_all_kinds_stay(x):
    d, y, z, pair = {"k": 1}, 2.5, None, (x, 2)
    while x > 0:
        d["k"] = 5
        y = 3
        pair = (x, x)
        x -= 1
        raise ValueError
    return d, y, z, pair


@case("int")
def a_helper_that_raises(x):
    def fail():
        raise ValueError("in a helper")

    while x > 0:
        fail()
    return x


@case("trips")
def caught_in_the_loop(n):
    r = 0
    while n > 0:
        try:
            raise ValueError
        except ValueError:
            r += 1
        n -= 1
    return r


@pytest.mark.parametrize(("function", "kinds"), CASES)
def test_it_means_what_python_means(function, kinds, agree):
    agree(function, kinds)


def test_it_is_the_exception_of_the_way_that_was_taken(capfd):
    @td.function
    def f(x):
        while x > 3:
            td.print("a turn")
            if x > 100:
                raise ValueError("big")
            raise KeyError("small")
        return x

    assert int(f(td.constant(0))) == 0
    with pytest.raises(ValueError, match="big") as caught:
        f(td.constant(200))
    assert caught.value.__notes__[0].endswith('`raise ValueError("big")`')
    with pytest.raises(KeyError, match="small"):
        f(td.constant(50))
    assert capfd.readouterr().err.splitlines() == ["a turn", "a turn"]


def test_a_try_around_a_loop_catches_what_tracing_raises_only():
    @td.function
    def f(x):
        try:
            while x > 3:
                raise ValueError("z")
        except ValueError:
            return -1
        return x

    assert int(f(td.constant(0))) == 0
    with pytest.raises(ValueError, match="z"):
        f(td.constant(5))


def test_what_every_way_raises_is_raised_while_tracing():
    def f(x):
        for _ in td.range(3):
            raise ValueError("in the first turn")
        return x

    with pytest.raises(ValueError, match="in the first turn"):
        td.function(f).get_concrete_function(td.TensorSpec([], td.int32))


def test_what_an_op_refuses_in_a_loop_is_refused_while_tracing():
    def f(x):
        while x[0] > 3:
            x = td.reshape(x, [5])
        return x

    with pytest.raises(ValueError, match="reshape"):
        td.function(f).get_concrete_function(td.TensorSpec([2], td.int32))


# ---------------------------------------------------------------------- what the exception holds


class Coded(Exception):
    def __init__(self, code, *, text):
        super().__init__(f"{code}: {text}")
        self.code = code


def by_code(x):
    if x < 0:
        raise Coded(3, text="negative")
    return x


def by_tensor(x):
    if x < 0:
        raise ValueError("negative", x)
    return x


def by_text(x):
    if x < 0:
        raise ValueError(f"it is {x} {x!r} {x:.3f} {3:>4}")
    return x


def by_errno(x):
    if x < 0:
        raise OSError(2, "missing")
    return x


def from_cause(x):
    try:
        _ = {}["k"]
    except KeyError as error:
        if x < 0:
            raise ValueError("negative") from error
    return x


def with_a_note(x):
    if x < 0:
        error = ValueError("negative")
        error.add_note("mine")
        raise error
    return x


@pytest.mark.parametrize("f", [by_code, by_tensor, by_text, by_errno, from_cause, with_a_note], ids=lambda f: f.__name__)
def test_an_exception_of_a_branch_holds_what_it_holds_eagerly(f):
    x = td.constant(-1.5)
    traced = td.function(f)
    assert float(traced(td.constant(1.0))) == 1.0
    with pytest.raises((Coded, ValueError, OSError), match=r".") as eager:
        f(x)
    for _ in range(3):
        with pytest.raises(type(eager.value)) as caught:
            traced(x)
        error, want = caught.value, eager.value
        assert [str(a) for a in error.args] == [str(a) for a in want.args]
        assert getattr(error, "code", None) == getattr(want, "code", None)
        assert getattr(error, "errno", None) == getattr(want, "errno", None)
        assert repr(error.__cause__) == repr(want.__cause__)
        assert error.__notes__[:-1] == getattr(want, "__notes__", [])
        assert error.__notes__[-1].startswith("raised by a traced function at ")
