"""Normalization by moments, to the unit length and across channels; biases."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError

EPSILON = 1e-3


def normalized(x, mean, variance, offset, scale):
    result = (x - mean) / np.sqrt(variance + EPSILON)
    result = result if scale is None else result * scale
    return result if offset is None else result + offset


def parameters(shape):
    """The mean, variance, offset and scale."""
    rng = np.random.default_rng(17)
    return rng.standard_normal(shape), rng.uniform(0.5, 2, shape), rng.standard_normal(shape), rng.uniform(0.5, 2, shape)


@pytest.mark.parametrize(
    ("shape", "own"),
    [
        ((3, 4), (4,)),
        ((2, 5, 5, 3), (3,)),
        ((2, 3, 5, 5), (3, 1, 1)),
        ((400, 300), (300,)),
        ((4, 3, 90, 90), (1, 3, 1, 1)),
        ((70_000,), ()),
        ((0, 3), (3,)),
    ],
)
def test_batch_normalization_agrees_with_numpy(every_mode, shape, own):
    x = np.random.default_rng(18).standard_normal(shape) * 2 + 1
    mean, variance, offset, scale = parameters(own)
    for o, s in ((offset, scale), (None, scale), (offset, None), (None, None)):
        given = [p for p in (x, mean, variance, o, s) if p is not None]

        def run(x, mean, variance, *rest, has_offset=o is not None, has_scale=s is not None):
            rest = list(rest)
            return td.nn.batch_normalization(x, mean, variance, rest.pop(0) if has_offset else None, rest.pop(0) if has_scale else None, EPSILON)

        want = normalized(x, mean, variance, o, s)
        np.testing.assert_allclose(every_mode(run, *given)[0], want, rtol=1e-11, atol=1e-13)
        (got,) = every_mode(run, *[p.astype(np.float32) for p in given])
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_layer_normalization_by_moments_agrees_with_numpy(every_mode, check_gradient):
    rng = np.random.default_rng(19)

    def layer(x, offset, scale):
        mean, variance = td.nn.moments(x, [-1], keepdims=True)
        return td.nn.batch_normalization(x, mean, variance, offset, scale, EPSILON)

    for shape in ((4, 5), (300, 256)):
        x, offset, scale = rng.standard_normal(shape) + 2, rng.standard_normal(shape[-1]), rng.uniform(0.5, 2, shape[-1])
        want = normalized(x, x.mean(-1, keepdims=True), x.var(-1, keepdims=True), offset, scale)
        np.testing.assert_allclose(every_mode(layer, x, offset, scale)[0], want, rtol=1e-10, atol=1e-12)
    check_gradient(layer, rng.standard_normal((2, 3)), rng.standard_normal(3), rng.uniform(0.5, 2, 3), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("shape", "own"), [((3, 2), (2,)), ((2, 2, 2), (2, 1)), ((2,), (3, 1))])
def test_both_gradients_of_batch_normalization_agree_with_differences(check_gradient, shape, own):
    x = np.random.default_rng(20).standard_normal(shape)
    mean, variance, offset, scale = parameters(own)
    check_gradient(lambda *a: td.nn.batch_normalization(*a, EPSILON), x, mean, variance, offset, scale)
    check_gradient(lambda x, m, v: td.nn.batch_normalization(x, m, v, None, None, EPSILON), x, mean, variance)


@pytest.mark.parametrize("dtype", [td.float16, td.bfloat16])
def test_short_floats_may_have_float32_moments(dtype):
    x = np.random.default_rng(21).standard_normal((500, 100))
    mean, variance, offset, scale = (p.astype(np.float32) for p in parameters(100))
    want = normalized(x, mean, variance, offset, scale)
    ulp = float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps)
    for own in (td.float32, dtype):
        given = [td.constant(p, own) for p in (mean, variance, offset, scale)]
        got = td.nn.batch_normalization(td.constant(x, dtype), *given, EPSILON)
        assert got.dtype is dtype
        np.testing.assert_allclose(np.asarray(got).astype(float), want, rtol=4 * ulp, atol=10 * ulp)


def test_global_normalization_scales_if_told():
    x = np.random.default_rng(22).standard_normal((1, 2, 2, 3))
    p = parameters(3)
    for after in (True, False):
        got = td.nn.batch_norm_with_global_normalization(x, *p, EPSILON, after)
        np.testing.assert_allclose(np.asarray(got), normalized(x, *p[:3], p[3] if after else None), rtol=1e-11)


@pytest.mark.parametrize("axis", [None, 0, -1, [0, 1]])
def test_l2_normalize_agrees_with_numpy(every_mode, check_gradient, axis):
    x = np.random.default_rng(23).standard_normal((3, 4))
    over = tuple(axis) if isinstance(axis, list) else axis
    want = x / np.sqrt(np.sum(x * x, over, keepdims=True))
    np.testing.assert_allclose(every_mode(lambda t: td.math.l2_normalize(t, axis), x)[0], want, rtol=1e-12)
    np.testing.assert_allclose(every_mode(lambda t: td.math.l2_normalize(t, dim=axis), x)[0], want, rtol=1e-12)
    check_gradient(lambda t: td.math.l2_normalize(t, axis), x)


def test_l2_normalize_of_zeros_and_of_complex_numbers():
    x = td.constant([0.0, 0.0])
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.nn.l2_normalize(x)
    assert np.asarray(y).tolist() == [0, 0]
    assert np.isfinite(np.asarray(tape.gradient(y, x))).all()
    z = td.constant([3 + 4j, 12j])
    np.testing.assert_allclose(np.asarray(td.linalg.l2_normalize(z)), np.array([3 + 4j, 12j]) / 13, rtol=1e-6)
    with pytest.raises(ValueError, match="Cannot specify both"):
        td.nn.l2_normalize(x, axis=0, dim=0)
    assert td.nn.l2_normalize is td.math.l2_normalize is td.linalg.l2_normalize


def test_local_response_normalization_agrees_with_a_loop(every_mode, check_gradient):
    x = np.random.default_rng(24).standard_normal((2, 1, 2, 5))
    for radius in (0, 1, 2, 9):
        sums = np.stack([np.sum(x[..., max(0, i - radius) : i + radius + 1] ** 2, -1) for i in range(5)], -1)
        want = x / (2 + 0.5 * sums) ** 0.75

        def run(t, r=radius):
            return td.nn.local_response_normalization(t, r, bias=2, alpha=0.5, beta=0.75)

        np.testing.assert_allclose(every_mode(run, x)[0], want, rtol=1e-12)
        check_gradient(run, x[:1])


@pytest.mark.parametrize(("shape", "data_format", "axis"), [((2, 3), None, -1), ((2, 5, 3), "NWC", -1), ((2, 3, 4, 5), "NCHW", 1), ((2, 3), "NC", 1)])
def test_bias_add_agrees_with_numpy(every_mode, check_gradient, shape, data_format, axis):
    x, bias = np.random.default_rng(25).standard_normal(shape), np.array([1.0, -2.0, 3.0])
    want = x + (bias if axis == -1 else bias.reshape(3, *(1,) * (len(shape) - 2)))
    np.testing.assert_array_equal(every_mode(lambda v, b: td.nn.bias_add(v, b, data_format), x, bias)[0], want)
    check_gradient(lambda v, b: td.nn.bias_add(v, b, data_format=data_format), x, bias)
    whole = (x * 9).astype(np.int32)
    assert np.asarray(td.nn.bias_add(whole, [0, 0, 1], data_format)).sum() == whole.sum() + whole.size // 3


def test_the_gradient_of_a_bias_needs_no_rank_when_channels_are_last():
    @td.function(input_signature=[td.TensorSpec(None), td.TensorSpec([3])])
    def slope(value, bias):
        with td.GradientTape() as tape:
            tape.watch(bias)
            y = td.nn.bias_add(value, bias)
        return tape.gradient(y, bias)

    assert np.asarray(slope(np.zeros((2, 4, 3), np.float32), [0.0, 0.0, 0.0])).tolist() == [8, 8, 8]


def test_what_does_not_fit_is_refused(refuses):
    x, bias = np.ones((3, 4), np.float32), np.ones((4,), np.float32)
    refuses(ShapeError, td.nn.bias_add, x, np.ones((5,), np.float32))
    refuses(ShapeError, td.nn.bias_add, bias, bias)
    refuses(ShapeError, td.nn.bias_add, x, x)
    refuses(DTypeError, td.nn.bias_add, x, np.ones((4,), np.float64))
    with pytest.raises(ValueError, match="data_format"):
        td.nn.bias_add(x, bias, "HWC")
    refuses(ShapeError, lambda v, m: td.nn.batch_normalization(v, m, m, None, None, 0.1), x, np.ones((5,), np.float32))
    refuses(DTypeError, lambda v, m, s: td.nn.batch_normalization(v, m, s, None, None, 0.1), x, bias, np.ones((4,), np.float64))
    refuses(ShapeError, td.nn.local_response_normalization, x)
    refuses(InvalidArgumentError, lambda v: td.nn.lrn(v, -1), np.ones((1, 1, 1, 1), np.float32))
    refuses(InvalidArgumentError, lambda v: td.nn.l2_normalize(v, 2), x)


def test_a_bias_makes_the_number_of_channels_known(shape_while_tracing):
    assert shape_while_tracing(td.nn.bias_add, [None, None], [7]) == (None, 7)
    assert shape_while_tracing(lambda x, b: td.nn.bias_add(x, b, "NCHW"), [None, None, 3], [7]) == (None, 7, 3)


def test_what_is_normalized_across_channels_has_rank_4(shape_while_tracing):
    assert shape_while_tracing(td.nn.lrn, None) == (None, None, None, None)
