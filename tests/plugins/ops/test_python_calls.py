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
