"""Jacobians of tensors whose sizes are known only when the function runs."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import InvalidArgumentError, ShapeError

X = np.float32([[1, 2, 3], [4, 5, 6]])


def traced(*shapes):
    return td.function(input_signature=[td.TensorSpec(shape, td.float32) for shape in shapes])


@pytest.mark.parametrize("shape", [[None], None])
def test_a_target_of_unknown_size(shape):
    @traced(shape)
    def f(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.cumsum(x**2)
        return tape.jacobian(y, x)

    assert f(td.constant([1.0, 2.0, 3.0])).numpy().tolist() == [[2, 0, 0], [2, 4, 0], [2, 4, 6]]
    assert f(td.zeros([0])).shape == (0, 0)


def test_a_scalar_target_of_a_source_of_unknown_size():
    @traced([None])
    def f(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.reduce_sum(x**2)
        return tape.jacobian(y, x)

    assert f(td.constant([1.0, 2.0])).numpy().tolist() == [2, 4]


def test_several_sources_connected_or_not():
    v = td.Variable([2.0, 3.0])

    @traced([None, None], [None])
    def f(x, u):
        with td.GradientTape(persistent=True) as tape:
            tape.watch([x, u])
            y = x * v[0]
        return tape.jacobian(y, [x, v, u]), tape.jacobian(y, {"u": u}, unconnected_gradients="zero")

    (by_x, by_v, by_u), zero = f(td.constant(X), td.ones([4]))
    np.testing.assert_array_equal(by_x.numpy().reshape(6, 6), 2 * np.eye(6))
    np.testing.assert_array_equal(by_v.numpy()[..., 0], X)
    assert by_u is None and zero["u"].shape == (2, 3, 4)


def test_it_is_the_jacobian_of_the_static_trace():
    def f(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.nn.softmax(x) * td.reduce_sum(x)
        return tape.jacobian(y, x)

    np.testing.assert_allclose(traced([None, None])(f)(X), td.function(f)(td.constant(X)), rtol=1e-6)


def test_a_derivative_of_it():
    @traced([None])
    def f(x):
        with td.GradientTape() as outer:
            outer.watch(x)
            with td.GradientTape() as inner:
                inner.watch(x)
                y = td.reduce_sum(x**3)
            slope = inner.gradient(y, x)
        return outer.jacobian(slope, x)

    assert f(td.constant([1.0, 2.0])).numpy().tolist() == [[6, 0], [0, 12]]


def test_a_batch_of_unknown_size():
    @traced([None, 3])
    def f(x):
        with td.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x[:, :2] * x[:, 1:]
            z = td.stop_gradient(y)
        return tape.batch_jacobian(y, x), tape.batch_jacobian(z, x, unconnected_gradients="zero"), tape.batch_jacobian(z, x)

    full, zero, none = f(X)
    assert full.numpy().tolist() == [[[2, 1, 0], [0, 3, 2]], [[5, 4, 0], [0, 6, 5]]]
    assert zero.shape == (2, 2, 3) and none is None
    assert f(X[:0])[0].shape == (0, 2, 3)


def rows_of(x):
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.concat([x * x, td.sin(x[:, :1])], 1)
    return tape.batch_jacobian(y, x)


@pytest.mark.parametrize("shape", [[None, None], [None, 2], [3, None]])
def test_a_batch_jacobian_of_unknown_sizes(shape):
    x = td.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    want = rows_of(x)
    assert want.shape == (3, 3, 2)
    np.testing.assert_allclose(traced(shape)(rows_of)(x), want)
    if shape[0] is None:
        assert traced(shape)(rows_of)(x[:0]).shape == (0, 3, 2)


def test_what_a_batch_jacobian_cannot_take_is_told():
    @traced(None)
    def f(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.batch_jacobian(y, x)

    with pytest.raises(InvalidArgumentError, match="the rank of the target must be known"):
        f(X)
    x = td.constant(1.0)
    with td.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(ShapeError, match="must have an axis for the batch"):
        tape.batch_jacobian(y, x)


def through_rows(x):
    with td.GradientTape() as tape:
        tape.watch(x)
        loss = td.reduce_sum(td.gather(x, [0, 2]) ** 3)
    return tape.gradient(loss, x)


def test_derivatives_of_a_gradient_of_a_few_rows():
    x = td.constant(np.arange(8.0, dtype=np.float32).reshape(4, 2))

    def jacobian(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            gradient = through_rows(x)
        return tape.jacobian(gradient, x)

    diagonal = np.array([0, 6, 0, 0, 24, 30, 0, 0], np.float32)
    for way in (jacobian, td.function(jacobian)):
        np.testing.assert_allclose(np.reshape(way(x), (8, 8)), np.diag(diagonal))

    def forward(x):
        with td.autodiff.ForwardAccumulator(x, td.ones([4, 2])) as accumulator:
            gradient = through_rows(x)
            y = td.gather(x, [0, 2]) ** 2
        return td.convert_to_tensor(accumulator.jvp(gradient)), accumulator.jvp(y)

    for way in (forward, td.function(forward)):
        along_gradient, along_y = way(x)
        np.testing.assert_allclose(np.reshape(along_gradient, -1), diagonal)
        np.testing.assert_allclose(along_y, [[0, 2], [8, 10]])
