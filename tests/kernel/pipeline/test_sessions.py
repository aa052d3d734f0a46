"""Graphs that are defined first and run by sessions: what is pruned, fed, kept and refused."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
import pytest

from treadle.functions import sessions


class Pair(NamedTuple):
    a: Any
    b: Any


def test_a_session_runs_what_was_defined(tf, toy):
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None], name="x")
        y = toy.mul(toy.add(x, 1.0), 2.0)
    session = tf.compat.v1.Session(graph=graph)
    result = session.run(y, feed_dict={x: [1.0, 2.0]})
    assert isinstance(result, np.ndarray) and result.dtype == np.float32 and result.tolist() == [4.0, 6.0]
    assert session.run(y, {x: []}).shape == (0,)
    assert session.run(y, {x.ref(): (3,)}).tolist() == [8.0]


def test_a_graph_is_the_default_one_inside_with_and_the_outer_one_after_it(tf, toy):
    process = tf.compat.v1.get_default_graph()
    with tf.Graph() as outer:
        assert tf.compat.v1.get_default_graph() is outer and not tf.executing_eagerly()
        with tf.Graph() as inner, outer, inner:
            assert toy.neg(tf.constant(1.0)).graph is inner
        assert toy.neg(tf.constant(1.0)).graph is outer
        with pytest.raises(AssertionError, match="leave `with graph:`"):
            tf.compat.v1.reset_default_graph()
    assert tf.executing_eagerly() and tf.compat.v1.get_default_graph() is process
    tf.compat.v1.reset_default_graph()
    assert tf.compat.v1.get_default_graph() is not process


def test_the_process_has_a_default_graph_of_its_own(tf, toy):
    tf.compat.v1.reset_default_graph()
    with tf.compat.v1.get_default_graph().as_default():
        y = toy.neg(tf.constant(2.0))
    with tf.compat.v1.Session():
        assert y.eval() == -2.0
    tf.compat.v1.reset_default_graph()


def test_only_what_is_fetched_runs(tf, toy):
    said = []
    with tf.Graph() as graph:
        x = tf.compat.v1.placeholder(tf.float32, name="x")
        loud = toy.say(x, to=said)
        twice = toy.mul(x, 2.0)
        draw = toy.draw()
    with tf.compat.v1.Session(graph=graph) as session:
        before = session.run(draw)
        assert session.run(twice, {x: 1.0}) == 2.0 and said == []
        assert session.run([loud, loud, twice], {x: 3.0}) == [None, None, 6.0] and said == [3.0]
        assert session.run(draw) == before + 1


def test_effects_run_when_a_fetch_follows_them(tf, toy):
    said = []
    with tf.Graph() as graph:
        first = toy.say(tf.constant(1.0), to=said)
        with graph.control_dependencies([first]):
            second = toy.say(tf.constant(2.0), to=said)
            with graph.control_dependencies(None):
                alone = toy.neg(tf.constant(3.0))
            after = toy.neg(tf.constant(4.0))
        both = graph.group(after, [second])
    with tf.compat.v1.Session(graph=graph) as session:
        assert session.run(alone) == -3.0 and said == []
        assert session.run(after) == -4.0 and said == [1.0]
        both.run()
        assert said == [1.0, 1.0, 2.0]


def test_variables_live_in_a_session(tf, toy):
    with tf.Graph() as graph:
        v = tf.Variable(1.0, name="v")
        w = tf.Variable(toy.mul(v, 3.0), trainable=False)
        more = v.assign_add(1.0)
        assert [known.ref() for known in tf.compat.v1.global_variables()] == [v.ref(), w.ref()]
        assert [known.ref() for known in tf.compat.v1.trainable_variables()] == [v.ref()]
        init = tf.compat.v1.global_variables_initializer()
    one, two = tf.compat.v1.Session(graph=graph), tf.compat.v1.Session(graph=graph)
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"'v:0' has no value.*global_variables_initializer.*made at .*test_sessions"):
        one.run(v)
    assert one.run(init) is None
    two.run(init)
    assert [one.run(more) for _ in range(2)] == [2.0, 3.0]
    assert one.run([v, w, more]) == [4.0, 3.0, 4.0]  # Variables are read last
    assert two.run((v, w)) == (1.0, 3.0)
    one.run(v.initializer)
    assert v.eval(one) == 1.0
    with pytest.raises(tf.errors.FailedPreconditionError, match="has no value outside of a session"):
        v.numpy()
    assert repr(v) == "<tf.Variable 'v:0' shape=() dtype=float32>"


def test_a_variable_from_outside_is_shared(tf, toy):
    v = tf.Variable(1.0)
    with tf.Graph() as graph:
        more = v.assign_add(1.0)
    for expected in (2.0, 3.0):
        assert tf.compat.v1.Session(graph=graph).run(more) == expected == float(v)


def test_functions_and_their_effects_are_part_of_a_graph(tf, toy):
    with tf.Graph() as graph:
        v = tf.Variable(2.0)
        x = tf.compat.v1.placeholder(tf.float32, [])

        @tf.function
        def f(x):
            v.assign_add(1.0)
            return toy.mul(x, v)

        y = f(x)
        init = tf.compat.v1.global_variables_initializer()
    with tf.compat.v1.Session(graph=graph) as session:
        session.run(init)
        assert session.run([y, v], {x: 5.0}) == [15.0, 3.0]


def test_any_tensor_may_be_fetched_or_fed(tf, toy):
    with tf.Graph() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None], name="x")
        two = tf.constant(2.0)
        same = tf.constant(2.0)
        middle = toy.mul(x, two)
        low, high = toy.halves(toy.add(middle, same))
        shape = tf.constant([2])
        filled = toy.full(1.0, shape)
    session = tf.compat.v1.Session(graph=graph)
    assert session.run([middle, low], {x: [1.0, 2.0]})[1].tolist() == [4.0]
    assert session.run([low, high, middle], {middle: [5.0, 6.0]})[1].tolist() == [8.0]  # x is not needed
    assert session.run(low, {x: [1.0, 2.0], two: 10.0}).tolist() == [12.0]
    assert session.run(high, {x: [1.0, 2.0], low: [0.0]}).tolist() == [6.0]
    assert session.run(filled, {shape: [3]}).tolist() == [1.0] * 3
    assert session.run([x, x], {x: [7.0]})[0].tolist() == [7.0]


def test_feeds_stand_in_a_mapping(tf, toy):
    with tf.Graph() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [])
        y = toy.neg(x)
    for feeds in ([(x, 3.0)], (x,), 3.0, []):
        with pytest.raises(TypeError, match=r"Session\.run: feed_dict must be a dict from tensors of the graph to values, got "):
            tf.compat.v1.Session(graph=graph).run(y, feeds)


def test_fetches_may_be_nested(tf, toy):
    with tf.Graph() as graph:
        x, y = tf.constant(1.0), toy.neg(tf.constant(2.0))
    session = tf.compat.v1.Session(graph=graph)
    assert session.run({"k": Pair(x, [y, (x,)]), "j": y.op}) == {"k": Pair(1.0, [-2.0, (1.0,)]), "j": None}
    assert session.run([]) == []


def test_values_that_are_fed_convert_to_the_same_kind_or_a_wider_one(tf, toy):
    with tf.Graph() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None, 2], name="x")
        n = tf.compat.v1.placeholder(tf.int8, name="n")
    session = tf.compat.v1.Session(graph=graph)
    assert session.run(x, {x: np.ones((1, 2))}).dtype == np.float32
    assert session.run(x, {x: np.ones((1, 2), int)}).dtype == np.float32
    assert session.run(n, {n: tf.constant([True])}).tolist() == [1]
    refused = {
        tf.errors.InvalidArgumentError: [
            (x, [1.0, 2.0], r"shape \(2,\).*'x'.*shape \(None, 2\), made at .*name=\"x\""),
            (x, [[1.0], [1.0, 2.0]], "no rect"),
        ],
        TypeError: [
            (n, 1.5, "float64 cannot be fed for 'n', which has dtype int8"),
            (n, 300, "'n' does not fit its dtype int8"),
            (x, "text", "cannot be fed"),
            (x, n, "symbolic tensor"),
        ],
    }
    for kind, cases in refused.items():
        for tensor, value, text in cases:
            with pytest.raises(kind, match=text):
                session.run(tensor, {tensor: value})


def test_sizes_that_the_graph_knows_to_be_equal_must_be(tf, toy):
    with tf.Graph() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None])
        y = toy.neg(x)
        z = toy.add(x, y)
    session = tf.compat.v1.Session(graph=graph)
    assert session.run(z, {x: [1.0, 2.0], y: [3.0, 4.0]}).tolist() == [4.0, 6.0]
    with pytest.raises(ValueError, match="has a size 3 where the other values fed make it 2"):
        session.run(z, {x: [1.0, 2.0], y: [3.0, 4.0, 5.0]})
    assert session.run(y, {x: [1.0, 2.0], y: [3.0]}).tolist() == [3.0]  # x is not needed


def test_a_placeholder_that_is_not_fed_is_named(tf, toy):
    with tf.Graph() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None, 3], name="pixels")
        y = toy.neg(x)
    session = tf.compat.v1.Session(graph=graph)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'pixels' of dtype float32 and shape \(None, 3\).*made at .*name=\"pixels\""):
        session.run(y)
    assert session.run(y, {x: np.zeros((1, 3))}).shape == (1, 3)  # the failure left nothing behind


def test_things_of_another_graph_and_of_no_graph_are_refused(tf, toy):
    with tf.Graph() as other:
        x = tf.compat.v1.placeholder(tf.float32, name="x")
        v = tf.Variable(1.0)
        said = toy.say(x, to=[])
    with tf.Graph() as graph:
        own = tf.constant(1.0)
        with pytest.raises(ValueError, match="cannot be used in graph"):
            toy.neg(v)
        with pytest.raises(ValueError, match="is of graph"):
            graph.group(said)
        with pytest.raises(TypeError, match="control input"):
            graph.group("text")
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Use it inside `with graph:`"):
            toy.neg(x)
    session = tf.compat.v1.Session(graph=graph)
    for fetch in (x, said):
        with pytest.raises(ValueError, match=rf"cannot fetch .*it is of '{other.name}', and the session runs '{graph.name}'"):
            session.run(fetch)
    with pytest.raises(ValueError, match="cannot feed"):
        session.run(own, {x: 1.0})
    with pytest.raises(ValueError, match="has its value already"):
        session.run(tf.constant(1.0))
    for fetch in (None, "own", 3):
        with pytest.raises(TypeError, match="cannot fetch"):
            session.run(fetch)
    with pytest.raises(TypeError, match="its keys must be tensors"):
        session.run(own, {"own": 1.0})


def test_a_closed_session_runs_nothing(tf, toy):
    with tf.Graph() as graph:
        x = tf.constant(1.0)
    with tf.compat.v1.Session(graph=graph) as session:
        assert tf.compat.v1.get_default_session() is session and x.eval() == 1.0
        assert tf.compat.v1.get_default_graph() is session.graph is graph
    assert tf.compat.v1.get_default_session() is None
    for use in (lambda: session.run(x), session.__enter__):
        with pytest.raises(RuntimeError, match="closed Session"):
            use()
    open_one = tf.compat.v1.Session(graph=graph)
    with open_one.as_default():
        assert x.eval() == 1.0
    assert open_one.run(x) == 1.0
    with pytest.raises(ValueError, match="no default session"):
        x.eval()


def test_a_session_works_after_an_error(tf, toy):
    with tf.Graph() as graph:
        x = tf.compat.v1.placeholder(tf.float32, name="x")
        with pytest.raises(TypeError):
            toy.add(x, tf.constant(1))
        y = toy.add(x, tf.constant([1.0, 2.0]))
    with tf.compat.v1.Session(graph=graph) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"made at .*test_sessions"):
            session.run(y, {x: [1.0, 2.0, 3.0]})
        assert session.run(y, {x: 1.0}).tolist() == [2.0, 3.0]


def test_placeholders_need_a_graph(tf, toy):
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        tf.compat.v1.placeholder(tf.float32)
    with pytest.raises(RuntimeError, match="use the function's arguments"):
        tf.function(lambda: tf.compat.v1.placeholder(tf.float32))()
    with pytest.raises(RuntimeError, match=r"is no td\.Graph\(\)"):
        tf.function(lambda: tf.compat.v1.Session())()
    with pytest.raises(ValueError, match="leave it out"):
        tf.compat.v1.Session("grpc://elsewhere")


def test_a_set_of_fetches_is_compiled_once_and_forgotten_when_there_are_many(tf, toy, monkeypatch):
    monkeypatch.setattr(sessions, "MOST_FUNCTIONS", 3)
    with tf.Graph() as graph:
        tensors = [toy.neg(tf.constant(float(k))) for k in range(5)]
    session = tf.compat.v1.Session(graph=graph)
    session.run(tensors[0])
    (function,) = session._functions.values()
    session.run(tensors[0])
    assert list(session._functions.values()) == [function]
    assert [session.run(t) for t in tensors] == [-0.0, -1.0, -2.0, -3.0, -4.0]
    assert len(session._functions) == 3


def test_threads_share_a_session(tf, toy):
    with tf.Graph() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None])
        y = toy.mul(x, toy.total(x))
    session = tf.compat.v1.Session(graph=graph)
    wrong = []

    def work(k):
        results = [session.run(y, {x: [k, 1.0]}).tolist() for _ in range(100)]
        wrong.extend(result for result in results if result != [k * (k + 1), k + 1])

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(session._functions) == 1
