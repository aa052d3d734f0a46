"""Convolution over one to three spatial axes, its gradients, transposed and with holes, compared with plain loops over the taps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError, UnimplementedError
from treadle_array.kernels import convolution as convolution_kernels
from treadle_array.kernels import window


def convolved(x, w, strides, padding, dilations):
    """The convolution of channels-last arrays, tap by tap in float64; groups follow from the channels."""
    sizes, taps, (inner, outer) = x.shape[1:-1], w.shape[:-2], w.shape[-2:]
    groups = x.shape[-1] // inner
    pads, counts = [], []
    for axis, (n, k, s, d) in enumerate(zip(sizes, taps, strides, dilations, strict=True)):
        extent = (k - 1) * d + 1
        total = max((-(-n // s) - 1) * s + extent - n, 0)
        pad = {"SAME": (total // 2, total - total // 2), "VALID": (0, 0)}[padding] if isinstance(padding, str) else padding[axis]
        pads.append(pad)
        counts.append((n + sum(pad) - extent) // s + 1)
    padded = np.pad(x.astype(np.float64), [(0, 0), *pads, (0, 0)])
    result = np.zeros((x.shape[0], *counts, outer))
    for tap in itertools.product(*map(range, taps)):
        place = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, counts, strides, strict=True))
        part = np.split(padded[:, *place], groups, -1)
        result += np.concatenate([p @ f for p, f in zip(part, np.split(w[tap].astype(np.float64), groups, -1), strict=True)], -1)
    return result


# input sizes, window, strides, dilations, padding, groups, input channels per group, outputs per group
CASES = [
    ((9,), (3,), (2,), (1,), "SAME", 1, 2, 3),
    ((40,), (3,), (1,), (1,), "VALID", 1, 1, 2),  # laid out transposed, as a window is short
    ((8,), (2,), (3,), (2,), ((1, 4),), 2, 1, 2),
    ((5, 8), (3, 2), (2, 1), (1, 1), "SAME", 1, 3, 4),
    ((7, 4), (2, 3), (1, 2), (2, 1), "VALID", 3, 2, 2),
    ((6, 5), (1, 4), (1, 1), (1, 1), ((2, 1), (0, 3)), 1, 3, 2),
    ((6, 7), (1, 1), (1, 1), (1, 1), "VALID", 1, 3, 5),
    ((6, 7), (1, 1), (1, 1), (1, 1), "SAME", 2, 3, 2),
    ((6, 7), (1, 1), (2, 3), (1, 1), "SAME", 1, 3, 2),
    ((7, 9), (3, 2), (2, 4), (2, 2), "SAME", 1, 1, 9),  # strides and dilations with a common factor; many outputs
    ((6, 7), (3, 3), (1, 1), (1, 1), "SAME", 5, 1, 1),  # depthwise
    ((6, 7), (2, 3), (2, 3), (2, 1), "VALID", 3, 1, 2),
    ((3, 5, 4), (2, 3, 2), (1, 2, 1), (1, 1, 2), "SAME", 1, 2, 3),
    ((3, 5, 4), (2, 2, 1), (2, 1, 1), (1, 1, 1), "VALID", 2, 1, 1),
]


def arrays(case, dtype=np.float32, batch=2):
    sizes, taps, _, _, _, groups, inner, outer = case
    rng = np.random.default_rng(3)
    return rng.standard_normal((batch, *sizes, groups * inner)).astype(dtype), rng.standard_normal((*taps, inner, groups * outer)).astype(dtype)


def attributes(case):
    _, _, strides, dilations, padding, *_ = case
    given = padding if isinstance(padding, str) else [(0, 0), *padding, (0, 0)]
    return {"strides": [1, *strides, 1], "padding": given, "dilations": [1, *dilations, 1]}


def public(case):
    rank = len(case[0])
    if rank == 1:
        return lambda x, w, *, strides, **rest: td.nn.conv1d(x, w, strides, **rest)
    return (td.nn.conv2d, td.nn.conv3d)[rank - 2]


@pytest.mark.parametrize("case", CASES)
def test_a_convolution_equals_plain_loops(every_mode, case):
    x, w = arrays(case)
    _, _, strides, dilations, padding, *_ = case
    (got,) = every_mode(lambda x, w: public(case)(x, w, **attributes(case)), x, w)
    want = convolved(x, w, strides, padding, dilations)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_any_order_are_convolutions_again(check_linear, case):
    x, w = arrays(case, np.float64)
    check_linear(lambda t: public(case)(t, w, **attributes(case)), x.shape, rank=False)
    check_linear(lambda t: public(case)(x, t, **attributes(case)), w.shape, rank=False)


def test_gradients_with_both_operands_unknown(every_mode):
    x, w = arrays(CASES[3])

    def gradients(x, w):
        with td.GradientTape() as tape:
            tape.watch([x, w])
            y = td.nn.conv2d(x, w, [2, 1], "SAME")
            loss = td.reduce_sum(y * y)
        return tape.gradient(loss, [x, w])

    dx, dw = every_mode(gradients, x, w)
    assert dx.shape == x.shape
    assert dw.shape == w.shape


@pytest.mark.parametrize("limit", [1, 700, 3000])
def test_blocks_of_any_size_give_the_same(monkeypatch, limit):
    monkeypatch.setattr(window, "BLOCK_BYTES", limit)
    monkeypatch.setattr(window, "CACHE_BYTES", limit)
    for case in CASES:
        x, w = arrays(case, np.float64, batch=3)
        _, _, strides, dilations, padding, *_ = case
        x, w = td.constant(x), td.constant(w)
        with td.GradientTape() as tape:
            tape.watch([x, w])
            y = public(case)(x, w, **attributes(case))
        g = np.random.default_rng(1).standard_normal(y.shape)
        dx, dw = tape.gradient(y, [x, w], output_gradients=td.constant(g))
        np.testing.assert_allclose(y.numpy(), convolved(x.numpy(), w.numpy(), strides, padding, dilations), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(np.sum(dx.numpy() * x.numpy()), np.sum(g * y.numpy()), rtol=1e-9)
        np.testing.assert_allclose(np.sum(dw.numpy() * w.numpy()), np.sum(g * y.numpy()), rtol=1e-9)


@pytest.mark.parametrize("scatter", [0, 1000])
def test_both_ways_to_the_gradient_of_the_input_agree(monkeypatch, scatter):
    for case in CASES:
        x, w = arrays(case, np.float64)
        x = td.constant(x)
        found = []
        for outputs_per_input in (scatter, 4):
            monkeypatch.setattr(convolution_kernels, "SCATTER", outputs_per_input)
            with td.GradientTape() as tape:
                tape.watch(x)
                y = public(case)(x, w, **attributes(case))
                loss = td.reduce_sum(y * y)
            found.append(tape.gradient(loss, x).numpy())
        np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_channels_first_is_the_same_with_axes_swapped(every_mode, case):
    x, w = arrays(case)
    rank = len(case[0])
    given = attributes(case)
    swapped = {name: [value[0], value[-1], *value[1:-1]] if not isinstance(value, str) else value for name, value in given.items()}
    data_format = ("NCW", "NCHW", "NCDHW")[rank - 1]
    (got,) = every_mode(lambda x, w: public(case)(x, w, data_format=data_format, **swapped), np.moveaxis(x, -1, 1).copy(), w)
    want = public(case)(td.constant(x), td.constant(w), **given).numpy()
    np.testing.assert_array_equal(got, np.moveaxis(want, -1, 1))


def test_batch_axes_may_be_many(every_mode):
    x, w = arrays(CASES[3], batch=6)
    nested = x.reshape(2, 3, 1, *x.shape[1:])
    (got,) = every_mode(lambda x, w: td.nn.conv2d(x, w, 1, "SAME"), nested, w, rank=False)
    np.testing.assert_array_equal(got.reshape(6, *got.shape[3:]), td.nn.conv2d(x, w, 1, "SAME").numpy())
    first = np.moveaxis(nested, -1, 3).copy()
    (turned,) = every_mode(lambda x, w: td.nn.conv2d(x, w, 1, "SAME", "NCHW"), first, w, rank=False)
    np.testing.assert_array_equal(np.moveaxis(turned, 3, -1), got)


def test_convolution_takes_its_rank_from_the_filters(every_mode):
    for case in CASES:
        x, w = arrays(case)
        _, _, strides, dilations, padding, *_ = case
        if isinstance(padding, str):
            (got,) = every_mode(lambda x, w: td.nn.convolution(x, w, strides, padding, None, dilations), x, w, rank=False)  # noqa: B023  called at once
            np.testing.assert_allclose(got, convolved(x, w, strides, padding, dilations), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats_are_accumulated_in_float32(dtype):
    x = td.cast(td.fill([1, 1, 4096, 1], 1.0), dtype)
    w = td.cast(td.fill([1, 4096, 1, 1], 2.0**-12), dtype)
    assert float(td.nn.conv2d(x, w, 1, "VALID")[0, 0, 0, 0]) == 1.0


def test_integers_wrap_as_integers_do():
    x, w = np.full((1, 3, 1), 100, np.int8), np.full((3, 1, 1), 1, np.int8)
    assert td.nn.conv1d(x, w, 1, "VALID").numpy().tolist() == [[[44]]]


def test_empty_inputs_give_empty_or_zero_results(every_mode):
    w = np.ones((2, 2, 2, 3), np.float32)

    def gradients(x, w):
        with td.GradientTape() as tape:
            tape.watch([x, w])
            y = td.nn.conv2d(x, w, 1, "SAME")
        return y, *tape.gradient(y, [x, w])

    y, dx, dw = every_mode(gradients, np.ones((0, 4, 4, 2), np.float32), w)
    assert (y.shape, dx.shape) == ((0, 4, 4, 3), (0, 4, 4, 2))
    assert not dw.any()
    y, dx, dw = every_mode(gradients, np.ones((2, 0, 4, 2), np.float32), w)
    assert y.shape == (2, 0, 4, 3)
    y, dx, dw = every_mode(gradients, np.ones((2, 4, 4, 0), np.float32), np.ones((2, 2, 0, 3), np.float32))
    assert y.shape == (2, 4, 4, 3)
    assert not y.any()


def test_what_no_window_meets_gets_gradient_zero():
    x = td.constant(np.ones((1, 5, 1), np.float32))
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.nn.conv1d(x, np.ones((1, 1, 1), np.float32), 3, "VALID")
    assert tape.gradient(y, x).numpy().ravel().tolist() == [1.0, 0.0, 0.0, 1.0, 0.0]


def test_a_convolution_refuses_what_does_not_fit(refuses):
    x, w = np.ones((1, 4, 4, 3), np.float32), np.ones((2, 2, 3, 2), np.float32)
    refuses(ShapeError, lambda x, w: td.nn.conv2d(x, w, 1, "SAME"), x, w[:, :, :2], match="multiple")
    refuses(ShapeError, lambda x, w: td.nn.conv2d(x, w, 1, "SAME"), x, w[:, :, :1], match="groups")
    refuses(ShapeError, lambda x, w: td.nn.conv2d(x, w, 1, "SAME"), x[0], w, match="rank")
    refuses(ShapeError, lambda x, w: td.nn.conv2d(x, w, 1, "SAME"), x, w[0], match="rank")
    refuses(ShapeError, lambda x, w: td.nn.conv2d(x, w, 1, "VALID", dilations=4), x, w, match="window")
    refuses(ShapeError, lambda x, w: td.nn.conv2d(x, w, 1, "SAME"), x, w[:0], match="window")
    refuses(DTypeError, lambda x, w: td.nn.conv2d(x, td.cast(w, td.float64), 1, "SAME"), x, w)
    refuses(DTypeError, lambda x, w: td.nn.conv2d(td.cast(x, td.bool), td.cast(w, td.bool), 1, "SAME"), x, w, match="bool")


@pytest.mark.parametrize(
    ("changed", "error", "text"),
    [
        ({"padding": "FULL"}, InvalidArgumentError, "'FULL'"),
        ({"padding": "same"}, InvalidArgumentError, "'SAME'"),
        ({"padding": [[0, 0], [1, 1]]}, InvalidArgumentError, "4 pairs"),
        ({"padding": [[0, 0], [1, -1], [0, 0], [0, 0]]}, InvalidArgumentError, "negative"),
        ({"padding": [[1, 0], [1, 1], [0, 0], [0, 0]]}, InvalidArgumentError, "batch"),
        ({"strides": 0}, InvalidArgumentError, "greater than 0"),
        ({"strides": [1, 2, 3]}, InvalidArgumentError, "length"),
        ({"strides": 1.5}, InvalidArgumentError, "integers"),
        ({"strides": [1, 1, 1, 2]}, UnimplementedError, "spatial"),
        ({"dilations": [0, 1]}, InvalidArgumentError, "greater than 0"),
        ({"data_format": "NWHC"}, InvalidArgumentError, "NWHC"),
    ],
)
def test_a_convolution_refuses_attributes_that_make_no_sense(changed, error, text):
    given = {"strides": 1, "padding": "SAME", **changed}
    x, w = np.ones((1, 4, 4, 3), np.float32), np.ones((2, 2, 3, 2), np.float32)
    with pytest.raises(error, match=text):
        td.nn.conv2d(x, w, **given)


# ---------------------------------------------------------------------- transposed


@pytest.mark.parametrize("case", [c for c in CASES if c[5] == 1])
def test_a_transposed_convolution_is_the_gradient_of_the_convolution(every_mode, check_linear, case):
    x, w = arrays(case)
    _, _, strides, dilations, padding, *_ = case
    y = convolved(x, w, strides, padding, dilations)
    g = np.random.default_rng(2).standard_normal(y.shape).astype(np.float32)
    given = attributes(case)
    transposed = (td.nn.conv1d_transpose, td.nn.conv2d_transpose, td.nn.conv3d_transpose)[len(case[0]) - 1]
    (got,) = every_mode(lambda g, w: transposed(g, w, x.shape, **given), g, w)
    np.testing.assert_allclose(np.sum(got * x), np.sum(g * y), rtol=1e-3, atol=1e-4)
    check_linear(lambda t: transposed(t, w.astype(np.float64), x.shape, **given), g.shape)
    check_linear(lambda t: transposed(g.astype(np.float64), t, x.shape, **given), w.shape)
    (general,) = every_mode(lambda g, w: td.nn.conv_transpose(g, w, x.shape, **given), g, w)
    np.testing.assert_array_equal(general, got)


def test_an_output_shape_may_be_made_of_tensors(every_mode):
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 3, 4, 5)).astype(np.float32), rng.standard_normal((3, 3, 2, 5)).astype(np.float32)
    (want,) = every_mode(lambda x, w: td.nn.conv2d_transpose(x, w, [2, 6, 8, 2], 2), x, w)
    (mixed,) = every_mode(lambda x, w: td.nn.conv2d_transpose(x, w, [td.shape(x)[0], 6, 8, 2], 2), x, w)
    (tensor,) = every_mode(lambda x, w: td.nn.conv2d_transpose(x, w, td.stack([td.shape(x)[0], 6, 8, 2]), 2), x, w)
    (short,) = every_mode(lambda x, w: td.nn.conv2d_transpose(x, w, [6, 8], 2), x, w, rank=False)
    for other in (mixed, tensor, short):
        np.testing.assert_array_equal(other, want)
    first = np.moveaxis(x, -1, 1).copy()
    (turned,) = every_mode(lambda x, w: td.nn.conv2d_transpose(x, w, td.stack([td.shape(x)[0], 2, 6, 8]), 2, data_format="NCHW"), first, w)
    np.testing.assert_array_equal(np.moveaxis(turned, 1, -1), want)


def test_a_transposed_convolution_refuses_an_output_shape_that_does_not_fit(refuses):
    x, w = np.ones((1, 3, 3, 2), np.float32), np.ones((2, 2, 1, 2), np.float32)
    refuses(ShapeError, lambda x, w: td.nn.conv2d_transpose(x, w, [1, 9, 6, 1], 2), x, w, match="does not belong")
    refuses(ShapeError, lambda x, w: td.nn.conv2d_transpose(x, w, [2, 6, 6, 1], 2), x, w, match="does not belong")
    refuses(ShapeError, lambda x, w: td.nn.conv2d_transpose(x, w, [1, 6, 6, 1], 2), x, np.ones((2, 2, 1, 3), np.float32))
    refuses(InvalidArgumentError, lambda x, w: td.nn.conv2d_transpose(x, w, [1, 6, 6], 2), x, w, match="output_shape")


# ---------------------------------------------------------------------- with holes, and raw


def test_windows_with_holes(every_mode):
    case = ((8, 7), (3, 2), (1, 1), (2, 2), "SAME", 1, 2, 3)
    x, w = arrays(case)
    (y,) = every_mode(lambda x, w: td.nn.atrous_conv2d(x, w, 2, "SAME"), x, w)
    np.testing.assert_allclose(y, convolved(x, w, (1, 1), "SAME", (2, 2)), rtol=1e-4, atol=1e-5)
    (back,) = every_mode(lambda y, w: td.nn.atrous_conv2d_transpose(y, w, x.shape, 2, "SAME"), y, w)
    np.testing.assert_allclose(np.sum(back * x), np.sum(y * y), rtol=1e-4)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_moving_what_windows_skip_into_the_batch_changes_nothing(padding):
    case = ((8, 7), (3, 2), (1, 1), (2, 3), padding, 1, 2, 3)
    x, w = arrays(case)

    def inner(t, rank, padding):
        assert (rank, padding) == (2, "VALID")
        return td.nn.conv2d(t, w, 1, padding)

    def moved(x):
        return td.nn.with_space_to_batch(x, [2, 3], padding, inner, filter_shape=[3, 2])

    for way in (moved, td.function(moved)):
        np.testing.assert_allclose(way(td.constant(x)).numpy(), convolved(x, w, (1, 1), padding, (2, 3)), rtol=1e-4, atol=1e-5)


def test_moving_into_the_batch_with_rate_one_calls_the_op_on_the_input():
    x = td.constant(np.ones((1, 2, 2, 1), np.float32))
    seen = []
    td.nn.with_space_to_batch(x, [1, 1], "SAME", lambda *args: seen.append(args))
    assert seen == [(x, 2, "SAME")]
    for given in ({"dilation_rate": [0, 1]}, {"padding": "FULL"}, {"spatial_dims": [2, 1]}, {"padding": "SAME"}):
        arguments = {"dilation_rate": [2, 1], "padding": "VALID", **given}
        with pytest.raises(InvalidArgumentError):
            td.nn.with_space_to_batch(x, op=lambda t, *_: t, **arguments)


def test_raw_ops_are_the_public_ones_with_other_arguments(every_mode):
    x, w = arrays(CASES[3])
    (y,) = every_mode(lambda x, w: td.nn.conv2d(x, w, [2, 1], [[0, 0], [1, 2], [0, 1], [0, 0]]), x, w)
    raw = {"strides": [1, 2, 1, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}
    np.testing.assert_array_equal(every_mode(lambda x, w: td.conv(x, w, **raw), x, w)[0], y)
    dx, dw = every_mode(lambda x, w: (td.conv2d_backprop_input_v2(x, w, y, **raw), td.conv2d_backprop_filter_v2(x, w, y, **raw)), x, w)
    np.testing.assert_allclose([np.sum(dx * x), np.sum(dw * w)], np.sum(y * y), rtol=1e-4)
    first = {"strides": [1, 1, 2, 1], "padding": "SAME", "data_format": "NCHW"}
    x1 = np.moveaxis(x, -1, 1).copy()
    y1 = td.nn.conv2d(x1, w, [2, 1], "SAME", "NCHW").numpy()
    dx, dw = every_mode(lambda x, w: (td.conv2d_backprop_input_v2(x, w, y1, **first), td.conv2d_backprop_filter_v2(x, w, y1, **first)), x1, w)
    np.testing.assert_allclose([np.sum(dx * x1), np.sum(dw * w)], np.sum(y1 * y1), rtol=1e-4)
    with pytest.raises(InvalidArgumentError, match="EXPLICIT"):
        td.conv(x, w, [1, 1, 1, 1], "SAME", explicit_paddings=[1] * 8)
    with pytest.raises(ShapeError, match="groups"):
        td.conv(x, w, [1, 1, 1, 1], "SAME", groups=3)
