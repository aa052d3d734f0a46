"""Traced methods: whose traces they are, how long they live, and what they count as when they are arguments."""

from __future__ import annotations

import dataclasses
import functools
import gc
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
