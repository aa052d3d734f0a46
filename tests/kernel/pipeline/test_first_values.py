"""Variables made while tracing whose first value comes from an argument: it is that of the call that is traced."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from treadle.errors import InvalidArgumentError


@pytest.fixture
def lazy(tf, toy):
    """A traced function that makes its Variable of its first argument, and the list that the Variable is put in."""
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(toy.mul(x, 2.0)))
        return toy.add(made[0], x)

    return f, made


def test_the_first_call_gives_the_value(tf, toy, lazy):
    f, made = lazy
    assert [float(f(tf.constant(k))) for k in (1.0, 5.0)] == [3.0, 7.0]
    assert float(made[0]) == 2.0


def test_it_does_so_through_a_function_that_calls_it(tf, toy, lazy):
    f, made = lazy
    outer = tf.function(lambda x: f(toy.add(x, 1.0)))
    assert [float(outer(tf.constant(k))) for k in (1.0, 5.0)] == [6.0, 10.0]
    assert float(made[0]) == 4.0


def test_the_trace_keeps_no_argument(tf, lazy):
    f, _ = lazy
    x = tf.constant(np.ones(3, np.float32))
    f(x)
    ref = weakref.ref(x._buffer)
    del x
    gc.collect()
    assert ref() is None


def test_without_a_call_there_is_no_value(tf, lazy):
    f, _ = lazy
    with pytest.raises(InvalidArgumentError, match=r"made\.append.*depends on 'x' of 'f'.*make the Variable outside"):
        f.get_concrete_function(tf.TensorSpec([], tf.float32))
