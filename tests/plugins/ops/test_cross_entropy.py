"""Softmax cross-entropy, with labels as probabilities and as indices: values, what labels may be, gradients to the second order."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError

dense = td.nn.softmax_cross_entropy_with_logits
sparse = td.nn.sparse_softmax_cross_entropy_with_logits
SHAPES = [(4,), (3, 4), (2, 3, 4), (500, 10), (5, 1000), (0, 3), (200, 24), (200, 25), (1, 1)]


def example(shape, dtype=np.float64):
    rng = np.random.default_rng(8)
    x = (rng.standard_normal(shape) * 3).astype(dtype)
    return x, rng.integers(0, shape[-1], shape[:-1]), special.softmax(rng.standard_normal(shape), -1).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_agree_with_scipy(every_mode, shape, dtype):
    x, index, labels = example(shape, dtype)
    logs = special.log_softmax(x.astype(np.float64), -1)
    close = {"rtol": 2e-6, "atol": 2e-6} if dtype is np.float32 else {"rtol": 1e-13, "atol": 1e-13}
    np.testing.assert_allclose(every_mode(dense, labels, x)[0], -np.sum(labels * logs, -1), **close)
    want = -np.take_along_axis(logs, index[..., None], -1)[..., 0]
    for integers in (np.int32, np.int64, np.uint16):
        got = every_mode(sparse, index.astype(integers), x)[0]
        assert got.dtype == dtype
        np.testing.assert_allclose(got, want, **close)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(3, 4), (500, 10), (5, 1000)])
def test_short_floats_are_computed_in_float32(shape, dtype):
    x, index, labels = example(shape, dtype)
    logs = special.log_softmax(x.astype(np.float64), -1)
    ulp = float(ml_dtypes.finfo(dtype).eps)
    for got, want in (
        (dense(td.constant(labels), td.constant(x)), -np.sum(labels.astype(np.float64) * logs, -1)),
        (sparse(td.constant(index), td.constant(x)), -np.take_along_axis(logs, index[..., None], -1)[..., 0]),
    ):
        assert np.asarray(got).dtype == dtype
        np.testing.assert_allclose(np.asarray(got).astype(np.float64), want, rtol=0.6 * ulp, atol=1e-5)


def test_the_class_axis_may_be_any():
    rng = np.random.default_rng(9)
    x, labels = rng.standard_normal((2, 3, 4)), rng.random((2, 3, 4))
    for axis in (0, 1, 2, -1, -2, -3):
        want = -np.sum(labels * special.log_softmax(x, axis), axis)
        np.testing.assert_allclose(np.asarray(dense(labels, x, axis)), want, rtol=1e-12)
        np.testing.assert_allclose(np.asarray(td.function(lambda z, a=axis: dense(labels, z, a))(td.constant(x))), want, rtol=1e-12)


def test_labels_are_cast_and_broadcast():
    x = np.random.default_rng(10).standard_normal((5, 3)).astype(np.float32)
    want = np.asarray(dense(np.tile(np.float32([0, 1, 0]), (5, 1)), x))
    np.testing.assert_array_equal(np.asarray(dense(td.constant([[0, 1, 0]]), td.constant(x))), want)
    np.testing.assert_array_equal(np.asarray(dense([0, 1, 0], td.constant(x))), want)


def test_large_logits_are_exact():
    z = td.constant([-900.0, -500.0, 2000.0])
    assert float(dense(labels=[1.0, 0.0, 0.0], logits=z)) == 2900
    assert float(sparse(0, z)) == 2900
    assert float(sparse(2, z)) == 0


def test_a_class_without_weight_may_have_the_logit_minus_infinity():
    z = td.constant([[0.0, -np.inf, 1.0]] * 2)
    labels = td.constant([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    with td.GradientTape() as tape:
        tape.watch(z)
        loss = dense(labels, z)
    assert np.asarray(loss).tolist() == [pytest.approx(np.log(1 + np.e), rel=1e-6), np.inf]
    assert np.isfinite(np.asarray(tape.gradient(loss, z))).all()
    assert np.isnan(np.asarray(dense([[1.0, 0.0]], [[np.nan, 0.0]]))).all()


@pytest.mark.parametrize("shape", [(3,), (2, 4), (2, 2, 3)])
def test_both_gradients_agree_with_differences(check_gradient, shape):
    x, index, labels = example(shape)
    check_gradient(lambda z: sparse(index, z), x)
    check_gradient(lambda z: dense(labels, z), x)
    check_gradient(lambda p: dense(p, x), labels)


def test_the_gradient_takes_the_labels_to_sum_to_1():
    x, labels = td.constant([[1.0, 2.0]]), td.constant([[3.0, 0.5]])
    with td.GradientTape() as tape:
        tape.watch([x, labels])
        loss = dense(labels, x)
    along_labels, along_logits = tape.gradient(loss, [labels, x])
    np.testing.assert_allclose(np.asarray(along_logits), special.softmax([[1.0, 2.0]], -1) - [[3.0, 0.5]], rtol=1e-6)
    np.testing.assert_allclose(np.asarray(along_labels), -special.log_softmax([[1.0, 2.0]], -1), rtol=1e-6)


def test_the_mixed_second_gradient_of_labels_and_logits():
    x, labels = td.constant([[0.3, -1.0, 0.2]], td.float64), td.constant([[0.2, 0.5, 0.3]], td.float64)
    with td.GradientTape() as outer:
        outer.watch(labels)
        with td.GradientTape() as inner:
            inner.watch(x)
            loss = dense(labels, x)
        slope = inner.gradient(loss, x)
    np.testing.assert_allclose(np.asarray(outer.gradient(slope, labels, output_gradients=td.constant([[1.0, 2.0, 3.0]], td.float64))), [[-1, -2, -3]])


@pytest.mark.parametrize("dtype", [td.float32, td.float16])
def test_gradients_in_blocks_agree_with_the_formula(dtype):
    for shape in ((3000, 10), (100, 400)):
        x, index, _ = example(shape)
        z = td.constant(x, dtype)
        with td.GradientTape() as tape:
            tape.watch(z)
            loss = sparse(index, z)
        want = special.softmax(np.asarray(z).astype(np.float64), -1)
        want[np.arange(len(index)), index] -= 1
        np.testing.assert_allclose(np.asarray(tape.gradient(loss, z)), want, rtol=1e-3, atol=1e-3 if dtype is td.float16 else 1e-6)


def test_what_does_not_fit_is_refused(refuses):
    logits = np.ones((2, 4), np.float32)
    refuses(ShapeError, sparse, [1, 2, 3], logits)
    refuses(ShapeError, sparse, [[1], [2]], logits)
    refuses(ShapeError, sparse, 0, np.float32(1))
    refuses(DTypeError, sparse, [1.0, 2.0], logits)
    refuses(DTypeError, sparse, [0, 1], [[1, 2], [3, 4]])
    refuses(InvalidArgumentError, sparse, [0, 4], logits, match="label")
    refuses(InvalidArgumentError, sparse, [-1, 0], logits, match="label")
    refuses(ShapeError, dense, np.ones((2, 3), np.float32), logits)
    refuses(ShapeError, dense, np.ones((3, 2, 4), np.float32), logits)
    refuses(ShapeError, dense, np.float32(1), np.float32(1))
    refuses(InvalidArgumentError, lambda p, z: dense(p, z, axis=2), logits, logits)
    with pytest.raises(ValueError, match="both"):
        dense(None, logits)


def test_labels_make_the_number_of_rows_known(shape_while_tracing):
    loss = td.nn.softmax_cross_entropy_with_logits
    assert shape_while_tracing(loss, [4, None], [None, 5]) == (4,)
    assert shape_while_tracing(loss, [1, 5], [None, 5]) == (None,)
    assert shape_while_tracing(lambda x, y: loss(x, y, axis=0), [None, 5], [4, None]) == (5,)
