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


def test_what_a_batch_jacobian_cannot_take_is_told():
    @traced([None, None])
    def f(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.batch_jacobian(y, x)

    with pytest.raises(InvalidArgumentError, match="all sizes but the first must be known"):
        f(X)
    x = td.constant(1.0)
    with td.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(ShapeError, match="must have an axis for the batch"):
        tape.batch_jacobian(y, x)
