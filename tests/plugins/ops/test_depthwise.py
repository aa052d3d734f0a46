"""Convolution of single channels, alone and followed by a product over the channels."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import InvalidArgumentError, ShapeError

CASES = [
    ((6, 5), (3, 2), (1, 1), (1, 1), "SAME", 3, 1),
    ((6, 7), (2, 3), (2, 1), (1, 2), "VALID", 2, 3),
    ((5, 8), (3, 3), (2, 3), (1, 1), "SAME", 4, 2),
    ((5, 6), (2, 2), (1, 2), (2, 2), [[0, 0], [1, 2], [0, 3], [0, 0]], 1, 2),
]


def arrays(case, dtype=np.float32):
    sizes, taps, *_, channels, multiplier = case
    rng = np.random.default_rng(4)
    return rng.standard_normal((2, *sizes, channels)).astype(dtype), rng.standard_normal((*taps, channels, multiplier)).astype(dtype)


def attributes(case):
    _, _, strides, dilations, padding, *_ = case
    return {"strides": [1, *strides, 1], "padding": padding, "dilations": list(dilations)}


@pytest.mark.parametrize("case", CASES)
def test_each_channel_has_filters_of_its_own(every_mode, case):
    x, w = arrays(case)
    channels, multiplier = case[-2:]
    (got,) = every_mode(lambda x, w: td.nn.depthwise_conv2d(x, w, **attributes(case)), x, w)
    _, _, strides, dilations, padding, *_ = case
    for c in range(channels):
        alone = td.nn.conv2d(x[..., c : c + 1].copy(), w[:, :, c : c + 1].copy(), strides, padding, dilations=dilations).numpy()
        np.testing.assert_allclose(got[..., c * multiplier : (c + 1) * multiplier], alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_any_order(check_linear, case):
    x, w = arrays(case, np.float64)
    check_linear(lambda t: td.nn.depthwise_conv2d(t, w, **attributes(case)), x.shape)
    check_linear(lambda t: td.nn.depthwise_conv2d(x, t, **attributes(case)), w.shape)


@pytest.mark.parametrize("case", CASES[:3])
def test_the_backprop_ops_are_the_gradients(every_mode, case):
    x, w = arrays(case)
    given = {**attributes(case), "dilations": [1, *case[3], 1]}
    y = td.nn.depthwise_conv2d(x, w, **attributes(case)).numpy()
    (dx,) = every_mode(lambda w, y: td.nn.depthwise_conv2d_backprop_input(x.shape, w, y, **given), w, y)
    (dw,) = every_mode(lambda x, y: td.nn.depthwise_conv2d_backprop_filter(x, w.shape, y, **given), x, y)
    assert (dx.shape, dw.shape) == (x.shape, w.shape)
    np.testing.assert_allclose([np.sum(dx * x), np.sum(dw * w)], np.sum(y * y), rtol=1e-4)
    (by_tensor,) = every_mode(lambda x, y: td.nn.depthwise_conv2d_backprop_filter(x, td.constant(w.shape), y, **given), x, y)
    np.testing.assert_array_equal(by_tensor, dw)


def test_channels_first_is_the_same_with_axes_swapped(every_mode):
    x, w = arrays(CASES[1])
    want = td.nn.depthwise_conv2d(x, w, [1, 2, 1, 1], "SAME").numpy()
    (got,) = every_mode(lambda x, w: td.nn.depthwise_conv2d(x, w, [1, 1, 2, 1], "SAME", "NCHW"), np.moveaxis(x, -1, 1).copy(), w)
    np.testing.assert_array_equal(got, np.moveaxis(want, -1, 1))


def test_a_separable_convolution_is_the_two_in_a_row(every_mode, check_linear):
    x, w = arrays(CASES[1])
    p = np.random.default_rng(0).standard_normal((1, 1, 6, 4)).astype(np.float32)
    (got,) = every_mode(lambda x, w, p: td.nn.separable_conv2d(x, w, p, [1, 2, 2, 1], "SAME"), x, w, p)
    between = td.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME").numpy()
    np.testing.assert_allclose(got, between @ p[0, 0], rtol=1e-4, atol=1e-5)
    check_linear(lambda t: td.nn.separable_conv2d(x.astype(np.float64), w.astype(np.float64), t, [1, 1, 1, 1], "SAME"), p.shape)


def test_channels_that_differ_are_refused(refuses):
    x, w = np.ones((1, 4, 4, 4), np.float32), np.ones((2, 2, 2, 1), np.float32)
    with pytest.raises(ShapeError, match="the channels that the filters are for and those of the input, 2 and 4,"):
        td.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")
    refuses(ShapeError, lambda x, w: td.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"), x[..., :3], w)
    refuses(ShapeError, lambda x, w: td.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"), x, w[0])
    with pytest.raises(ShapeError, match="pointwise_filter"):
        td.nn.separable_conv2d(x[..., :2], w, np.ones((1, 1, 4, 1), np.float32), [1, 1, 1, 1], "SAME")
    with pytest.raises(ShapeError, match="pointwise_filter"):
        td.nn.separable_conv2d(x[..., :2], w, np.ones((2, 1, 2, 1), np.float32), [1, 1, 1, 1], "SAME")
    with pytest.raises(InvalidArgumentError, match="4 sizes"):
        td.nn.depthwise_conv2d_backprop_filter(x, [2, 2, 4], x, [1, 1, 1, 1], "SAME")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_part_of_the_output_may_lie_in_the_padding_alone(threads):
    td.config.threading.set_intra_op_parallelism_threads(threads)
    try:
        x, w = td.ones([1, 4, 64, 64]), td.ones([3, 3, 64, 1])
        y = td.nn.depthwise_conv2d(x, w, [1] * 4, [[0, 0], [0, 64], [0, 0], [0, 0]])
        assert y.shape == (1, 66, 62, 64) and float(y[0, 0, 0, 0]) == 9.0 and not np.any(y[0, 4:])
    finally:
        td.config.threading.set_intra_op_parallelism_threads(0)


def test_the_channels_of_the_input_make_those_of_the_filters_known(shape_while_tracing):
    def conv(x, w):
        return td.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")

    assert shape_while_tracing(conv, [None, None, None, 3], [None, None, None, 2]) == (None, None, None, 6)
    assert shape_while_tracing(conv, [None, None, None, None], [2, 2, 3, 2]) == (None, None, None, 6)
    assert shape_while_tracing(conv, None, [2, 2, None, 2]) == (None, None, None, None)
