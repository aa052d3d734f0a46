"""while_loop and switch_case: the same eagerly and traced, in what they compute and in what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, ShapeError


def traced(program):
    return td.function(program, autograph=False)


@pytest.fixture(params=["eager", "traced"])
def way(request):
    return traced if request.param == "traced" else lambda program: program


# ---------------------------------------------------------------------- so many turns at most


@pytest.mark.parametrize("most", [0, -1, 3, 10])
def test_the_condition_is_asked_once_more_than_there_are_turns(way, most):
    asked, total = td.Variable(0), td.Variable(0)

    def condition(i):
        asked.assign_add(1)
        return i < 5

    def body(i):
        total.assign_add(i)
        return i + 1

    (last,) = way(lambda: td.while_loop(condition, body, [td.constant(0)], maximum_iterations=most))()
    turns = min(max(most, 0), 5)
    assert (int(last), int(asked), int(total)) == (turns, turns + 1, sum(range(turns)))


def test_random_draws_in_a_condition_are_the_same_in_both_modes():
    def program():
        _, rest = td.while_loop(
            lambda i, _: td.random.uniform([]) > -1.0, lambda i, _: (i + 1, td.random.uniform([])), (0, td.constant(0.0)), maximum_iterations=3
        )
        return rest, td.random.uniform([])

    found = []
    for run in (program, traced(program)):
        td.random.set_seed(3)
        found.append(np.stack(run()))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("most", [2.5, 2.0, True, np.float32(2)])
def test_a_number_of_turns_that_is_no_integer_is_refused(way, most):
    with pytest.raises(DTypeError, match=r"while_loop: maximum_iterations is .* of dtype \w+; it must be an integer"):
        way(lambda: td.while_loop(lambda i: i < 9, lambda i: i + 1, [0], maximum_iterations=most))()


def test_the_number_of_turns_may_be_a_scalar_tensor_and_no_vector(way):
    run = way(lambda most: td.while_loop(lambda i: i < 9, lambda i: i + 1, [0], maximum_iterations=most))
    assert int(run(td.constant(2, td.int64))[0]) == 2
    with pytest.raises(ShapeError, match=r"maximum_iterations has shape \(1,\); it must be a scalar"):
        run(td.constant([2]))


# ---------------------------------------------------------------------- what is made of several tensors


def slices(values, indices, size=4):
    return td.IndexedSlices(td.constant(values), td.constant(indices), td.constant([size]))


def test_sparse_rows_stay_sparse_rows(way):
    kinds = []

    def body(i, rows):
        kinds.append(type(rows))
        return i + 1, rows * 2.0

    def program(x):
        _, rows = td.while_loop(lambda i, _: i < 3, body, (0, slices([1.0, 2.0], [0, 3]) * x))
        return rows.values, rows.indices, rows

    values, indices, rows = way(program)(td.constant(1.0))
    assert set(kinds) == {td.IndexedSlices} == {type(rows)}
    assert (values.numpy().tolist(), indices.numpy().tolist(), rows.numpy().tolist()) == ([8, 16], [0, 3], [8, 0, 0, 16])

    def slope(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.reduce_sum(program(x)[0])
        return tape.gradient(y, x)

    assert float(way(slope)(td.constant(1.0))) == 24.0


@pytest.mark.parametrize("most", [None, 5])
def test_sparse_rows_may_become_more(way, most):
    def program():
        more = slices([1.0], [2])
        return td.while_loop(lambda rows, i: i < 2, lambda rows, i: (rows + more, i + 1), (slices([1.0], [0]), 0), maximum_iterations=most)[0]

    assert way(program)().numpy().tolist() == [1, 0, 2, 0]


def test_a_dense_loop_variable_takes_sparse_rows_as_a_tensor(way):
    def program():
        return td.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, slices([1.0], [2])), (0, td.zeros([4])))[1]

    assert way(program)().numpy().tolist() == [0, 0, 1, 0]


def test_sparse_rows_do_not_become_dense(way):
    with pytest.raises(TypeError, match="a loop variable must stay of one kind"):
        way(lambda: td.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, td.zeros([4])), (0, slices([1.0], [2]))))()


def test_a_spec_is_the_invariant_of_sparse_rows(way):
    def program(invariant):
        return td.while_loop(
            lambda i, x: i < 2, lambda i, x: (i + 1, x + x), (0, slices([1.0], [2])), shape_invariants=(td.TensorShape([]), invariant)
        )[1]

    spec = td.IndexedSlicesSpec([4], td.float32, td.int32, td.int32)
    assert way(lambda: program(spec))().numpy().tolist() == [0, 0, 4, 0]
    with pytest.raises(ValueError, match=r"loop_vars\[1\] is made of 3 tensors, and shape_invariants has TensorShape\(\[None\]\) there; give a spec"):
        way(lambda: program(td.TensorShape([None])))()


def test_branches_give_sparse_rows(way):
    chosen = way(lambda p: td.cond(p, lambda: slices([1.0], [2]), lambda: slices([1.0, 5.0], [0, 1])))
    assert [chosen(td.constant(p)).numpy().tolist() for p in (True, False)] == [[0, 0, 1, 0], [1, 5, 0, 0]]


# ---------------------------------------------------------------------- shape invariants


SCALAR = td.TensorShape([])


@pytest.mark.parametrize(
    ("first", "invariants", "message"),
    [
        ((0, 0), [SCALAR], r"loop_vars is a tuple of 2, and shape_invariants has \[TensorShape\(\[\]\)\] there"),
        ((0, 0), SCALAR, r"loop_vars is a tuple of 2, and shape_invariants has TensorShape\(\[\]\) there"),
        ((0, 0), [SCALAR] * 3, "loop_vars is a tuple of 2, and shape_invariants has"),
        ((0, {"a": 0}), [SCALAR, SCALAR], r"loop_vars\[1\] is a dict of 1, and shape_invariants has TensorShape\(\[\]\) there"),
        ((0, {"a": 0}), [SCALAR, {"b": SCALAR}], r"loop_vars\[1\] is a dict of 1, and shape_invariants has \{'b'"),
        ((0, 0), [SCALAR, td.TensorShape([2])], r"shape_invariant \(2,\) does not hold for the first value, of shape \(\)"),
    ],
)
def test_shape_invariants_that_do_not_fit_are_refused(way, first, invariants, message):
    with pytest.raises(ValueError, match=message):
        way(lambda: td.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, x), first, shape_invariants=invariants))()


def test_shape_invariants_of_a_mapping_go_by_its_keys(way):
    def program():
        first = {"z": td.zeros([1]), "a": td.constant(0)}
        invariants = {"z": td.TensorShape([None]), "a": SCALAR}
        return td.while_loop(lambda z, a: a < 2, lambda z, a: {"z": td.concat([z, z], 0), "a": a + 1}, first, shape_invariants=invariants)["z"]

    assert way(program)().shape == [4]


# ---------------------------------------------------------------------- branches by number


def one():
    return td.constant(1)


def two():
    return td.constant(2)


@pytest.mark.parametrize(
    ("functions", "error", "message"),
    [
        ([(0, one), (0, two)], ValueError, r"the numbers of branch_fns are \[0, 0\]; they must be 0 or more, and each stand for one function"),
        ({-1: one, 0: two}, ValueError, r"numbers of branch_fns are \[-1, 0\]; they must be 0 or more"),
        ({0: one, 2: two}, ValueError, r"numbers of branch_fns are \[0, 2\]; without a default they must be 0 to 1"),
        ([(1, one)], ValueError, r"without a default they must be 0 to 0"),
        ({0: one, "a": two}, TypeError, r"pairs of an int and a function; it has \('a', "),
        ([one, (1, two)], TypeError, "pairs of an int and a function; it has <function one"),
        ([(0, one), two], TypeError, "pairs of an int and a function; it has <function two"),
        ([], ValueError, "no functions to choose from"),
    ],
)
def test_functions_that_cannot_be_chosen_by_number_are_refused(way, functions, error, message):
    with pytest.raises(error, match=message):
        way(lambda i: td.switch_case(i, functions))(td.constant(0))


def test_a_default_stands_for_the_numbers_that_are_not_there(way):
    choose = way(lambda i: td.switch_case(i, {0: one, 2: two}, default=lambda: td.constant(9)))
    assert [int(choose(td.constant(i))) for i in (-1, 0, 1, 2, 3)] == [9, 1, 9, 2, 9]
    choose = way(lambda i: td.switch_case(i, [(1, two), (0, one)]))
    assert [int(choose(td.constant(i))) for i in (-1, 0, 1, 2)] == [2, 1, 2, 2]
