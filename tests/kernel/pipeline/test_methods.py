"""Traced methods: whose traces they are, how long they live, and what they count as when they are arguments."""

from __future__ import annotations

import copy
import dataclasses
import functools
import gc
import pickle
import weakref

import pytest


def test_equal_instances_do_not_share_traces(tf, toy):
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

        @tf.function
        def __call__(self, x):
            return toy.mul(x, self.factor)

    one, other = Scale(2.0), Scale(5.0)
    assert (float(one(tf.constant(1.0))), float(other(tf.constant(1.0)))) == (2.0, 5.0)


@dataclasses.dataclass
class Unhashable:
    factor: float


class Slotted:
    __slots__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor


class Listed(list):
    factor = 2.0


@pytest.mark.parametrize("base", [Unhashable, Slotted, Listed])
def test_any_kind_of_instance_keeps_its_traces(tf, toy, base):
    traces = []

    class Scale(base):
        __slots__ = ()

        @tf.function
        def scaled(self, x):
            traces.append(1)
            return toy.mul(x, self.factor)

    scale = Scale([]) if base is Listed else Scale(2.0)
    assert [float(scale.scaled(tf.constant(k))) for k in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert len(traces) == 1


def test_the_traces_go_with_the_instance(tf, toy):
    class Scale:
        @tf.function
        def __call__(self, x):
            return toy.add(x, x)

    scale = Scale()
    scale(tf.constant(1.0))
    refs = [weakref.ref(scale), weakref.ref(scale.__call__.function)]
    del scale
    gc.collect()
    assert [r() for r in refs] == [None, None]
    assert Scale.__call__._instances.values() == []


def test_traced_methods_and_partials_as_arguments_count_by_what_they_are_made_of(tf, toy):
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        @tf.function
        def traced(self, x):
            return toy.mul(x, self.factor)

        def plain(self, x, again):
            return toy.mul(toy.mul(x, self.factor), again)

    traces = []

    @tf.function
    def run(fn, x):
        traces.append(1)
        return fn(x)

    two, five, x = Scale(2.0), Scale(5.0), tf.constant(1.0)
    assert [float(run(s.traced, x)) for s in (two, two, five, five)] == [2.0, 2.0, 5.0, 5.0]
    assert len(traces) == 2
    given = [functools.partial(s.plain, again=k) for s, k in ((two, 3.0), (two, 3.0), (five, 3.0), (two, 4.0), (two, 4.0))]
    assert [float(run(partial, x)) for partial in given] == [6.0, 6.0, 15.0, 8.0, 8.0]
    assert len(traces) == 5


def test_partials_of_tensors_never_lend_each_other_their_trace(tf, toy):
    run = tf.function(lambda fn, x: fn(x))
    assert [float(run(functools.partial(toy.mul, tf.constant(k)), tf.constant(1.0))) for k in (1.0, 2.0, 3.0)] == [1.0, 2.0, 3.0]


class Model:
    def __init__(self, tf, toy):
        self.k = 2.0
        Model.step = tf.function(lambda self, x: toy.mul(x, self.k))
        Model.step.__set_name__(Model, "step")
        Model.fixed = tf.function(Model.plain, input_signature=[tf.TensorSpec([])])
        Model.fixed.__set_name__(Model, "fixed")

    def plain(self, x):
        return x * self.k


def test_copies_of_a_bound_method_and_its_pickle(tf, toy):
    model, x = Model(tf, toy), tf.constant(3.0)
    assert float(model.step(x)) == 6.0
    assert copy.copy(model.step) == model.step
    deep = copy.deepcopy({"step": model.step})["step"]
    model.k = 5.0
    assert deep.__self__ is not model
    assert float(deep(x)) == 6.0
    again = pickle.loads(pickle.dumps(model.step))
    assert float(again(x)) == 15.0
    assert type(again) is type(model.step)


def test_a_method_called_on_its_class_is_that_of_the_instance(tf, toy):
    model, x = Model(tf, toy), tf.constant(3.0)
    assert float(Model.step(model, x)) == float(model.step(x)) == 6.0
    assert float(Model.fixed(model, x)) == float(model.fixed(x)) == 6.0
    assert Model.fixed.get_concrete_function(model) is model.fixed.get_concrete_function()
    assert Model.step.experimental_get_tracing_count() == len(Model.step.concrete_functions()) == 1
    assert Model.step.explain().count("first call on this Model") == 1
    Model.step.clear()
    assert model.step.concrete_functions() == []


def test_a_slotted_instance_keeps_its_traces_under_an_input_signature(tf, toy):
    traces = []

    class Scale:
        __slots__ = ("k",)

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def call(self, x):
            traces.append(1)
            return toy.mul(x, self.k)

    scales = [Scale() for _ in range(3)]
    for k, scale in enumerate(scales):
        scale.k = float(k)
    for _ in range(3):
        assert [scale.call(tf.constant([1.0])).numpy().tolist() for scale in scales] == [[0.0], [1.0], [2.0]]
    assert len(traces) == 3
