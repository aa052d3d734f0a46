"""Dropout: what is kept is scaled, the rest is 0, and the gradient goes where the values went."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, ShapeError


@pytest.mark.parametrize("dtype", [td.float16, td.bfloat16, td.float32, td.float64])
@pytest.mark.parametrize("shape", [(100, 1000), (), (0, 3)])
def test_elements_are_0_or_scaled(dtype, shape):
    td.random.set_seed(1)
    for f in (td.nn.dropout, td.function(td.nn.dropout)):
        got = f(td.ones(shape, dtype), 0.25)
        assert got.dtype is dtype
        assert got.shape == shape
        values = np.asarray(got).astype(float)
        assert set(np.unique(np.round(values, 1))) <= {0.0, 1.3}
        if values.size > 1:
            assert abs(np.mean(values > 0) - 0.75) < 0.01


def test_the_gradient_goes_where_the_values_went():
    x = td.constant(np.random.default_rng(26).standard_normal((50, 60)))
    for rate in (0.5, td.constant(0.5, td.float64)):
        for run in (lambda f: f, td.function):

            def both(t, rate=rate):
                with td.GradientTape(persistent=True) as tape:
                    tape.watch(t)
                    y = td.nn.dropout(t, rate)
                    z = y * y
                return y, tape.gradient(y, t), tape.gradient(z, t)

            y, slope, second = map(np.asarray, run(both)(x))
            np.testing.assert_array_equal(slope, np.where(y != 0, 2.0, 0.0))
            np.testing.assert_allclose(second, 2 * y * slope)


def test_what_is_dropped_is_0_even_if_it_was_not_finite():
    x = td.constant(np.tile(np.float32([np.inf, np.nan, -np.inf]), 100))
    got = np.asarray(td.nn.dropout(x, 0.5))
    assert np.sum(got == 0) > 50
    assert not np.isfinite(got[got != 0]).any()


def test_a_rate_of_0_gives_the_tensor_itself_and_still_draws():
    x = td.constant([1.0, 2.0])
    assert td.nn.dropout(x, 0) is x
    td.random.set_seed(3)
    td.nn.dropout(x, 0.0)
    first = np.asarray(td.random.uniform([2]))
    td.random.set_seed(3)
    td.nn.dropout(x, 0.5)
    np.testing.assert_array_equal(np.asarray(td.random.uniform([2])), first)


def test_a_noise_shape_drops_whole_slices():
    x = td.ones([200, 5])
    for noise_shape in ([200, 1], (None, 1), td.TensorShape([None, 1]), td.constant([200, 1])):
        got = np.asarray(td.nn.dropout(x, 0.5, noise_shape=noise_shape))
        assert (got == got[:, :1]).all()
        assert 0 < np.mean(got > 0) < 1


def test_a_traced_dropout_draws_anew_and_knows_unknown_shapes():
    drop = td.function(lambda x: td.nn.dropout(x, 0.5, noise_shape=[None, 1]), input_signature=[td.TensorSpec([None, None])])
    first, second = (np.asarray(drop(td.ones([100, 3]))) for _ in range(2))
    assert (first == first[:, :1]).all()
    assert (first != second).any()


def test_seeds_give_the_same_choices():
    x = td.ones([100])
    runs = []
    for _ in range(2):
        td.random.set_seed(5)
        runs.append(np.asarray(td.nn.dropout(x, 0.5, seed=7)))
    np.testing.assert_array_equal(*runs)
    stateless = [np.asarray(f(x, 0.5, [1, 2])) for f in (td.nn.experimental.stateless_dropout, td.function(td.nn.experimental.stateless_dropout))]
    np.testing.assert_array_equal(*stateless)
    assert (np.asarray(td.nn.experimental.stateless_dropout(x, 0.5, [1, 3])) != stateless[0]).any()
    assert td.nn.experimental.stateless_dropout(x, 0.5, [1, 3], rng_alg="threefry").shape == (100,)


def test_bad_rates_and_dtypes_are_refused(refuses):
    ones = np.ones((3,), np.float32)
    for rate in (1.5, 1, -0.1, "0.5"):
        refuses(ValueError, lambda x, r=rate: td.nn.dropout(x, r), ones, match="rate")
    refuses(DTypeError, lambda x: td.nn.dropout(x, 0.5), [1, 2])
    refuses(ShapeError, lambda x: td.nn.dropout(x, td.constant([0.5])), ones)
    refuses(ShapeError, lambda x: td.nn.dropout(x, 0.5, noise_shape=[None, 1]), ones)
