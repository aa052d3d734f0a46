"""Softmax and its logarithm along any axis: values, large and infinite logits, gradients."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError

SHAPES = [
    ((4,), 0),
    ((3, 4), -1),
    ((3, 4), 0),
    ((2, 3, 4), 1),
    ((2, 3, 4), -2),
    ((300, 10), 1),
    ((3, 2000), 1),
    ((5, 70, 60), 1),
    ((400, 24), -1),
    ((2, 3, 2), 0),
]
FUNCTIONS = {"softmax": (td.nn.softmax, special.softmax), "log_softmax": (td.nn.log_softmax, special.log_softmax)}


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_agree_with_scipy(every_mode, name, shape, axis):
    ours, reference = FUNCTIONS[name]
    x = (np.random.default_rng(3).standard_normal(shape) * 5).astype(np.float32)
    (got,) = every_mode(lambda t: ours(t, axis), x)
    np.testing.assert_allclose(got, reference(x.astype(np.float64), axis), rtol=2e-6, atol=3e-6)


@pytest.mark.parametrize(("shape", "axis"), [((300, 10), 1), ((3, 40), 1), ((4, 60, 3), 1), ((60, 70), 0)])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_short_floats_are_computed_in_float32(shape, axis, dtype):
    x = (np.random.default_rng(4).standard_normal(shape) * 5).astype(dtype)
    ulp = float(ml_dtypes.finfo(dtype).eps)
    for ours, reference in FUNCTIONS.values():
        got = np.asarray(ours(td.constant(x), axis))
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype(np.float64), reference(x.astype(np.float64), axis), rtol=0.6 * ulp, atol=1e-5)


def test_large_and_infinite_logits():
    inf = np.inf
    assert np.asarray(td.nn.softmax([-900.0, -500.0, 2000.0])).tolist() == [0, 0, 1]
    assert np.asarray(td.nn.log_softmax([-900.0, -500.0, 2000.0])).tolist() == [-2900, -2500, 0]
    assert np.asarray(td.nn.softmax([[0.0, -inf], [-inf, 5.0]])).tolist() == [[1, 0], [0, 1]]
    assert np.asarray(td.nn.log_softmax([[0.0, -inf]])).tolist() == [[0, -inf]]
    assert np.isnan(np.asarray(td.nn.softmax([[-inf, -inf], [inf, 0.0], [np.nan, 0.0]]))).tolist() == [[True, True]] * 3


@pytest.mark.parametrize(("shape", "axis"), [((0, 4), -1), ((3, 0), -1), ((0,), 0), ((0, 3, 2), 1)])
def test_empty_tensors_stay_empty(every_mode, shape, axis):
    for ours, _ in FUNCTIONS.values():
        assert every_mode(lambda t, f=ours: f(t, axis), np.zeros(shape, np.float32))[0].shape == shape


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("shape", "axis"), [((4,), -1), ((2, 3), 0), ((2, 3, 2), 1)])
def test_both_gradients_agree_with_differences(check_gradient, name, shape, axis):
    check_gradient(lambda t: FUNCTIONS[name][0](t, axis), np.random.default_rng(5).standard_normal(shape))


@pytest.mark.parametrize(("shape", "axis"), [((300, 10), 1), ((3, 3000), 1), ((2, 70, 60), 1), ((200, 20), 0)])
def test_gradients_in_blocks_agree_with_the_formula(shape, axis):
    rng = np.random.default_rng(6)
    x, c = rng.standard_normal(shape), rng.standard_normal(shape)
    p = special.softmax(x, axis)
    wanted = {"softmax": p * (c - np.sum(c * p, axis, keepdims=True)), "log_softmax": c - p * np.sum(c, axis, keepdims=True)}
    for name, want in wanted.items():
        for dtype, tolerance in ((td.float64, 1e-12), (td.float32, 1e-4)):
            t = td.constant(x, dtype)
            with td.GradientTape() as tape:
                tape.watch(t)
                y = FUNCTIONS[name][0](t, axis)
            got = np.asarray(tape.gradient(y, t, output_gradients=td.constant(c, dtype)))
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def test_the_gradient_of_a_sum_of_probabilities_is_0_for_large_logits():
    z = td.constant([-900.0, -500.0, 2000.0])
    with td.GradientTape() as tape:
        tape.watch(z)
        y = td.reduce_sum(td.nn.softmax(z))
    assert np.asarray(tape.gradient(y, z)).tolist() == [0, 0, 0]


def test_a_traced_softmax_into_planned_memory_gives_the_same_bits():
    x = np.random.default_rng(7).standard_normal((100, 200)).astype(np.float32)

    def twice(t):
        return td.reduce_sum(td.nn.softmax(t * 2.0) * td.nn.log_softmax(t), -1)

    np.testing.assert_array_equal(np.asarray(td.function(twice)(td.constant(x))), np.asarray(twice(td.constant(x))))


def test_bad_axes_and_dtypes_are_refused(refuses):
    for ours, _ in FUNCTIONS.values():
        refuses(InvalidArgumentError, lambda t, f=ours: f(t, 2), np.ones((3, 4), np.float32), match="axis 2")
        refuses(InvalidArgumentError, ours, np.float32(1), match="rank 0")
        refuses(DTypeError, ours, [[1, 2]], match="int32")


def test_aliases_are_one_object():
    assert td.nn.softmax is td.math.softmax
    assert td.nn.log_softmax is td.math.log_softmax
