"""Why a function was traced again, told per trace, and once as a warning when there are many."""

from __future__ import annotations

import logging


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
