"""Calls back into the user's Python: what the function is given is its own to keep and to give back."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

CALLS = {"py_function": td.py_function, "numpy_function": td.numpy_function}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("size", [3, 10_000])
def test_what_the_function_kept_is_not_written_over(name, traced, size):
    kept = []

    def keep(x):
        kept.append(x)
        return x

    def f(x):
        y = x * 2.0
        CALLS[name](keep, [y], td.float32)
        return td.exp(y + 1.0)

    (td.function(f) if traced else f)(td.ones([size]))
    assert np.asarray(kept[0]).tolist() == [2.0] * size


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("traced", [False, True])
def test_the_function_may_give_back_what_it_was_given(name, traced):
    def f(x):
        y = x * 2.0
        same, part = CALLS[name](lambda v: (v, v[1:]), [y], [td.float32, td.float32])
        return same, part, y + 1.0

    same, part, more = (td.function(f) if traced else f)(td.constant([1.0, 2.0]))
    assert (same.numpy().tolist(), part.numpy().tolist(), more.numpy().tolist()) == ([2, 4], [4], [3, 5])


def test_its_gradient_reaches_the_input():
    @td.function
    def f(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.py_function(lambda v: v, [x * 3.0], td.float32)
        return tape.gradient(y, x)

    assert f(td.constant([1.0, 2.0])).numpy().tolist() == [3, 3]


# ---------------------------------------------------------------------- derivatives of any order


def powers(x, w, calls):
    calls.append(1)
    return td.sin(x) * w**2, x * w


def total(calls):
    def program(x, w):
        a, b = td.py_function(lambda x, w: powers(x, w, calls), [x, w], [td.float64, td.float64])
        return td.reduce_sum(a * b * x)

    return program


def derivative(program, order):
    if not order:
        return program

    def slope(x, w):
        with td.GradientTape() as tape:
            tape.watch([x, w])
            y = derivative(program, order - 1)(x, w)
        of_x, of_w = tape.gradient(y, [x, w])
        return td.reduce_sum(of_x * 1.5 + td.cos(of_w))

    return slope


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_of_any_order_are_right_and_need_one_call(order):
    x, w, calls = td.constant([0.3, 0.7], td.float64), td.constant([1.2, -0.4], td.float64), []
    want = derivative(total(calls), order)(x, w)
    for run in (td.function(derivative(total(calls), order), autograph=False), derivative(td.function(total(calls), autograph=False), order)):
        calls.clear()
        np.testing.assert_allclose(run(x, w), want, rtol=1e-12)
        assert len(calls) == 1


@pytest.mark.parametrize("place", ["loop", "branch"])
def test_second_derivatives_go_through_loops_and_branches(place):
    def cubed(x):
        return td.ensure_shape(td.py_function(lambda t: td.sin(t) * t, [x], td.float64), [2])

    def program(x, w):
        if place == "loop":
            return td.reduce_sum(td.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, cubed(a) * w), (0, x))[1])
        return td.reduce_sum(td.cond(x[0] > 0.0, lambda: cubed(x) * w, lambda: w * 1.0))

    x, w = td.constant([0.3, 0.7], td.float64), td.constant([1.2, -0.4], td.float64)
    want = derivative(program, 2)(x, w)
    for run in (td.function(derivative(program, 2), autograph=False), derivative(td.function(program, autograph=False), 2)):
        np.testing.assert_allclose(run(x, w), want, rtol=1e-12)


def test_jacobians_ask_a_call_as_often_as_they_need():
    @td.function(autograph=False)
    def program(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.ensure_shape(td.py_function(lambda t: t**3, [x], td.float64), [12])
        return tape.jacobian(y, x)

    x = td.range(12.0, dtype=td.float64)
    np.testing.assert_allclose(program(x), np.diag(3.0 * np.arange(12.0) ** 2))


# ---------------------------------------------------------------------- what the function raises


@pytest.mark.parametrize("name", CALLS)
def test_what_the_function_raises_bears_a_note_of_the_line_that_calls_it(name):
    def fail(x, n):
        raise KeyError("oops")

    @td.function(autograph=False)
    def program(x):
        return CALLS[name](fail, [x, 2], td.float32)

    with pytest.raises(KeyError, match="oops") as caught:
        program(td.constant([1.0, 2.0]))
    (note,) = caught.value.__notes__
    assert note.startswith(f"in op {name!r} (float32[2], int32[]), made at ") and "return CALLS[name](fail, [x, 2], td.float32)" in note


def test_what_its_gradient_raises_bears_one_too():
    @td.custom_gradient
    def one_way(x):
        def back(d):
            raise KeyError("no way back")

        return x * 1.0, back

    @td.function(autograph=False)
    def program(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.py_function(one_way, [x], td.float32)
        return tape.gradient(y, x)

    with pytest.raises(KeyError, match="no way back") as caught:
        program(td.constant([1.0, 2.0]))
    (note,) = caught.value.__notes__
    assert note.startswith("in the gradient of op 'py_function' (float32[2]), made at ") and "y = td.py_function(one_way" in note
