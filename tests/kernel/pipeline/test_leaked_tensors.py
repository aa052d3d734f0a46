"""Symbolic tensors that left their trace: every use says what they are, where they were made, and what to do instead."""

from __future__ import annotations

import numpy as np
import pytest

from treadle.errors import SymbolicTensorError


@pytest.fixture
def leaked(tf, toy):
    """A tensor that a traced function put into a list."""
    found = []

    @tf.function
    def f(x):
        found.append(toy.add(x, 1.0))  # it leaks here
        return x

    f(tf.constant(1.0))
    return found[0]


USES = {
    "bool": lambda tf, toy, t: bool(t),
    "float": lambda tf, toy, t: float(t),
    "numpy": lambda tf, toy, t: t.numpy(),
    "array": lambda tf, toy, t: np.asarray(t),
    "an op": lambda tf, toy, t: toy.add(t, 1.0),
    "a Variable": lambda tf, toy, t: tf.Variable(t),
    "assign": lambda tf, toy, t: tf.Variable(1.0).assign(t),
    "an argument": lambda tf, toy, t: tf.function(toy.neg)(t),
    "a closure": lambda tf, toy, t: tf.function(lambda x: toy.add(x, t))(tf.constant(1.0)),
}


@pytest.mark.parametrize("use", USES)
def test_a_leaked_tensor_says_where_it_was_made(tf, toy, leaked, use):
    with pytest.raises(SymbolicTensorError, match=r"found\.append") as caught:
        USES[use](tf, toy, leaked)
    assert "leaked out of the traced function" in str(caught.value) and "assign()" in str(caught.value)


def test_the_hint_for_dictionaries_names_a_method_of_tensors(tf, toy):
    def f(x):
        return {x: 1}

    with pytest.raises(TypeError, match=r"use tensor\.ref\(\)"):
        tf.function(f)(tf.constant(1.0))
    with pytest.raises(TypeError, match=r"use variable\.ref\(\)"):
        hash(tf.Variable(1.0))
