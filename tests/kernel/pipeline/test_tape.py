"""Gradient tapes: values, orders, what is watched, and what is kept."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from treadle import state


def cube(toy, x):
    return toy.mul(toy.mul(x, x), x)


def test_the_gradient_of_a_product(tf, toy):
    x, y = tf.constant([2.0, 3.0]), tf.constant([5.0, 7.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = toy.total(toy.mul(x, y))
    dx, dy = tape.gradient(z, [x, y])
    assert dx.numpy().tolist() == [5.0, 7.0] and dy.numpy().tolist() == [2.0, 3.0]


def test_broadcast_inputs_get_gradients_of_their_own_shape(tf, toy):
    x, y = tf.constant([[1.0], [2.0]]), tf.constant([3.0, 4.0, 5.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = toy.mul(x, y)
    dx, dy = tape.gradient(z, [x, y])
    assert dx.numpy().tolist() == [[12.0], [12.0]] and dy.numpy().tolist() == [3.0, 3.0, 3.0]


def test_third_order(tf, toy):
    x = tf.constant(2.0)
    with tf.GradientTape() as t3:
        t3.watch(x)
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                y = cube(toy, x)
            a = t1.gradient(y, x)
        b = t2.gradient(a, x)
    assert (float(a), float(b), float(t3.gradient(b, x))) == (12.0, 12.0, 6.0)


def test_a_tape_that_is_not_persistent_serves_once(tf, toy):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cube(toy, x)
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="persistent"):
        tape.gradient(y, x)


def test_a_persistent_tape_serves_again(tf, toy):
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = cube(toy, x)
        z = toy.mul(y, y)
    assert [float(tape.gradient(z, x)), float(tape.gradient(y, x)), float(tape.gradient(z, y))] == [192.0, 12.0, 16.0]


def test_unwatched_is_none_or_zero(tf, toy):
    x, y = tf.constant(2.0), tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = cube(toy, x)
    assert tape.gradient(z, y) is None
    assert tape.gradient(z, {"y": y}, unconnected_gradients="zero")["y"].numpy().tolist() == [0.0, 0.0]


def test_variables_are_watched_when_read(tf, toy):
    v, fixed = tf.Variable(3.0), tf.Variable(4.0, trainable=False)
    with tf.GradientTape() as tape:
        z = toy.mul(toy.mul(v, v), fixed)
    assert tape.watched_variables() == (v,) or [w is v for w in tape.watched_variables()] == [True]
    assert [None if g is None else float(g) for g in tape.gradient(z, [v, fixed])] == [24.0, None]


def test_watch_accessed_variables_can_be_switched_off(tf, toy):
    v = tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        z = toy.mul(v, v)
    assert tape.gradient(z, v) is None


def test_a_variable_keeps_the_value_that_was_read(tf, toy):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = toy.mul(v, v)
        v.assign(100.0)
    assert float(tape.gradient(z, v)) == 6.0


def test_stop_recording_hides_what_is_inside(tf, toy):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            y = cube(toy, x)
        z = toy.mul(x, y)
    assert float(tape.gradient(z, x)) == 8.0


def test_output_gradients_weigh_the_targets(tf, toy):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = toy.mul(x, x)
    assert tape.gradient(y, x, output_gradients=tf.constant([10.0, 100.0])).numpy().tolist() == [20.0, 400.0]


def test_several_outputs_get_zeros_where_nothing_flows_back(tf, toy):
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, _ = toy.halves(x)
        z = toy.total(toy.mul(first, first))
    assert tape.gradient(z, x).numpy().tolist() == [2.0, 4.0, 0.0, 0.0]


def test_a_tape_keeps_nothing_that_the_way_back_does_not_read(tf, toy):
    x = tf.constant(np.ones(1000, np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        middle = toy.neg(x)
        ref = weakref.ref(middle)
        out = toy.total(toy.add(middle, 1.0))
        del middle
        gc.collect()
        assert ref() is None
    assert tape.gradient(out, x).numpy().tolist() == [-1.0] * 1000


def test_a_tape_keeps_what_is_read_for_the_inputs_that_it_watches_only(tf, toy):
    x, scale = tf.constant(np.ones(1000, np.float32)), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        middle = toy.neg(x)
        ref = weakref.ref(middle)
        out = toy.total(toy.mul(middle, scale))
        del middle
        assert ref() is None
    assert tape.gradient(out, x).numpy().tolist() == [-3.0] * 1000
    with tf.GradientTape() as tape:
        tape.watch([x, scale])
        middle = toy.neg(x)
        ref = weakref.ref(middle)
        out = toy.total(toy.mul(middle, scale))
        del middle
        assert ref() is not None
    assert float(tape.gradient(out, scale)) == -1000.0


def test_what_was_kept_is_let_go_by_the_sweep(tf, toy):
    x = tf.constant(np.ones(10, np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        middle = toy.mul(x, x)
        out = toy.total(toy.mul(middle, middle))
    ref = weakref.ref(middle)
    del middle
    assert ref() is not None
    tape.gradient(out, x)
    gc.collect()
    assert ref() is None


def test_a_custom_gradient_is_used_in_both_modes_and_from_outside(tf, toy):
    @tf.custom_gradient
    def twice_backward(x):
        return toy.mul(x, x), lambda up: toy.mul(up, toy.mul(x, 100.0))

    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = toy.total(twice_backward(x))
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0])
    assert run(x).numpy().tolist() == tf.function(run)(x).numpy().tolist() == [100.0, 200.0]
    traced = tf.function(lambda x: toy.total(twice_backward(x)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = traced(x)
    assert tape.gradient(y, x).numpy().tolist() == [100.0, 200.0]


def test_integer_sources_have_no_gradient(tf, toy):
    n = tf.constant(2)
    with tf.GradientTape() as tape, pytest.warns(UserWarning, match="float"):
        tape.watch(n)
    assert tape.gradient(toy.mul(n, n), n) is None


def test_gradients_reach_what_a_function_captures_through_the_functions_that_call_it(tf, toy):
    x = tf.constant(np.float32([1, 2]))
    inner = tf.function(lambda: toy.total(toy.mul(x, x)))
    middle = tf.function(lambda: toy.mul(inner(), 2.0))
    outer = tf.function(lambda: toy.add(middle(), inner()))
    for function, factor in ((inner, 2), (middle, 4), (outer, 6)):
        for _ in range(2):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function()
            assert tape.gradient(y, x).numpy().tolist() == [factor, 2 * factor]


def test_a_tape_belongs_to_the_thread_that_entered_it(tf, toy):
    x = tf.constant(2.0)
    found = []

    def leave(tape):
        for act in (lambda: tape.__exit__(None, None, None), lambda: tape.gradient(x, x)):
            try:
                act()
            except RuntimeError as error:
                found.append(str(error))

    with tf.GradientTape() as tape:
        tape.watch(x)
        thread = threading.Thread(target=leave, args=(tape,))
        thread.start()
        thread.join()
        y = toy.mul(x, x)
    assert len(found) == 2 and all("another thread entered" in text for text in found)
    assert float(tape.gradient(y, x)) == 4.0
    assert state.LOCAL.depth == 0


def test_warnings_point_at_the_users_line(tf, toy):
    with pytest.warns(UserWarning, match="must be floating") as caught, tf.GradientTape() as tape:
        tape.watch(tf.constant(1))
    assert caught[0].filename == __file__


def test_a_custom_gradient_takes_its_arguments_by_keyword(tf, toy):
    @tf.custom_gradient
    def scaled(x, y=1.0):
        return toy.mul(x, y), lambda g: (toy.mul(g, 10.0), toy.mul(g, 20.0))

    @tf.custom_gradient
    def by_name(x, *, w):
        return toy.mul(x, w), lambda g: toy.mul(g, 7.0)

    @tf.custom_gradient
    def both(x, *, w):
        return toy.mul(x, w), lambda g: (toy.mul(g, 7.0), toy.mul(g, 8.0))

    def slopes(f, x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = f(x, w)
        return [None if g is None else float(g) for g in tape.gradient(y, [x, w])]

    x, w = tf.constant(2.0), tf.constant(3.0)
    for f, want in (
        (lambda x, w: scaled(y=w, x=x), [10.0, 20.0]),
        (lambda x, w: by_name(x=x, w=w), [7.0, None]),
        (lambda x, w: both(w=w, x=x), [7.0, 8.0]),
    ):
        assert slopes(f, x, w) == want
        assert slopes(tf.function(f), x, w) == want
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        scaled(x, z=1.0)
