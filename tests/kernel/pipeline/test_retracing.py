"""Why a function was traced again, told per trace, and once as a warning when there are many."""

from __future__ import annotations

import contextlib
import gc
import logging
import weakref


def test_each_trace_names_what_differed_and_what_to_do(tf, toy):
    @tf.function
    def f(x, factor=1.0):
        return toy.mul(x, factor)

    x = tf.constant([1.0, 2.0])
    f(x)
    f(x, 2.0)
    f(tf.constant([1.0, 2.0, 3.0]), 2.0)
    f(tf.constant([1.0, 2.0], tf.float64), 2.0)
    lines = f.explain().splitlines()
    assert lines[0] == "f: 4 traces"
    assert "first call" in lines[1]
    assert "'factor' is the Python float 2.0 and was 1.0" in lines[2] and "td.constant" in lines[2]
    assert "'x' is float32[3] and was float32[2]" in lines[3] and "reduce_retracing" in lines[3]
    assert "'x' is float64[2]" in lines[4] and "cast" in lines[4]
    assert len(tf.debug.trace_log()) >= 4


def test_many_traces_warn_once_and_name_the_argument(tf, toy, caplog):
    f = tf.function(lambda x, step: toy.mul(x, float(step)))
    with caplog.at_level(logging.WARNING):
        for step in range(30):
            f(tf.constant(1.0), step)
    (record,) = [r for r in caplog.records if "step" in r.getMessage()]
    assert "traced 6 times" in record.getMessage()


def test_a_cause_is_named_by_its_path(tf, toy):
    f = tf.function(lambda x, *rest, **options: x)
    for k in range(3):
        f(tf.constant(1.0), 1, {"a": [1, float(k)]}, scale=(2, k))
    assert "argument \"rest[1]['a'][1]\" is the Python float 2.0" in f.explain()
    for k in range(2):
        f(tf.constant(1.0), scale=(2, k))
    assert "argument 'scale[1]' is the Python int 1 and was 0" in f.explain()


def causes(f):
    return [line.partition(": ")[2] for line in f.explain().splitlines()[1:]]


def test_another_structure_is_named_by_its_argument(tf, toy):
    f = tf.function(lambda x, *rest, **options: x)
    t = tf.constant(1.0)
    f(t)
    f(t, t)
    f(t, [t, t])
    f(t, [t], scale=(t, t))
    found = causes(f)
    assert found[1].startswith("argument 'rest' is (.) and was not given before")
    assert found[2].startswith("argument 'rest' is ([., .]) and was (.)")
    assert "argument 'rest' is ([.]) and was ([., .])" in found[3]
    assert "argument 'scale' is (., .) and was not given before" in found[3]


def test_the_nearest_earlier_trace_is_the_one_that_is_compared(tf, toy):
    f = tf.function(lambda x: tf.constant(0))
    for x in (tf.constant([1.0, 2.0]), "text", tf.constant([1, 2]), tf.constant([1.0])):
        f(x)
    assert causes(f)[3].startswith("argument 'x' is float32[1] and was float32[2]")


def test_causes_that_signatures_do_not_show(tf, toy):
    made = []

    @tf.function
    def once(x):
        if not made:
            made.append(tf.Variable(2.0))
        return toy.mul(x, made[0])

    once(tf.constant(1.0))
    assert causes(once)[1].startswith("the first one made Variables, which this one uses")

    f = tf.function(lambda x: x, reduce_retracing=True)
    for n in (1, 2):
        f(tf.constant([0.0] * n))
    assert "sizes that vary are relaxed from here on" in causes(f)[1]

    g = tf.function(lambda w: toy.add(w, w))
    g(tf.Variable(1.0))
    g(tf.Variable(1.0, trainable=False))
    assert causes(g)[1].startswith("argument 'w' is a non-trainable Variable and was a trainable one")

    h = tf.function(lambda x: x)
    h(tf.constant(1.0))
    h.clear()
    h(tf.constant(1.0))
    assert causes(h)[1].startswith("the trace for this signature was let go: by clear()")


def test_a_trace_that_failed_is_listed(tf, toy):
    @tf.function
    def f(x):
        raise KeyError("k")

    for _ in range(2):
        with contextlib.suppress(KeyError):
            f(tf.constant(1.0))
    assert f.experimental_get_tracing_count() == 2
    assert [cause.partition(" (")[0] for cause in causes(f)] == ["it failed: KeyError"] * 2


def test_functions_made_again_and_again_of_one_code_are_told_once(tf, toy, caplog):
    def make():
        return tf.function(lambda x: toy.add(x, x))

    with caplog.at_level(logging.WARNING):
        for _ in range(20):
            f = make()
            f(tf.constant(1.0))
    (record,) = caplog.records
    assert "has been made into a traced function 6 times" in record.getMessage()
    assert "first call of another td.function of the same code" in f.explain()
    assert "the 20th" in f.explain()


def test_a_history_keeps_nothing_of_the_users_alive(tf, toy):
    class Heavy:
        __slots__ = ("content",)

    f = tf.function(lambda thing, x: x)
    alive = []

    class Local:
        def step(self):
            pass

    def call():
        thing = Local()
        alive.append(weakref.ref(thing))
        f(thing, tf.constant(1.0))
        f(thing.step, tf.constant(1.0))

    for _ in range(5):
        call()
        f(Heavy(), tf.constant(1.0))
    f.clear()
    gc.collect()
    assert [r() for r in alive] == [None] * 5
    assert not [o for o in gc.get_objects() if type(o) is Heavy]
    assert causes(f)[2].startswith("argument 'thing' is <Heavy> and was (")
    assert "; pass the same kind of value" in causes(f)[2]


def test_many_differences_are_told_in_few_words(tf, toy):
    f = tf.function(lambda numbers, x: x)
    for k in range(2):
        f([float(k + i) for i in range(50)], tf.constant(1.0))
    assert "numbers[2]" in causes(f)[1]
    assert "; and 47 more (" in causes(f)[1]
    assert len(causes(f)[1]) < 700


def test_other_content_and_another_object_are_told_apart(tf, toy):
    f = tf.function(lambda s, x: x)
    for value in ({1}, {2}, object(), object()):
        f(value, tf.constant(1.0))
    assert causes(f)[1].startswith("argument 's' is {2} and was {1}; pass an equal value")
    assert causes(f)[3].startswith("argument 's' is another object (<object>) than before; pass the same object")
