"""Logistic and Poisson losses, sums of squares, averages over a batch."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError

logistic = td.nn.sigmoid_cross_entropy_with_logits
weighted = td.nn.weighted_cross_entropy_with_logits


def example(shape=(3, 4), dtype=np.float64):
    rng = np.random.default_rng(12)
    return rng.random(shape).astype(dtype), (rng.standard_normal(shape) * 4).astype(dtype)


@pytest.mark.parametrize("shape", [(), (0, 2), (3, 4), (70_000,)])
def test_the_logistic_loss_agrees_with_numpy(every_mode, shape):
    z, x = example(shape)
    want = np.logaddexp(0, x) - x * z
    np.testing.assert_allclose(every_mode(logistic, z, x)[0], want, rtol=1e-12)
    np.testing.assert_allclose(every_mode(logistic, z.astype(np.float32), x.astype(np.float32))[0], want, rtol=1e-5, atol=3e-6)
    np.testing.assert_allclose(
        np.asarray(logistic(z.astype(ml_dtypes.bfloat16), x.astype(ml_dtypes.bfloat16))).astype(float), want, rtol=0.05, atol=0.1
    )


def test_the_logistic_loss_takes_large_logits():
    x = td.constant([1000.0, -1000.0, 1000.0, 0.0])
    with td.GradientTape() as tape:
        tape.watch(x)
        loss = logistic([1.0, 0.0, 0.0, 0.5], x)
    assert np.asarray(loss).tolist() == [0, 0, 1000, pytest.approx(np.log(2))]
    assert np.asarray(tape.gradient(loss, x)).tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("loss", [logistic, lambda z, x: weighted(z, x, 2.5)])
def test_both_gradients_of_logistic_losses_agree_with_differences(check_gradient, loss):
    z, x = example((5,))
    check_gradient(loss, z, x)


def test_the_weighted_loss_agrees_with_numpy(every_mode, check_gradient):
    z, x = example()
    for weight in (2.0, np.array([0.5, 1.0, 2.0, 3.0])):
        want = (1 - z) * np.logaddexp(0, x) + weight * z * np.logaddexp(0, -x)
        np.testing.assert_allclose(every_mode(lambda a, b, w=weight: weighted(a, b, w), z, x)[0], want, rtol=1e-12)
    check_gradient(lambda w: weighted(z, x, w), np.array([0.5, 1.0, 2.0, 3.0]))
    assert np.isfinite(np.asarray(weighted([1.0, 0.0], [1e30, -1e30], 3.0))).all()


def test_the_poisson_loss_agrees_with_numpy(every_mode, check_gradient):
    counts, x = np.array([0.0, 0.5, 1.0, 2.0, 7.5]), np.array([0.1, -1.0, 2.0, 0.0, 1.0])
    short = np.exp(x) - x * counts
    stirling = special.xlogy(counts, counts) - counts + 0.5 * np.log(2 * np.pi * np.maximum(counts, 1))
    np.testing.assert_allclose(every_mode(td.nn.log_poisson_loss, counts, x)[0], short, rtol=1e-12)
    full = every_mode(lambda a, b: td.nn.log_poisson_loss(a, b, compute_full_loss=True), counts, x)[0]
    np.testing.assert_allclose(full, short + np.where(counts > 1, stirling, 0), rtol=1e-12)
    check_gradient(lambda a, b: td.nn.log_poisson_loss(a, b, True), counts[1:][[0, 2, 3]], x[[0, 1, 2]])


def test_the_full_poisson_loss_has_a_finite_gradient_at_0():
    counts = td.constant([0.0, 1.0])
    with td.GradientTape() as tape:
        tape.watch(counts)
        loss = td.nn.log_poisson_loss(counts, [0.5, 2.0], True)
    assert np.asarray(tape.gradient(loss, counts)).tolist() == [-0.5, -2]


@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (100_000,)])
def test_l2_loss_is_half_the_sum_of_squares(every_mode, shape):
    _, x = example(shape)
    np.testing.assert_allclose(every_mode(td.nn.l2_loss, x)[0], np.sum(x * x) / 2, rtol=1e-13)
    np.testing.assert_allclose(every_mode(td.nn.l2_loss, x.astype(np.float32))[0], np.sum(x * x) / 2, rtol=1e-6)


def test_l2_loss_adds_up_short_floats_in_float32(check_gradient):
    assert float(td.nn.l2_loss(td.ones([4096], td.bfloat16))) == 2048
    check_gradient(td.nn.l2_loss, np.array([1.0, -2.0]))


def test_average_losses(every_mode, check_gradient):
    losses = np.array([1.0, 2.0, 3.0, 6.0], np.float32)
    assert every_mode(td.nn.compute_average_loss, losses)[0] == 3
    assert every_mode(lambda x: td.nn.compute_average_loss(x, global_batch_size=8), losses)[0] == 1.5
    assert every_mode(lambda x, w: td.nn.compute_average_loss(x, w), losses, np.array([1, 0, 0, 1], np.int32))[0] == 1.75
    assert every_mode(lambda x, w: td.nn.compute_average_loss(x, w), losses, np.ones((4, 1), np.float32), rank=False)[0] == 3
    assert every_mode(lambda x, w: td.nn.compute_average_loss(x, w, 2), np.ones((2, 3), np.float32), np.float32([1, 2]), rank=False)[0] == 4.5
    assert every_mode(td.nn.compute_average_loss, np.zeros((0,), np.float32))[0] == 0
    assert td.nn.compute_average_loss(td.constant([1.0], td.float64), 2.0).dtype is td.float64
    check_gradient(td.nn.compute_average_loss, np.array([1.0, 2.0]))


def test_a_regularization_loss_is_summed(every_mode):
    assert every_mode(td.nn.scale_regularization_loss, np.float32([1, 2]))[0] == 3


@pytest.mark.parametrize(("dtype", "floating"), [("int8", "float32"), ("uint16", "float32"), ("int32", "float64"), ("uint64", "float64")])
def test_losses_that_are_integers_are_averaged_and_summed_to_floats(every_mode, dtype, floating):
    losses = np.array([1, 2, 4], dtype)
    for got, want in (
        (every_mode(td.nn.compute_average_loss, losses), 7 / 3),
        (every_mode(lambda x: td.nn.compute_average_loss(x, [2.0, 0.0, 1.0], 4), losses), 1.5),
        (every_mode(td.nn.scale_regularization_loss, losses), 7),
    ):
        assert got[0].dtype == floating
        np.testing.assert_allclose(got[0], want, rtol=1e-6)


def test_what_does_not_fit_is_refused(refuses):
    ones = np.ones((3,), np.float32)
    for loss in (logistic, td.nn.log_poisson_loss, lambda a, b: weighted(a, b, 1.0)):
        refuses(ShapeError, loss, ones, np.ones((3, 1), np.float32))
        refuses(DTypeError, loss, ones, np.ones((3,), np.float64))
    refuses(DTypeError, td.nn.l2_loss, [1, 2])
    refuses(ShapeError, td.nn.compute_average_loss, np.float32(1))
    refuses(DTypeError, lambda x: td.nn.compute_average_loss(x, global_batch_size=2.0), ones)
    refuses(ShapeError, lambda x: td.nn.compute_average_loss(x, global_batch_size=[2]), ones)
    refuses(InvalidArgumentError, lambda x: td.nn.compute_average_loss(x, global_batch_size=-2), ones)
    with pytest.raises(ValueError, match="both"):
        logistic(logits=ones)
