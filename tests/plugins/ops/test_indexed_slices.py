"""Gradients of gathered rows, and what can be done with them."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

START = np.arange(12, dtype=np.float32).reshape(4, 3)


def loss(v, indices):
    return td.reduce_sum(td.gather(v, indices) ** 2)


def eager(v, indices):
    with td.GradientTape() as tape:
        value = loss(v, indices)
    return tape.gradient(value, v)


def traced(v, indices):
    @td.function
    def step(i):
        with td.GradientTape() as tape:
            value = loss(v, i)
        return tape.gradient(value, v)

    return step(td.constant(indices))


def through(v, indices):
    f = td.function(lambda i: loss(v, i))
    with td.GradientTape() as tape:
        value = f(td.constant(indices))
    return tape.gradient(value, v)


def nested(v, indices):
    inner = td.function(lambda i: loss(v, i))
    return traced_of(v, indices, inner)


def traced_of(v, indices, inner):
    @td.function
    def step(i):
        with td.GradientTape() as tape:
            value = inner(i)
        return tape.gradient(value, v)

    return step(td.constant(indices))


@pytest.mark.parametrize("way", [eager, traced, through, nested])
@pytest.mark.parametrize("indices", [[1, 1, 3], [[0, 2], [2, 2]], 2])
def test_the_gradient_of_gathered_rows_is_rows(way, indices):
    v = td.Variable(START)
    gradient = way(v, indices)
    assert isinstance(gradient, td.IndexedSlices)
    flat = np.reshape(indices, -1)
    np.testing.assert_array_equal(gradient.indices, flat)
    np.testing.assert_array_equal(gradient.values, 2 * START[flat])
    np.testing.assert_array_equal(gradient.dense_shape, [4, 3])
    want = np.zeros_like(START)
    np.add.at(want, flat, 2 * START[flat])
    np.testing.assert_array_equal(td.convert_to_tensor(gradient), want)
    np.testing.assert_array_equal(gradient.numpy(), want)


def test_rows_are_filled_up_where_an_op_goes_on_with_them():
    x = td.constant(START)
    with td.GradientTape() as tape:
        tape.watch(x)
        value = td.reduce_sum(td.gather(x * 2, [0, 0])) + td.reduce_sum(x)
    gradient = tape.gradient(value, x)
    assert isinstance(gradient, td.Tensor)
    np.testing.assert_array_equal(gradient, [[5] * 3, [1] * 3, [1] * 3, [1] * 3])


def test_rows_of_several_gathers_come_together_and_a_dense_gradient_makes_them_dense():
    v = td.Variable(START)
    with td.GradientTape(persistent=True) as tape:
        rows = loss(v, [0]) + loss(v, td.constant([3, 3], td.int64))
        both = rows + td.reduce_sum(v)
    gradient = tape.gradient(rows, v)
    assert isinstance(gradient, td.IndexedSlices)
    assert sorted(gradient.indices.numpy()) == [0, 3, 3]
    assert isinstance(tape.gradient(both, v), td.Tensor)
    np.testing.assert_array_equal(tape.gradient(both, v), gradient.numpy() + 1)


def test_along_another_axis_and_in_batches_the_gradient_is_dense():
    v = td.Variable(START)
    with td.GradientTape(persistent=True) as tape:
        columns = td.reduce_sum(td.gather(v, [1, 1], axis=1))
        batch = td.reduce_sum(td.gather(v, [[0], [1], [2], [2]], batch_dims=1))
    np.testing.assert_array_equal(tape.gradient(columns, v), [[0, 2, 0]] * 4)
    np.testing.assert_array_equal(tape.gradient(batch, v), [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])


def test_second_derivatives_go_through_rows():
    v = td.Variable(START)
    with td.GradientTape() as outer:
        with td.GradientTape() as inner:
            value = td.reduce_sum(td.gather(v, [1, 1, 3]) ** 3)
        first = inner.gradient(value, v)
    second = outer.gradient(first, v)
    want = np.zeros_like(START)
    np.add.at(want, [1, 1, 3], 6 * START[[1, 1, 3]])
    np.testing.assert_array_equal(td.convert_to_tensor(second), want)


def test_inside_branches_and_loops_gradients_are_right():
    v = td.Variable(START)

    @td.function
    def f(flag, n):
        with td.GradientTape() as tape:
            value = td.cond(flag, lambda: loss(v, [1]), lambda: loss(v, [2]))
            _, total = td.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a + loss(v, [i])), (0, td.constant(0.0)))
            value += total
        return tape.gradient(value, v)

    gradient = td.convert_to_tensor(f(td.constant(True), td.constant(2)))
    np.testing.assert_array_equal(gradient, START * [[2], [4], [0], [0]])


def test_jacobians_of_gathered_rows_are_dense():
    v = td.Variable(START[:, 0])
    with td.GradientTape() as tape:
        y = td.gather(v, [2, 0])
    np.testing.assert_array_equal(tape.jacobian(y, v), [[0, 0, 1, 0], [1, 0, 0, 0]])


@pytest.mark.parametrize("shape", [[None, 3], [None, None], None])
def test_sizes_may_be_unknown(shape):
    @td.function(input_signature=[td.TensorSpec(shape), td.TensorSpec(None, td.int32)])
    def f(x, i):
        with td.GradientTape() as tape:
            tape.watch(x)
            value = loss(x, i)
        return tape.gradient(value, x)

    for indices in ([1, 1], [[0], [2]]):
        want = np.zeros_like(START)
        np.add.at(want, np.reshape(indices, -1), 2 * START[np.reshape(indices, -1)])
        np.testing.assert_array_equal(td.convert_to_tensor(f(td.constant(START), td.constant(indices))), want)


def test_rows_count_as_one_leaf_unless_composites_are_expanded():
    slices = td.IndexedSlices([[1.0]], [0], [2, 1])
    assert td.nest.flatten({"g": [slices, 3]}) == [slices, 3]
    assert len(td.nest.flatten([slices], expand_composites=True)) == 3
    doubled = td.nest.map_structure(lambda t: t * 2, slices, expand_composites=True)
    assert (doubled.values.numpy().tolist(), doubled.indices.numpy().tolist()) == ([[2.0]], [0])


def test_traced_functions_take_and_give_rows():
    count = []

    @td.function
    def f(slices):
        count.append(1)
        return td.IndexedSlices(slices.values * 2, slices.indices, slices.dense_shape), slices + 1.0

    for n in (1, 1):
        rows, tensor = f(td.IndexedSlices(np.ones((n, 2), np.float32), [1] * n, [3, 2]))
    np.testing.assert_array_equal(rows.numpy(), [[0, 0], [2, 2], [0, 0]])
    np.testing.assert_array_equal(tensor, [[1, 1], [2, 2], [1, 1]])
    assert len(count) == 1


def test_arithmetic_with_scalars_keeps_rows_and_other_arithmetic_fills_up():
    slices = td.IndexedSlices([[1.0, 2.0]], [1], [2, 2])
    for scaled in (2 * slices, slices * 2.0, slices * td.constant(2.0), slices / 0.5, -slices * -2):
        assert isinstance(scaled, td.IndexedSlices)
        np.testing.assert_array_equal(scaled.numpy(), [[0, 0], [2, 4]])
    ones = td.ones([2, 2])
    np.testing.assert_array_equal(ones - slices, [[1, 1], [0, -1]])
    np.testing.assert_array_equal(slices - ones, [[-1, -1], [0, 1]])
    np.testing.assert_array_equal(ones + slices, slices + ones)
    np.testing.assert_array_equal(slices * ones, slices.numpy())
    np.testing.assert_array_equal((slices + slices).numpy(), 2 * slices.numpy())


ROWS = np.float32([[2, 3, 4], [5, 6, 7], [1, 9, 2]])
AT = [1, 3, 1]
BY_HAND = {
    "scatter_add": np.add,
    "scatter_sub": np.subtract,
    "scatter_mul": np.multiply,
    "scatter_div": np.divide,
    "scatter_max": np.maximum,
    "scatter_min": np.minimum,
    "scatter_update": lambda old, new: new,
}


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("wrap", [lambda f: f, td.function], ids=["eager", "traced"])
def test_variables_take_rows(name, wrap):
    v = td.Variable(START)
    want = START.copy()
    for i, row in zip(AT, ROWS, strict=True):
        want[i] = BY_HAND[name](want[i], row)
    wrap(lambda: getattr(v, name)(td.IndexedSlices(ROWS, AT)))()
    np.testing.assert_allclose(v.numpy(), want, rtol=1e-6)


def test_only_rows_can_be_scattered_and_only_where_there_is_a_row():
    v = td.Variable(START)
    with pytest.raises(TypeError, match=r"scatter_add: the rows are a Tensor; give a td.IndexedSlices"):
        v.scatter_add(td.constant(START))
    with pytest.raises(td.errors.InvalidArgumentError, match="7"):
        v.scatter_add(td.IndexedSlices([[1.0, 1, 1]], [7]))
    np.testing.assert_array_equal(v.numpy(), START)


def test_training_an_embedding_moves_only_the_rows_looked_up():
    table = td.Variable(START)

    @td.function
    def step(ids):
        with td.GradientTape() as tape:
            value = td.reduce_sum(td.nn.embedding_lookup(table, ids) ** 2)
        table.scatter_sub(0.5 * tape.gradient(value, table))
        return value

    step(td.constant([0, 2]))
    np.testing.assert_array_equal(table.numpy(), START * [[0], [1], [0], [1]])


def test_a_spec_of_slices_in_an_input_signature_serves_all_that_fit():
    @td.function(input_signature=[td.IndexedSlicesSpec([4, 3], indices_dtype=td.int32)])
    def program(slices):
        return slices.values * 2.0, slices.indices

    for count in (1, 2):
        values, indices = program(td.IndexedSlices(np.ones((count, 3), np.float32), np.arange(count, dtype=np.int32)))
        assert values.shape == (count, 3) and indices.numpy().tolist() == list(range(count))
    assert program.experimental_get_tracing_count() == 1
    assert program.get_concrete_function().structured_outputs[0].shape.as_list() == [None, 3]
    with pytest.raises(TypeError, match=r"slices must be IndexedSlicesSpec.*which has 2 tensors"):
        program(td.IndexedSlices(np.ones((1, 3), np.float32), np.zeros(1, np.int32), td.constant([4, 3])))
    with pytest.raises(TypeError, match=r"slices must be IndexedSlicesSpec.*, got <tf.Tensor"):
        program(td.ones([4, 3]))
    with pytest.raises(TypeError, match=r"slices must be float32\[None, 3\]"):
        program(td.IndexedSlices(np.ones((1, 2), np.float32), np.zeros(1, np.int32)))
