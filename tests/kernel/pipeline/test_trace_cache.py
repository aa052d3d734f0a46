"""How many traces a function keeps, and which go first."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from treadle import settings


@pytest.fixture
def three():
    with settings.override(most_traces=3):
        yield


def test_no_more_traces_are_kept_than_the_settings_say(tf, toy, three):
    f = tf.function(lambda x: toy.add(x, x))
    kept = []
    for n in range(1, 8):
        f(tf.constant(np.ones(n, np.float32)))
        kept.append(weakref.ref(f.concrete_functions()[-1]))
    gc.collect()
    assert len(f.concrete_functions()) == 3
    assert [r() is not None for r in kept] == [False] * 4 + [True] * 3


def test_the_least_recently_used_trace_goes_first_whichever_path_used_it(tf, toy, three):
    traced = []

    @tf.function
    def f(x):
        traced.append(x.shape[0])
        return toy.add(x, x)

    sizes = {n: tf.constant(np.ones(n, np.float32)) for n in range(1, 7)}
    for n in (1, 2, 3):
        f(sizes[n])
    for _ in range(3):
        f(sizes[1])  # on the fast path by now
    f(sizes[4])
    f(sizes[1])
    f(sizes[5])
    f(sizes[1])
    assert traced == [1, 2, 3, 4, 5]
    f(sizes[2])
    assert traced == [1, 2, 3, 4, 5, 2]


def test_traces_by_keyword_and_for_varying_sizes_count_too(tf, toy, three):
    f = tf.function(lambda x, k: toy.add(x, x), reduce_retracing=True)
    for k in range(6):
        for n in (1, 2, 5):
            f(tf.constant(np.ones(n, np.float32)), k=k)
    assert len(f.concrete_functions()) == 3


def test_a_limit_that_is_none_is_refused():
    with pytest.raises(ValueError, match="most_traces is 0"):
        settings.override(most_traces=0)


@pytest.mark.parametrize("options", [{}, {"reduce_retracing": True}, {"input_signature": True}], ids=str)
def test_traces_go_with_the_objects_that_they_are_for(tf, toy, options):
    class Box:
        def __init__(self):
            self.v = tf.Variable(2.0)

    if options.get("input_signature"):
        options = {"input_signature": [tf.TensorSpec([])]}
    f = tf.function(lambda x, box=None, boxes=(): toy.mul(x, box.v), **options)
    variables = []
    for _ in range(3):
        box = Box()
        variables.append(weakref.ref(box.v))
        assert float(f(tf.constant(3.0), box)) == float(f(tf.constant(3.0), box, {box})) == 6.0
        assert len(f.concrete_functions()) == 2
        del box
        gc.collect()
        assert f.concrete_functions() == []
    assert [v() for v in variables] == [None] * 3


def test_a_variable_that_was_an_argument_is_not_kept(tf, toy):
    f = tf.function(lambda w: toy.add(w, w))
    w = tf.Variable(2.0)
    assert float(f(w)) == 4.0
    reference = weakref.ref(w)
    del w
    gc.collect()
    assert reference() is None
    assert float(f(tf.Variable(3.0))) == 6.0
    assert f.experimental_get_tracing_count() == 1
