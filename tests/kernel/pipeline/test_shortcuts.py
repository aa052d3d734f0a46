"""Calls with nested and Python arguments: the same results and traces as without shortcuts, call after call."""

from __future__ import annotations

import numpy as np
import pytest

from treadle.functions.shortcuts import MISS, shortcut


def calls(tf, f, *arguments, times=3):
    """What calls give, each made several times."""
    return [[f(*args, **kwargs).numpy().tolist() for _ in range(times)] for args, kwargs in arguments]


def test_structures_are_told_apart(tf, toy):
    traced = []

    @tf.function
    def f(d, k=1.0):
        leaves = tf.nest.flatten(d)
        traced.append((type(d).__name__, len(leaves), k))
        total = leaves[0]
        for leaf in leaves[1:]:
            total = toy.add(total, leaf)
        return toy.mul(total, float(k))

    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    found = calls(
        tf,
        f,
        (({"a": a, "b": b},), {}),
        (({"b": b, "a": a},), {}),
        (([a, b],), {}),
        (((a, b),), {}),
        (({"a": a},), {}),
        (({"a": [a, {"c": b}]},), {}),
        (({"a": a, "b": b}, 2.0), {}),
        (({"a": a, "b": b},), {"k": 2.0}),
        (([b, a],), {"k": 3.0}),
    )
    assert found == [[r] * 3 for r in ([4, 6], [4, 6], [4, 6], [4, 6], [1, 2], [4, 6], [8, 12], [8, 12], [12, 18])]
    assert len(traced) == 7  # the order of keys, and how k is given, make no difference


def test_values_of_python_arguments_are_told_apart(tf, toy):
    traced = []

    @tf.function
    def f(x, k):
        traced.append(k)
        return toy.mul(x, 0.0 if k is None else float(k))

    x = tf.constant(2.0)
    values = [1, True, 1.0, 2, 0.0, -0.0, None, float("inf"), 0, False]
    for _ in range(3):
        assert [float(f(x, k)) for k in values[:7]] == [2, 2, 2, 4, 0, 0, 0]
        assert [bool(np.signbit(f(x, k).numpy())) for k in (0.0, -0.0)] == [False, True]
        assert float(f(x, values[7])) == float("inf")
        f(x, 0), f(x, False)
    assert len(traced) == len(values)


def test_other_dtypes_shapes_and_kinds_go_by_the_signature(tf, toy):
    f = tf.function(lambda d: toy.add(d["x"], d["x"]))
    for _ in range(3):
        assert f({"x": tf.constant(1.0)}).dtype is tf.float32
        assert f({"x": tf.constant([1.0, 2.0])}).shape == [2]
        assert f({"x": tf.constant(1.0, tf.float64)}).dtype is tf.float64
        assert float(f({"x": tf.Variable(3.0)})) == 6.0
        assert float(f({"x": np.float32(4)})) == 8.0
    with pytest.raises(KeyError):
        f({"y": tf.constant(1.0)})
    with pytest.raises(TypeError):
        f({"x": tf.constant(1.0)}, 3)


def test_plain_calls_and_calls_by_name_take_turns(tf, toy):
    f = tf.function(lambda x, y=None: toy.add(x, x if y is None else y))
    a, b = tf.constant(1.0), tf.constant(2.0)
    for _ in range(4):
        assert [float(r) for r in (f(a), f(x=a), f(a, b), f(a, y=b), f(y=a, x=b))] == [2, 2, 3, 3, 3]
    assert f.experimental_get_tracing_count() == 2
    assert len(f._shortcuts) <= 4


def test_one_tensor_in_two_places_is_served(tf, toy):
    f = tf.function(lambda d: toy.add(d["x"], toy.mul(d["y"], 10.0)))
    a, b = tf.constant(1.0), tf.constant(2.0)
    for _ in range(3):
        assert [float(f({"x": p, "y": q})) for p, q in ((a, a), (a, b), (b, a), (b, b))] == [11, 21, 12, 22]


def test_several_results_come_in_their_structure(tf, toy):
    f = tf.function(lambda d: {"sum": toy.add(d["x"], d["y"]), "rest": [d["x"], 3]})
    for _ in range(3):
        result = f({"x": tf.constant(1.0), "y": tf.constant(2.0)})
        assert (float(result["sum"]), float(result["rest"][0])) == (3.0, 1.0)


def test_gradients_flow_by_shortcuts(tf, toy):
    w = tf.Variable(3.0)
    traced = []

    @tf.function
    def f(batch, scale):
        traced.append(1)
        return toy.total(toy.mul(toy.mul(batch["x"], w), batch["y"]))

    for step in range(1, 5):
        x, y = tf.constant(np.float32([1, 2]) * step), tf.constant(np.float32([3, 4]))
        with tf.GradientTape(persistent=step % 2 == 0) as tape:
            tape.watch(x)
            loss = f({"y": y, "x": x}, scale=1)
        gradients = tape.gradient(loss, {"x": x, "w": w})
        assert gradients["x"].numpy().tolist() == [9, 12]
        assert float(gradients["w"]) == 11 * step
    assert len(traced) == 1


def test_second_derivatives_are_right_by_whatever_way(tf, toy):
    f = tf.function(lambda d: toy.mul(toy.mul(d["x"], d["x"]), d["x"]))
    x = tf.constant(2.0)
    for _ in range(3):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f({"x": x})
            first = inner.gradient(y, x)
        assert (float(first), float(outer.gradient(first, x))) == (12.0, 12.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f({"x": x})
            first = tape.gradient(y, x)
        assert float(tape.gradient(first, x)) == 12.0
        with tf.GradientTape() as once:
            once.watch(x)
            y = f({"x": x})
        with tf.GradientTape() as later:
            later.watch(x)
            first = once.gradient(y, x)
        assert float(first) == 12.0


def test_a_cleared_function_traces_again(tf, toy):
    f = tf.function(lambda d: toy.add(d["x"], 1.0))
    for count in (1, 2):
        for _ in range(3):
            assert float(f({"x": tf.constant(1.0)})) == 2.0
        assert f.experimental_get_tracing_count() == count
        f.clear()


def test_methods_take_nested_arguments(tf, toy):
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @tf.function
        def call(self, inputs, training=False):
            return toy.mul(inputs["x"], self.scale if training else 1.0)

    two, three = Model(2.0), Model(3.0)
    for _ in range(3):
        x = {"x": tf.constant(5.0)}
        assert [float(m.call(x, training=t)) for m in (two, three) for t in (True, False)] == [10, 5, 15, 5]


def test_a_shortcut_serves_what_it_can_tell_apart_only(tf):
    a, b = tf.constant(1.0), tf.constant(2.0)
    assert shortcut(({"x": a, "y": [b, None, "n", 3]},), {}, [a, b]) is not None
    for args, inputs in (
        ((a, a), [a, a]),
        ((a, object()), [a]),
        ((a, float("nan")), [a]),
        ((a, -0.0), [a]),
        ((3,), []),
        ((a, b), [a]),
        ((a, tf.Variable(1.0)), [a]),
    ):
        assert shortcut(args, {}, inputs) is None
    way = shortcut(({"x": a}, 3), {"k": (b,)}, [b, a])
    assert way.pick(({"x": a}, 3), {"k": (b,)})[1] == [b, a]
    for args, kwargs in ((({"x": a}, 3.0), {"k": (b,)}), (({"x": a}, 3), {"k": [b]}), (({"x": a}, 3), {}), (({"z": a}, 3), {"k": (b,)}), ((), {})):
        assert way.pick(args, kwargs) is MISS
