"""Calling one trace: it takes the Python function's arguments or its own tensors, and nothing else."""

from __future__ import annotations

import pytest


@pytest.fixture
def scaled(tf, toy):
    """The trace of a function of a tensor and a number, for the number 3."""
    return tf.function(lambda x, k=2.0: toy.mul(x, k)).get_concrete_function(tf.TensorSpec([None], tf.float32), 3.0)


def test_python_values_of_the_trace_may_be_left_out_or_repeated(tf, scaled):
    x = tf.constant([1.0, 2.0])
    assert [scaled(*a, **k).numpy().tolist() for a, k in (((x,), {}), ((x, 3.0), {}), ((), {"x": x, "k": 3.0}))] == [[3.0, 6.0]] * 3


def test_another_python_value_is_refused(tf, scaled):
    with pytest.raises(TypeError, match=r"k is 4\.0, and this trace was made for 3\.0"):
        scaled(tf.constant([1.0]), 4.0)


@pytest.mark.parametrize(("arguments", "message"), [({"y": 1.0}, "unexpected keyword argument 'y'"), ({}, "missing a required argument: 'x'")])
def test_unknown_and_missing_arguments_are_refused_by_name(scaled, arguments, message):
    with pytest.raises(TypeError, match=f"{message}; its tensors are called x"):
        scaled(**arguments)


def test_structures_are_arguments_too(tf, toy):
    both = {"a": tf.TensorSpec([], tf.float32, name="a"), "b": tf.TensorSpec([], tf.float32, name="b")}
    f = tf.function(lambda d: toy.add(toy.neg(d["a"]), d["b"])).get_concrete_function(both)
    one, two = tf.constant(1.0), tf.constant(2.0)
    assert float(f({"a": one, "b": two})) == float(f(d={"b": two, "a": one})) == float(f(a=one, b=two)) == float(f(one, two)) == 1.0
    named = tf.function(lambda d: toy.neg(d["x"])).get_concrete_function({"x": tf.TensorSpec([], tf.float32), "mode": "a"})
    with pytest.raises(TypeError, match=r"d\['mode'\] is 'b', and this trace was made for 'a'"):
        named({"x": one, "mode": "b"})
    with pytest.raises(TypeError, match=r"d has the structure \[\., \.\]"):
        f([one, two])
