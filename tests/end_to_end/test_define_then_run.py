"""Programs in the manner of TensorFlow 1: a graph, placeholders, a session."""

from __future__ import annotations

import numpy as np
import pytest
from treadle.compat import v1

import treadle as td


def test_linear_regression_learns_its_weights():
    rng = np.random.default_rng(0)
    xs = rng.normal(size=(64, 2))
    ys = xs @ [[2.0], [-3.0]] + 0.5
    with td.Graph().as_default() as graph:
        x = v1.placeholder(td.float32, [None, 2], name="x")
        y = v1.placeholder(td.float32, [None, 1], name="y")
        w = v1.get_variable("w", [2, 1])
        b = v1.get_variable("b", [1], initializer=td.zeros_initializer())
        loss = td.reduce_mean(td.square(td.matmul(x, w) + b - y))
        train = td.group(*(v.assign_sub(0.1 * g) for v, g in zip((w, b), td.gradients(loss, [w, b]), strict=True)))
        init = v1.global_variables_initializer()
    with v1.Session(graph=graph) as session:
        session.run(init)
        first = session.run(loss, {x: xs, y: ys})
        for step in range(200):
            rows = slice(32 * (step % 2), 32 * (step % 2) + 32)
            _, last = session.run([train, loss], feed_dict={x: xs[rows], y: ys[rows]})
        assert last < 1e-6 < first
        np.testing.assert_allclose(session.run(w), [[2.0], [-3.0]], atol=1e-3)
        np.testing.assert_allclose(b.eval(), [0.5], atol=1e-3)


def test_a_counter_counts_in_each_session():
    with td.Graph().as_default() as graph:
        counter = v1.get_variable("counter", initializer=0)
        update = v1.assign_add(counter, 1)
        init = v1.global_variables_initializer()
    for _ in range(2):
        with v1.Session(graph=graph) as session:
            session.run(init)
            assert [session.run(update) for _ in range(3)] == [1, 2, 3]
            assert session.run(counter) == 3


def test_an_assertion_runs_only_where_something_depends_on_it():
    with td.Graph().as_default() as graph:
        x = v1.placeholder(td.float32, [None])
        check = td.debugging.assert_positive(x)
        free = td.reduce_sum(x)
        with td.control_dependencies([check]):
            checked = td.identity(free)
    with v1.Session(graph=graph) as session:
        assert session.run(free, {x: [-1.0, 3.0]}) == 2.0
        assert session.run([checked, check], {x: [1.0, 3.0]}) == [4.0, None]
        for fetch in (check, checked, [free, check]):
            with pytest.raises(td.errors.InvalidArgumentError, match="x > y did not hold"):
                session.run(fetch, {x: [-1.0, 3.0]})


def test_printing_happens_when_it_is_asked_for(capsys):
    with td.Graph().as_default() as graph:
        x = v1.placeholder(td.int32)
        shown = td.print("x is", x)
        with td.control_dependencies([shown]):
            y = x + 1
    with v1.Session(graph=graph) as session:
        session.run(x, {x: 1})
        assert capsys.readouterr().err == ""
        session.run(y, {x: 2})
        shown.run({x: 3})
        assert capsys.readouterr().err == "x is 2\nx is 3\n"


def test_a_fed_activation_replaces_what_comes_before_it():
    with td.Graph().as_default() as graph:
        images = v1.placeholder(td.float32, [None, 4])
        hidden = td.nn.relu(td.matmul(images, v1.get_variable("first", [4, 3])))
        logits = td.matmul(hidden, v1.get_variable("second", [3, 2], initializer=td.ones_initializer))
        rate = v1.placeholder_with_default(1.0, [])
        scaled = logits * rate
        init = v1.global_variables_initializer()
    with v1.Session(graph=graph) as session:
        session.run(init)
        assert session.run(logits, {hidden: np.ones((5, 3))}).tolist() == [[3.0, 3.0]] * 5
        assert session.run(scaled, {hidden: [[1, 2, 3]], rate: 0.5}).tolist() == [[3.0, 3.0]]
        assert session.run(scaled, {images: np.zeros((2, 4))}).tolist() == [[0.0, 0.0]] * 2


def test_what_is_fed_may_be_called_like_another_node():
    with td.Graph().as_default() as graph:
        x = v1.placeholder(td.float32, [])
        middle = x * 2
        last = middle * 3 * middle * middle * middle
        called = td.function(lambda x: x * middle * middle)(x)
        branched = td.cond(x > 0, lambda: middle * 2 * middle * middle, lambda: middle * 1)
    session = v1.Session(graph=graph)  # a graph that is broken would be told by a warning of the optimizer
    assert session.run(last, {middle: 5.0}) == 3 * 5.0**4
    assert session.run([called, branched, last], {middle: 5.0, x: 2.0}) == [50.0, 250.0, 3 * 5.0**4]


def test_branches_loops_and_their_gradients_are_part_of_a_graph():
    with td.Graph().as_default() as graph:
        n = v1.placeholder(td.int32, [])
        v = td.Variable(2.0)
        _, power = td.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * v), (0, 1.0))
        (slope,) = td.gradients(power, [v])
        step = td.cond(n > 2, lambda: v.assign_add(1.0), lambda: v.assign_sub(1.0))
        with td.GradientTape() as tape:
            square = v * v
        taped = tape.gradient(square, v)
        init = v1.global_variables_initializer()
    with v1.Session(graph=graph) as session:
        session.run(init)
        assert session.run([power, slope], {n: 3}) == [8.0, 12.0]
        assert session.run(taped) == 4.0
        session.run(step, {n: 3})
        assert session.run(v) == 3.0
        session.run(step, {n: 1})
        assert session.run(v) == 2.0


def test_order_follows_control_dependencies():
    with td.Graph().as_default() as graph:
        v = td.Variable(1.0)
        doubled = v.assign(v * 2.0)
        with td.control_dependencies([doubled]):
            after = td.identity(v)
        alone = td.identity(v)
        pair = td.tuple([alone, td.constant(1.0)], control_inputs=[doubled])
        init = v1.global_variables_initializer()
    with v1.Session(graph=graph) as session:
        session.run(init)
        assert session.run(alone) == 1.0
        assert session.run(after) == 2.0
        assert session.run(pair) == [4.0, 1.0]


def test_what_is_inside_a_branch_may_follow_a_tensor_outside_of_it():
    with td.Graph().as_default() as graph:
        x = v1.placeholder(td.float32)
        v = td.Variable(0.0)
        up = v.assign_add(1.0)
        shown = td.print("seen")

        def after(thing):
            def branch():
                with td.control_dependencies([thing]):
                    return x + 1.0

            return branch

        y = td.cond(x > 0.0, after(up), lambda: x)
        with pytest.raises(ValueError, match=r"print.*around the branch"):
            td.cond(x > 0.0, after(shown), lambda: x)
        init = v1.global_variables_initializer()
    with v1.Session(graph=graph) as session:
        session.run(init)
        assert session.run([y, v], {x: 1.0}) == [2.0, 1.0]


def test_arrays_and_sparse_rows_of_a_graph():
    with td.Graph().as_default() as graph:
        table = td.Variable(np.ones((3, 2), np.float32))
        rows = v1.placeholder(td.int32, [None])
        (slope,) = td.gradients(td.gather(table, rows), [table])
        update = table.assign_sub(0.5 * slope)
        array = td.TensorArray(td.float32, 2).write(0, 1.0).write(1, 2.0)
        stacked = array.stack()
        init = v1.global_variables_initializer()
    with v1.Session(graph=graph) as session:
        session.run(init)
        found = session.run(slope, {rows: [0, 2]})
        assert isinstance(found.values, np.ndarray) and found.values.shape == (2, 2) and found.indices.tolist() == [0, 2]
        assert session.run(update, {rows: [0, 2]}).tolist() == [[0.5, 0.5], [1.0, 1.0], [0.5, 0.5]]
        assert session.run(stacked).tolist() == [1.0, 2.0]
        with pytest.raises(TypeError, match="fetch what stack"):
            session.run(array)


def test_initial_values_are_drawn_anew_by_the_initializer():
    with td.Graph().as_default() as graph:
        w = v1.get_variable("w", [100, 50])
        n = v1.get_variable("n", [2], td.int32)
        init = v1.global_variables_initializer()
    draws = []
    with v1.Session(graph=graph) as session:
        for _ in range(2):
            session.run(init)
            draws.append(session.run(w))
            assert session.run(n).tolist() == [0, 0]
    assert not np.array_equal(*draws)
    assert np.abs(draws[0]).max() <= np.sqrt(6 / 150)


def test_the_draws_of_a_session_begin_anew_from_the_seeds():
    td.random.set_seed(7)
    with td.Graph().as_default() as graph:
        drawn = [td.random.normal([2]), td.random.uniform([2], seed=3), td.function(lambda: td.random.normal([2], seed=4))()]
        start = td.random.normal([])
        v = td.Variable(start)
        init = v1.global_variables_initializer()

    def run(session):
        session.run(init)
        return np.stack([np.stack(session.run(drawn)) for _ in range(3)]), session.run(v)

    first, second = v1.Session(graph=graph), v1.Session(graph=graph)
    (numbers, value), (same, same_value) = run(first), run(second)
    np.testing.assert_array_equal(numbers, same)
    assert value == same_value and len(np.unique(numbers)) == numbers.size
    assert not np.isin(np.stack(first.run(drawn)), numbers).any()
    eager = td.random.normal([2]).numpy()
    td.random.set_seed(7)
    np.testing.assert_array_equal(td.random.normal([2]), eager)  # sessions take nothing from the streams outside
    td.random.set_seed(8)
    assert not np.isin(np.stack(v1.Session(graph=graph).run(drawn)), numbers).any()


def test_get_variable_says_what_it_needs():
    with td.Graph().as_default():
        v1.get_variable("w", [2])
        with pytest.raises(ValueError, match=r"Variable w already exists.*get_variable\(\"w\", \[2\]\)"):
            v1.get_variable("w", [2])
        with pytest.raises(ValueError, match="must be fully defined"):
            v1.get_variable("u", [None])
        with pytest.raises(ValueError, match="regularizer"):
            v1.get_variable("u", [1], regularizer=abs)
        assert v1.get_variable("k", initializer=lambda shape, dtype: td.ones(shape, dtype), shape=[3]).shape == [3]
    with td.Graph().as_default():
        v1.get_variable("w", [2])


def test_names_that_are_not_there_say_what_to_use():
    for name, instead in {
        "disable_eager_execution": r"with td.Graph\(\)",
        "InteractiveSession": "tensor.eval",
        "train": "td.gradients",
        "reduce_mean": "ops are those of td itself",
    }.items():
        with pytest.raises(AttributeError, match=instead):
            getattr(v1, name)
    with pytest.raises(AttributeError, match=r"td\.compat\.v1\.placeholder"):
        td.placeholder  # noqa: B018  the attribute is what is tested
