"""map_fn, scan, foldl and foldr; gradients within a graph, forward mode, recomputation, and what says the order of things."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError

ROWS = np.array([[0.5, -1.0], [1.5, 2.0], [-0.3, 0.7]])


# ---------------------------------------------------------------------- map


def test_map_fn_applies_a_function_to_every_row(every_mode, check_gradient):
    np.testing.assert_array_equal(every_mode(lambda x: td.map_fn(lambda row: row * row + 1.0, x), ROWS)[0], ROWS * ROWS + 1)
    check_gradient(lambda x: td.map_fn(lambda row: td.sin(row) * td.reduce_sum(row), x), ROWS)


def test_map_fn_takes_and_gives_structures(every_mode):
    def program(x, n):
        def fn(e):
            return {"sum": td.reduce_sum(e["x"]), "pair": (e["n"] + 1, e["x"][::-1])}

        signature = {"sum": td.float64, "pair": (td.int32, td.TensorSpec([2], td.float64))}
        found = td.map_fn(fn, {"x": x, "n": n}, fn_output_signature=signature)
        return found["sum"], *found["pair"]

    total, number, backwards = every_mode(program, ROWS, np.int32([5, 6, 7]))
    np.testing.assert_array_equal(total, ROWS.sum(1))
    assert number.tolist() == [6, 7, 8]
    np.testing.assert_array_equal(backwards, ROWS[:, ::-1])


def test_map_fn_knows_its_shape_while_tracing():
    shapes = []

    @td.function(input_signature=[td.TensorSpec([None, 3]), td.TensorSpec([4, None])], autograph=False)
    def program(x, y):
        shapes.extend(td.map_fn(lambda row: row * 2.0, e).shape.as_list() for e in (x, y))
        shapes.append(td.map_fn(lambda row: row[0], x).shape.as_list())
        return x

    program(td.ones([2, 3]), td.ones([4, 1]))
    assert shapes == [[None, 3], [4, None], [None]]


def test_a_function_is_traced_once_for_all_rows():
    calls = []

    @td.function(autograph=False)
    def program(x):
        def fn(row):
            calls.append(1)
            return row + 1.0

        return td.map_fn(fn, x)

    assert program(td.zeros([50])).numpy().tolist() == [1] * 50
    assert len(calls) == 1


def test_map_fn_of_no_rows_gives_no_rows():
    def program(x):
        return td.map_fn(lambda row: (row[0], row), x, fn_output_signature=(td.float64, td.float64))

    for run in (program, td.function(program), td.function(program, input_signature=[td.TensorSpec([None, 2], td.float64)])):
        assert [g.shape for g in run(td.zeros([0, 2], td.float64))] == [(0,), (0, 2)]


def test_rows_of_different_numbers_are_refused(refuses):
    pair = (np.ones((2, 2)), np.ones((3, 2)))
    with pytest.raises(ShapeError, match="2 and 3"):
        td.map_fn(lambda p: p[0] * p[1], tuple(map(td.constant, pair)), fn_output_signature=td.float64)
    refuses(ValueError, lambda x: td.map_fn(lambda row: row, x), np.float32(1), match="scalars")
    refuses(DTypeError, lambda x: td.map_fn(lambda row: td.cast(row, td.int32), x), ROWS, match="fn_output_signature")
    refuses(ShapeError, lambda x: td.map_fn(lambda row: row, x, fn_output_signature=td.TensorSpec([3], td.float64)), ROWS)
    with pytest.raises(ValueError, match="structure"):
        td.map_fn(lambda row: (row, row), td.constant(ROWS))
    with pytest.raises(ValueError, match="elems"):
        td.map_fn(lambda row: row, [])
    with pytest.raises(TypeError, match="callable"):
        td.map_fn(3, td.constant(ROWS))


def test_back_prop_false_stops_gradients():
    x = td.constant(ROWS)
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.map_fn(lambda row: row * 2.0, x, back_prop=False)
    assert tape.gradient(y, x) is None


def test_random_draws_in_a_row_are_its_own():
    drawn = td.function(lambda x: td.map_fn(lambda _: td.random.uniform([4]), x))(td.zeros([3]))
    assert len({tuple(row) for row in drawn.numpy().tolist()}) == 3


# ---------------------------------------------------------------------- scan and fold


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("starts", [False, True])
def test_scan_stacks_every_result(every_mode, check_gradient, reverse, starts):
    def program(x, start):
        return td.scan(lambda a, row: td.sin(a) * row + a, x, start if starts else None, reverse=reverse)

    start = np.array([0.3, 0.6])
    rows = list(ROWS[::-1] if reverse else ROWS)
    a, want = (start, []) if starts else (rows[0], [rows.pop(0)])
    for row in rows:
        a = np.sin(a) * row + a
        want.append(a)
    got = every_mode(program, ROWS, start)[0]
    np.testing.assert_allclose(got, want[::-1] if reverse else want, rtol=1e-14)
    check_gradient(program if starts else lambda x: program(x, None), *([ROWS, start] if starts else [ROWS]))


def test_scan_takes_structures(every_mode):
    def program(x, y):
        def fn(a, e):
            return {"x": a["x"] + e[0], "n": a["n"] + 1, "y": e[1]}

        found = td.scan(fn, (x, y), {"x": td.zeros([2], td.float64), "n": 0, "y": td.constant(0.0, td.float64)})
        return found["x"], found["n"], found["y"]

    y = np.array([7.0, 8.0, 9.0])
    total, number, last = every_mode(program, ROWS, y)
    np.testing.assert_array_equal(total, np.cumsum(ROWS, 0))
    assert number.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(last, y)


def test_scan_of_one_row_or_none(every_mode):
    assert every_mode(lambda x: td.scan(lambda a, row: a + row, x), ROWS[:1], rank=False)[0].shape == (1, 2)
    for reverse in (False, True):
        got = every_mode(lambda x, a, reverse=reverse: td.scan(lambda a, row: a + row, x, a, reverse=reverse), ROWS[:0], ROWS[0], rank=False)
        assert got[0].shape == (0, 2)
    with pytest.raises(ValueError, match="initializer"):
        td.scan(lambda a, row: a + row, td.constant(ROWS[:0]))


def test_folds_combine_from_either_end(every_mode, check_gradient):
    def fn(a, row):
        return a * 2.0 - td.sin(row)

    for fold, rows in ((td.foldl, ROWS), (td.foldr, ROWS[::-1])):
        for start in (None, np.array([0.1, 0.2])):
            a = rows[0] if start is None else start
            for row in rows[1:] if start is None else rows:
                a = a * 2 - np.sin(row)
            given = [ROWS] if start is None else [ROWS, start]
            np.testing.assert_allclose(every_mode(lambda x, s=None, fold=fold: fold(fn, x, s), *given)[0], a, rtol=1e-14)
            check_gradient(lambda x, s=None, fold=fold: fold(fn, x, s), *given)


def test_folds_refuse_what_does_not_fit(refuses):
    refuses(DTypeError, lambda x: td.foldl(lambda a, row: td.cast(a, td.float32), x), ROWS, match="float32")
    refuses(DTypeError, lambda x: td.foldl(lambda a, row: a + row, x, 0), ROWS)
    with pytest.raises((TypeError, ValueError), match="structure"):
        td.foldr(lambda a, row: (a, row), td.constant(ROWS))
    with pytest.raises(TypeError, match="callable"):
        td.foldl(None, td.constant(ROWS))


def test_loops_over_rows_read_variables_and_nest():
    v = td.Variable([2.0, 3.0], dtype=td.float64)

    def program(x):
        return td.map_fn(lambda row: td.scan(lambda a, e: a * v[0] + e, row * v), x)

    results = []
    for run in (program, td.function(program)):
        with td.GradientTape() as tape:
            tape.watch(x := td.constant(ROWS))
            y = run(x)
        results.append([y, *tape.gradient(y, [x, v])])
    for eager, traced in zip(*results, strict=True):
        np.testing.assert_allclose(traced, eager, rtol=1e-14)


LOOPS = {
    "foldl": lambda x: td.foldl(lambda a, e: a + e, x),
    "foldr": lambda x: td.foldr(lambda a, e: a + e, x),
    "scan": lambda x: td.scan(lambda a, e: a + e, x),
    "map_fn": lambda x: td.map_fn(lambda e: e * 2.0, x),
    "vectorized_map": lambda x: td.vectorized_map(lambda e: e * 2.0, x),
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("traced", [False, True])
def test_a_scalar_is_refused_in_the_name_of_the_function(name, traced):
    run = td.function(LOOPS[name], input_signature=[td.TensorSpec(None)], autograph=False) if traced else LOOPS[name]
    assert run(td.constant([1.0])).numpy().sum() == (2.0 if "map" in name else 1.0)
    with pytest.raises(ShapeError, match=rf"^{name}: elements in elems must be 1\+ dimensional tensors, not scalars"):
        run(td.constant(1.0))


@pytest.mark.parametrize("name", ["foldl", "foldr", "scan"])
@pytest.mark.parametrize("shape", [None, [None], [0]])
def test_rows_that_are_missing_are_asked_for_in_the_name_of_the_function(name, shape):
    for run in (LOOPS[name], td.function(LOOPS[name], input_signature=[td.TensorSpec(shape)], autograph=False)):
        with pytest.raises(InvalidArgumentError, match=f"^{name}: elems has no rows, and there is no initializer; give one"):
            run(td.zeros([0]))


def test_no_rows_and_no_shape_are_refused_in_the_name_of_map_fn():
    run = td.function(LOOPS["map_fn"], input_signature=[td.TensorSpec(None)], autograph=False)
    with pytest.raises(InvalidArgumentError, match=r"^map_fn: elems has no rows, and the shape .* not known; say it in fn_output_signature"):
        run(td.zeros([0]))


def test_rows_of_unknown_number_are_gone_over_for_many_elements_at_once():
    x = td.constant(ROWS)
    signature = [td.TensorSpec([None, None], td.float64)]
    total = td.function(lambda x: td.vectorized_map(lambda e: td.foldl(lambda a, b: a + b, e), x), input_signature=signature, autograph=False)
    np.testing.assert_allclose(total(x), ROWS.sum(1))
    with pytest.raises(InvalidArgumentError, match=r"^foldl: elems has no rows"):
        total(td.zeros([3, 0], td.float64))


# ---------------------------------------------------------------------- gradients within a graph


def in_graph(fn, *args):
    return td.function(fn, autograph=False)(*map(td.constant, args))


def test_gradients_go_back_through_the_graph():
    x, w = [1.0, 2.0], [3.0, -1.0]

    def program(x, w):
        y = x * x * w
        return td.gradients(y, [x, w]), td.gradients([y, x], x, grad_ys=[[1.0, 2.0], None])[0], td.gradients(y, [y, x])

    both, weighted, inside = in_graph(program, x, w)
    assert [g.numpy().tolist() for g in both] == [[6, -4], [1, 4]]
    assert weighted.numpy().tolist() == [7, -7]
    assert [g.numpy().tolist() for g in inside] == [[1, 1], [6, -4]]


def test_gradients_stop_where_they_are_told_to():
    def program(x):
        y = x * x
        z = y * x
        return td.gradients(z, [x, y], stop_gradients=[y])

    assert [g.numpy().tolist() for g in in_graph(program, [3.0])] == [[9], [3]]


def test_what_does_not_depend_has_no_gradient():
    def program(x, n):
        unused = x * 2.0
        none = td.gradients(x * x, [unused, n])
        assert none == [None, None]
        assert td.gradients(n, x) == [None]
        return td.gradients(x * x, [unused], unconnected_gradients="zero")

    assert in_graph(program, [3.0, 4.0], 2)[0].numpy().tolist() == [0, 0]


def test_gradients_flow_through_calls_branches_loops_and_variables():
    v = td.Variable(2.0)

    @td.function
    def called(x):
        return x * x * v

    def value(x):
        y = called(called(x)) + called(x)
        y = td.cond(y > 0.0, lambda: td.sin(y), lambda: y)
        return td.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * td.cos(y)), (0, y))[1]

    def program(x):
        first = td.gradients(value(x), [x, v], aggregation_method=td.AggregationMethod.ADD_N)
        return first, td.gradients(first[0], [x, v]), td.gradients(value(x), [v, x])

    x = td.constant(0.4)
    with td.GradientTape(persistent=True) as outer:
        outer.watch([x])
        with td.GradientTape() as tape:
            tape.watch(x)
            y = value(x)
        want = tape.gradient(y, [x, v])
    again = outer.gradient(want[0], [x, v])
    first, second, other = td.function(program, autograph=False)(x)
    np.testing.assert_allclose(first, want, rtol=1e-5)
    np.testing.assert_allclose(second, again, rtol=1e-4)
    np.testing.assert_allclose(other, want[::-1], rtol=1e-5)


def test_a_tape_sees_gradients_that_were_taken_by_the_graph():
    def program(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            g = td.gradients(td.sin(x) * x, x)[0]
        return tape.gradient(g, x)

    x = 0.7
    np.testing.assert_allclose(in_graph(program, x), 2 * np.cos(x) - x * np.sin(x), rtol=1e-6)


def test_a_tape_outside_differentiates_gradients_inside():
    f = td.function(lambda x: td.gradients(td.reduce_sum(x**3), x)[0], autograph=False)
    x = td.constant([1.0, 2.0])
    with td.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy().tolist() == [6, 12]


def test_gradients_and_hessians_need_a_trace():
    x = td.constant(1.0)
    for function in (td.gradients, td.hessians):
        with pytest.raises(RuntimeError, match="GradientTape"):
            function(x * x, x)
    with pytest.raises(TypeError, match="respect"):
        in_graph(lambda x: td.gradients(x, "x"), 1.0)
    with pytest.raises(ValueError, match="grad_ys"):
        in_graph(lambda x: td.gradients([x, x], x, grad_ys=[None]), 1.0)
    with pytest.raises(ShapeError, match="grad_ys"):
        in_graph(lambda x: td.gradients(x, x, grad_ys=td.zeros([3])), [1.0, 2.0])


@pytest.mark.parametrize("signature", [None, [td.TensorSpec([None, 2], td.float64)], [td.TensorSpec(None, td.float64)]])
def test_hessians_are_all_second_derivatives(signature):
    def program(x):
        return td.hessians(td.reduce_sum(x**3) + x[0, 0] * x[1, 1], [x])[0]

    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    want = np.diag(6 * x.reshape(-1))
    want[0, 3] = want[3, 0] = 1
    got = td.function(program, input_signature=signature, autograph=False)(td.constant(x))
    np.testing.assert_allclose(got, want.reshape(2, 2, 2, 2), rtol=1e-12)


def test_hessians_of_what_does_not_depend_are_refused():
    with pytest.raises(ValueError, match="depend"):
        in_graph(lambda x, y: td.hessians(y, x), 1.0, 2.0)
    assert in_graph(lambda x: td.hessians(2.0 * x, x), [1.0, 2.0])[0].numpy().tolist() == [[0, 0], [0, 0]]


# ---------------------------------------------------------------------- branches and loops of unknown sizes


def branch(x):
    return td.cond(td.reduce_sum(x) > 0, lambda: x * x * td.exp(x), lambda: td.sin(x) * x)


def loop_in_loop(x):
    def outer(i, x, y):
        _, x, y = td.while_loop(lambda j, *_: j < 2, lambda j, x, y: (j + 1, x * td.sin(x), y + x * x * x), (0, x, y))
        return i + 1, x, y

    return td.while_loop(lambda i, *_: i < 2, outer, (0, x, x))[2]


def branch_in_loop(x):
    def body(i, x):
        return i + 1, td.cond(i % 2 > 0, lambda: x * td.exp(-x * x), lambda: td.sin(x) + x)

    return td.while_loop(lambda i, _: i < 4, body, (0, x))[1]


def loop_in_branch(x):
    def turns():
        return td.while_loop(lambda i, *_: i < 3, lambda i, x: (i + 1, x * td.cos(x)), (0, x))[1]

    return td.cond(td.reduce_sum(x) > 0, turns, lambda: x * x)


@pytest.mark.parametrize("program", [branch, loop_in_loop, branch_in_loop, loop_in_branch])
def test_third_derivatives_do_not_need_sizes(program):
    def third(x):
        with td.GradientTape() as outer:
            outer.watch(x)
            with td.GradientTape() as middle:
                middle.watch(x)
                with td.GradientTape() as inner:
                    inner.watch(x)
                    y = program(x)
                first = inner.gradient(y, x)
                slope = first * [0.3, -0.4]
            bend = middle.gradient(slope, x) * [1.2, 0.5]
        return outer.gradient(bend, x, unconnected_gradients="zero")

    for x in ([0.5, -0.3], [-0.8, 0.2]):
        x = td.constant(x, td.float64)
        want = third(x)
        for shape in ([2], [None], None):
            traced = td.function(third, input_signature=[td.TensorSpec(shape, td.float64)], autograph=False)
            np.testing.assert_allclose(traced(x), want, rtol=1e-12, err_msg=str(shape))


@pytest.mark.parametrize("program", [branch, loop_in_loop, branch_in_loop, loop_in_branch])
def test_second_derivatives_from_outside_do_not_need_sizes(program, check_gradient):
    traced = td.function(program, input_signature=[td.TensorSpec([None], td.float64)], autograph=False)
    check_gradient(traced, [0.5, -0.3])


def test_second_derivatives_reach_variables_at_every_call():
    for _ in range(2):  # the second time, ops take a Variable as it is
        v, x = td.Variable(3.0), td.constant(0.5)
        with td.GradientTape() as outer:
            with td.GradientTape() as inner:
                inner.watch(x)
                y = td.sin(x) * v
            first = inner.gradient(y, x)
        np.testing.assert_allclose(outer.gradient(first, v), np.cos(0.5), rtol=1e-6)


# ---------------------------------------------------------------------- forward mode, recomputation


def test_forward_mode_gives_the_derivative_along_the_tangent():
    def program(x, v):
        with td.autodiff.ForwardAccumulator(x, v) as acc:
            y = td.sin(x) * td.reduce_sum(x)
            pair = {"a": x * x, "b": td.constant(2.0, td.float64)}
        return acc.jvp(y), acc.jvp(pair)["a"], acc.jvp(x)

    x, v = np.array([0.3, -1.2]), np.array([1.0, 0.5])
    want = np.cos(x) * v * x.sum() + np.sin(x) * v.sum()
    for run in (program, td.function(program, autograph=False)):
        y, square, same = run(td.constant(x), td.constant(v))
        np.testing.assert_allclose(y, want, rtol=1e-12)
        np.testing.assert_allclose(square, 2 * x * v, rtol=1e-12)
        np.testing.assert_array_equal(same, v)


def test_what_is_not_connected_has_no_derivative():
    x = td.constant(1.0)
    with td.autodiff.ForwardAccumulator(x, 1.0) as acc:
        other, integer = td.constant(3.0) * 2.0, td.cast(x, td.int32)
    assert acc.jvp(other) is None and acc.jvp(integer) is None
    assert float(acc.jvp(other, unconnected_gradients=td.UnconnectedGradients.ZERO)) == 0
    with td.autodiff.ForwardAccumulator([x, td.Variable(2.0)], [0.0, 1.0]) as acc:
        y = acc._primals[1] * x
    assert float(acc.jvp(y)) == 1


def test_forward_over_reverse_and_forward_over_forward():
    x, v = td.constant([1.0, 2.0]), td.constant([1.0, -1.0])
    with td.autodiff.ForwardAccumulator(x, v) as acc:
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.reduce_sum(x**3) + x[0] * x[1]
        gradient = tape.gradient(y, x)
    assert acc.jvp(gradient).numpy().tolist() == [5, -11]
    with td.autodiff.ForwardAccumulator(x, v) as outer:
        with td.autodiff.ForwardAccumulator(x, v) as inner:
            y = x**3
        first = inner.jvp(y)
    assert first.numpy().tolist() == [3, -12]
    assert outer.jvp(first).numpy().tolist() == [6, 12]
    with td.GradientTape() as tape:
        tape.watch(x)
        with td.autodiff.ForwardAccumulator(x, v) as acc:
            y = x**3
        along = acc.jvp(y)
    assert tape.gradient(along, x).numpy().tolist() == [6, -12]


def test_forward_mode_refuses_what_does_not_fit():
    x = td.constant([1.0, 2.0])
    for primal, tangent, error in (
        (x, td.constant([1.0, 2.0], td.float64), DTypeError),
        (x, td.constant([1.0]), ShapeError),
        (td.constant(1), td.constant(1), DTypeError),
        ([x], [x, x], ValueError),
    ):
        with pytest.raises(error):
            td.autodiff.ForwardAccumulator(primal, tangent)


def test_recompute_grad_runs_the_function_again_on_the_way_back():
    v = td.Variable(3.0)
    calls = []

    @td.recompute_grad
    def f(x, n, power=2.0):
        calls.append(1)
        return {"a": td.sin(x) * v, "b": x**power * td.cast(n, td.float32)}

    def program(x, n):
        with td.GradientTape() as outer:
            outer.watch(x)
            with td.GradientTape() as tape:
                tape.watch(x)
                found = f(x, n, power=3.0)
                y = found["a"] + 2.0 * found["b"]
            first = tape.gradient(y, [x, v])
        return y, *first, *outer.gradient(first[0], [x, v])

    x, n = 0.5, 4
    want = [3 * np.sin(x) + 8 * x**3, 3 * np.cos(x) + 24 * x**2, np.sin(x), -3 * np.sin(x) + 48 * x, np.cos(x)]
    for run in (program, td.function(program, autograph=False)):
        np.testing.assert_allclose(run(td.constant(x), td.constant(n)), want, rtol=1e-5)
    assert len(calls) >= 4
    calls.clear()
    assert f(td.constant(x), td.constant(n))["a"] == td.sin(0.5) * 3.0
    assert len(calls) == 1


def test_recompute_grad_keeps_nothing_of_what_it_computes():
    x = td.Variable(np.ones(4))
    with td.GradientTape() as tape:
        y = td.recompute_grad(lambda: td.exp(td.exp(td.exp(x))))()
    assert len(tape._records) == 1
    np.testing.assert_allclose(tape.gradient(y, x), np.exp(1 + np.e + np.exp(np.e)), rtol=1e-12)


# ---------------------------------------------------------------------- order


def test_what_says_the_order_changes_nothing(every_mode):
    v = td.Variable(1.0, dtype=td.float64)

    def program(x):
        update = v.assign(x)
        with td.control_dependencies([update, None, td.group(update)]):
            y = td.identity(v)
        first, nothing = td.tuple([y, None])
        assert nothing is None and td.no_op() is None
        return first

    assert every_mode(program, np.array(5.0))[0] == 5
    ran = []
    with td.control_dependencies(lambda: ran.append(1)):
        assert ran == [1]
    with td.control_dependencies(None):
        pass
    for way in (lambda program: program, td.function):
        for nonsense in (["nonsense"], 5, [v, 1.0]):
            with pytest.raises(TypeError, match="a control input must be a tensor or what an op of the graph gave; got"):
                way(lambda nonsense=nonsense: td.control_dependencies(nonsense))()
    with pytest.raises(ValueError, match="at least one"):
        td.tuple([None])
    with pytest.raises(InvalidArgumentError), td.control_dependencies([]):
        raise InvalidArgumentError("out of it")
