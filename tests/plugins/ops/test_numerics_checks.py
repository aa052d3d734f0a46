"""The first op that makes a NaN or an infinity is named while checks are switched on."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import treadle as td

BAD = td.constant([1.0, 0.0, -2.0])


@pytest.fixture
def checked():
    td.debugging.enable_check_numerics()
    td.debugging.enable_check_numerics()
    yield
    td.debugging.disable_check_numerics()


def refused(match):
    return pytest.raises(td.errors.InvalidArgumentError, match=match)


def test_an_eager_op_is_named_with_what_it_had_and_the_users_line(checked):
    assert float((BAD + 1)[0]) == 2.0
    with refused(r"output 0 of op 'log' has 1 NaN and 1 Inf among 3 elements.*input 0 is float32\[3\] from -2 to 1, called at .*numerics"):
        td.math.log(BAD)


def test_after_it_is_switched_off_nothing_is_checked():
    td.debugging.enable_check_numerics()
    td.debugging.disable_check_numerics()
    td.debugging.disable_check_numerics()
    assert np.isinf(td.math.log(BAD).numpy()).any()
    assert np.isnan(td.function(td.math.log)(BAD).numpy()).any()


def by_log(x):
    y = x * 2
    z = td.math.log(y)
    return td.reduce_sum(z)


def test_a_node_of_a_traced_function_is_named_with_its_line(checked):
    with refused(r"op 'log' .* from -4 to 2.*made at .*`z = td.math.log\(y\)`"):
        td.function(by_log)(BAD)


def test_functions_traced_before_are_checked_and_are_as_they_were_afterwards():
    f = td.function(by_log)
    assert np.isnan(f(BAD))
    td.debugging.enable_check_numerics()
    try:
        with refused("op 'log'"):
            f(BAD)
        assert float(f(td.constant([0.5]))) == 0.0
    finally:
        td.debugging.disable_check_numerics()
    assert np.isnan(f(BAD))
    assert f.experimental_get_tracing_count() == 1 + 1  # the other shape


def gradient(x):
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.reduce_sum(td.sqrt(td.abs(x)))
    return tape.gradient(y, x)


@pytest.mark.parametrize("way", [gradient, td.function(gradient)], ids=["eager", "traced"])
def test_the_way_back_is_checked_too(checked, way):
    with refused(r"op 'divide' has 1 Inf .*input 1 is float32\[3\] from 0 to 1\.41421.*`y = .*td.sqrt.*` \(gradient of op 'sqrt'\)"):
        way(BAD)


def test_the_way_back_through_a_function_is_checked_too(checked):
    f = td.function(lambda x: td.reduce_sum(td.sqrt(td.abs(x))))
    with td.GradientTape() as tape:
        tape.watch(BAD)
        y = f(BAD)
    with refused(r"op 'divide' has 1 Inf.*`f = .*td.sqrt.*` \(gradient of op 'sqrt'\)"):
        tape.gradient(y, BAD)


def test_a_gradient_that_the_user_wrote_is_named_by_its_own_line(checked):
    @td.custom_gradient
    def f(x):
        def back(g):
            return g / td.zeros_like(x)

        return x * 2, back

    def slope(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    for way in (slope, td.function(slope)):
        with refused("op 'divide' has 3 Inf.*at .*`return g / td.zeros_like"):
            way(BAD)


def test_an_eager_gradient_tells_where_it_was_asked_for_too(checked):
    with refused("asked for at .*`return tape.gradient"):
        gradient(BAD)


def test_the_forward_half_of_a_watched_call_is_checked(checked):
    with td.GradientTape() as tape, refused("op 'log'"):
        tape.watch(BAD)
        td.function(by_log)(BAD)


def test_branches_and_loops_are_checked_inside(checked):
    @td.function
    def branch(flag, x):
        return td.cond(flag, lambda: td.math.log(x), lambda: x)

    np.testing.assert_array_equal(branch(td.constant(False), BAD), BAD)
    with refused("op 'log'"):
        branch(td.constant(True), BAD)

    @td.function
    def loop(n):
        return td.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, 1.0 / x - 1.0), (0, td.constant(0.5)))[1]

    assert float(loop(td.constant(1))) == 1.0
    with refused("op 'divide'|op 'reciprocal'"):
        loop(td.constant(3))


def test_dead_code_and_constants_raise_no_alarm_and_live_constants_do(checked):
    @td.function
    def f(x):
        td.math.log(td.constant(0.0) * x)
        return x + 1

    np.testing.assert_array_equal(f(BAD), [2, 1, -1])
    with refused("op 'log'"):
        td.function(lambda: td.math.log(td.constant(0.0)))()


def test_complex_results_are_checked_and_integers_are_left_alone(checked):
    with refused("complex64"):
        td.cast(td.constant([0.0]), td.complex64) / 0
    assert int(td.constant(7) // 2) == 3


def test_inputs_that_are_bad_already_are_told(checked):
    with refused(r"input 0 is float32\[2\] from 1 to 1 with 1 NaN"):
        td.constant([np.nan, 1.0]) + 1.0


def test_other_threads_are_not_checked(checked):
    found = []
    thread = threading.Thread(target=lambda: found.append(td.math.log(BAD).numpy()))
    thread.start()
    thread.join()
    assert np.isnan(found[0]).any()


# ---------------------------------------------------------------------- sessions


def logarithm():
    x = td.compat.v1.placeholder(td.float32, [])
    y = td.math.log(x)
    return x, y, td.cond(x > -5.0, lambda: td.sqrt(x), lambda: x), td.gradients(td.sqrt(x), x)[0]


def require_checks(session, x, y, chosen, slope):
    with refused(r"op 'log' has 1 NaN among 1 elements.*made at .*`y = td.math.log\(x\)`"):
        session.run(y, {x: -1.0})
    with refused("op 'sqrt' has 1 NaN"):
        session.run(chosen, {x: -1.0})
    with refused(r"has 1 Inf .*\(gradient of op 'sqrt'\)"):
        session.run(slope, {x: 0.0})


@pytest.mark.parametrize("where", ["before the graph", "in the graph", "before the run"])
def test_what_a_session_runs_is_checked(where):
    graph = td.Graph()
    try:
        if where == "before the graph":
            td.debugging.enable_check_numerics()
        with graph.as_default():
            if where == "in the graph":
                td.debugging.enable_check_numerics()
            tensors = logarithm()
            if where != "before the run":
                require_checks(td.compat.v1.Session(), *tensors)
        if where == "before the run":
            td.debugging.enable_check_numerics()
        session = td.compat.v1.Session(graph=graph)
        require_checks(session, *tensors)
        with refused("op 'log'"):
            td.math.log(BAD)
    finally:
        td.debugging.disable_check_numerics()
    assert np.isnan(session.run(tensors[1], {tensors[0]: -1.0}))
    assert np.isinf(td.math.log(BAD).numpy()).any()


def test_checks_that_end_inside_of_a_graph_have_ended(checked):
    with td.Graph().as_default():
        td.debugging.disable_check_numerics()
    assert np.isinf(td.math.log(BAD).numpy()).any()


def test_what_a_python_function_computes_is_checked(checked):
    with refused(r"op 'log' has 1 NaN and 1 Inf among 3 elements"):
        td.function(lambda x: td.py_function(lambda t: td.where(t > 0.0, td.math.log(t), 0.0), [x], td.float32))(BAD)
