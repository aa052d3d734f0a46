"""Compiled convolutions give what those of treadle-array give: sums over taps to the last bit, sums over windows to rounding."""

from __future__ import annotations

import hypothesis.strategies as st
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings

import treadle as td
from treadle import plugins
from treadle.registry import registry
from treadle.runtime import workers
from treadle.testing import check_op
from treadle_array.kernels import convolution as plain
from treadle_array.kernels import window
from treadle_array.kernels.window import geometry
from treadle_jit import columns, windows
from treadle_jit.kernels import convolution

GEOMETRIES = [
    # sizes, window, strides, dilations, padding
    ((6, 7), (3, 3), (1, 1), (1, 1), "SAME"),
    ((6, 7), (3, 2), (1, 1), (1, 1), "VALID"),
    ((7, 6), (3, 3), (2, 2), (1, 1), "SAME"),
    ((9, 8), (2, 3), (1, 2), (1, 1), "VALID"),
    ((8, 9), (3, 3), (1, 1), (2, 3), "SAME"),
    ((5, 4), (3, 5), (1, 1), (1, 1), ((2, 1), (0, 4))),
    ((2, 2), (5, 5), (1, 1), (1, 1), "SAME"),
    ((3, 3), (1, 4), (3, 3), (2, 2), ((0, 3), (5, 5))),
    ((9,), (4,), (1,), (1,), "SAME"),
    ((9,), (3,), (2,), (2,), "VALID"),
    ((5, 5), (7, 7), (1, 1), (1, 1), "SAME"),
]
CHANNELS = [2, 7, 8, 16, 17, 40]


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Compile however small the work is."""
    monkeypatch.setattr(windows, "LEAST", 0)
    monkeypatch.setattr(windows, "LEAST_CHANNELS", 1)


@pytest.fixture
def calls(monkeypatch):
    """Names of the compiled functions that were called."""
    made, function = [], windows.function

    def noted(name, *arguments):
        made.append(name)
        return function(name, *arguments)

    monkeypatch.setattr(windows, "function", noted)
    return made


def values(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def attributes(case):
    return dict(zip(("strides", "padding", "dilations"), (case[2], case[4], case[3]), strict=True))


def pair(name):
    return getattr(convolution, name)(np), getattr(plain, name)(np)


@pytest.mark.parametrize("channels", CHANNELS)
@pytest.mark.parametrize("case", GEOMETRIES)
def test_a_sum_over_taps_has_the_bits_of_the_array_kernel(case, channels, calls):
    compiled, want = pair("conv")
    for dtype in (np.float32, np.float64):
        x, w = values(2, *case[0], channels, dtype=dtype), values(*case[1], 1, channels, dtype=dtype, seed=1)
        np.testing.assert_array_equal(compiled(x, w, **attributes(case)), want(x, w, **attributes(case)), strict=True)
    assert calls == ["weighted_sum"] * 2


@pytest.mark.parametrize("case", GEOMETRIES)
def test_the_gradient_of_the_input_has_the_bits_of_the_array_kernel(case, calls):
    compiled, want = pair("conv_backprop_input")
    counts, _ = geometry(*case)
    w, g = values(*case[1], 1, 19), values(2, *counts, 19, seed=1)
    shape = (2, *case[0], 19)
    np.testing.assert_array_equal(compiled(shape, w, g, **attributes(case)), want(shape, w, g, **attributes(case)), strict=True)
    assert set(calls) == {"weighted_sum"}


@pytest.mark.parametrize("channels", CHANNELS)
@pytest.mark.parametrize("case", GEOMETRIES)
def test_the_gradient_of_the_filters(case, channels, calls):
    compiled, want = pair("conv_backprop_filter")
    counts, _ = geometry(*case)
    x, g = values(3, *case[0], channels), values(3, *counts, channels, seed=1)
    shape = (*case[1], 1, channels)
    exact = want(x.astype(np.float64), shape, g.astype(np.float64), **attributes(case))
    got = compiled(x, shape, g, **attributes(case))
    assert got.dtype == np.float32 and calls == ["products"]
    np.testing.assert_allclose(got, exact, rtol=2e-5, atol=2e-5)


def test_the_gradient_of_the_filters_is_at_least_as_near_as_that_of_the_array_kernel():
    compiled, want = pair("conv_backprop_filter")
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
    x, g = np.abs(values(4, 64, 48, 16)), np.abs(values(4, 64, 48, 16, seed=1))
    exact = want(x.astype(np.float64), (3, 3, 1, 16), g.astype(np.float64), **attrs)
    errors = [np.abs(kernel(x, (3, 3, 1, 16), g, **attrs) - exact).max() for kernel in (compiled, want)]
    assert errors[0] <= errors[1]


@pytest.mark.parametrize("multiplier", [2, 3])
def test_several_outputs_for_a_channel(multiplier, calls):
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
    x, w, g = values(2, 5, 6, 7), values(3, 3, 1, 7 * multiplier, seed=1), values(2, 5, 6, 7 * multiplier, seed=2)
    for name, arguments in {"conv": (x, w), "conv_backprop_input": (x.shape, w, g), "conv_backprop_filter": (x, w.shape, g)}.items():
        compiled, want = pair(name)
        got = compiled(*arguments, **attrs)
        np.testing.assert_allclose(got, want(*arguments, **attrs), rtol=1e-5, atol=1e-5)
    assert calls == ["weighted_sum", "weighted_sum", "products"]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_short_floats_are_summed_as_float32(dtype, calls):
    compiled, want = pair("conv")
    x, w = values(2, 5, 5, 9).astype(dtype), values(3, 3, 1, 9, seed=1).astype(dtype)
    got = compiled(x, w, strides=(1, 1), padding="SAME", dilations=(1, 1))
    assert got.dtype == dtype and calls == ["weighted_sum"]
    np.testing.assert_array_equal(got, want(x, w, strides=(1, 1), padding="SAME", dilations=(1, 1)))


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, -0.0, 1e-45, 3e38])
def test_special_values_meet_the_padding_as_they_do_in_the_array_kernel(special):
    x, w = values(1, 4, 4, 18), values(3, 3, 1, 18, seed=1)
    x[0, 0, 0, ::3], w[0, 0, 0, ::2] = special, special
    compiled, want = pair("conv")
    for a, b in ((x, w), (np.full_like(x, special), w), (x, np.full_like(w, special)), (-np.zeros_like(x), np.abs(w))):
        got = compiled(a, b, strides=(1, 1), padding="SAME", dilations=(1, 1))
        expected = want(a, b, strides=(1, 1), padding="SAME", dilations=(1, 1))
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(expected) | (np.isnan(expected) & np.signbit(got)))


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_geometry(data):
    draw = data.draw
    rank = draw(st.integers(1, 2))
    sizes, taps = (tuple(draw(st.lists(st.integers(1, most), min_size=rank, max_size=rank))) for most in (9, 4))
    strides, dilations = (tuple(draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))) for _ in range(2))
    padding = draw(st.sampled_from(["SAME", tuple((draw(st.integers(0, 6)), draw(st.integers(6, 9))) for _ in range(rank))]))
    batch, channels = draw(st.integers(1, 3)), draw(st.integers(2, 20))
    case = (sizes, taps, strides, dilations, padding)
    x, w = values(batch, *sizes, channels), values(*taps, 1, channels, seed=1)
    if max(s + 6 for s in sizes) < max((t - 1) * d + 1 for t, d in zip(taps, dilations, strict=True)) and padding != "SAME":
        return
    compiled, want = pair("conv")
    y = want(x, w, **attributes(case))
    np.testing.assert_array_equal(compiled(x, w, **attributes(case)), y)
    g = values(*y.shape, seed=2)
    compiled, want = pair("conv_backprop_input")
    np.testing.assert_array_equal(compiled(x.shape, w, g, **attributes(case)), want(x.shape, w, g, **attributes(case)))
    compiled, want = pair("conv_backprop_filter")
    np.testing.assert_allclose(compiled(x, w.shape, g, **attributes(case)), want(x, w.shape, g, **attributes(case)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("outer", [3, 8, 24])
@pytest.mark.parametrize("case", GEOMETRIES)
def test_filters_over_all_channels(case, outer, calls):
    counts, _ = geometry(*case)
    x, w, g = values(2, *case[0], 9), values(*case[1], 9, outer, seed=1), values(2, *counts, outer, seed=2)
    for name, arguments in {"conv": (x, w), "conv_backprop_input": (x.shape, w, g), "conv_backprop_filter": (x, w.shape, g)}.items():
        compiled, want = pair(name)
        exact = want(*(a.astype(np.float64) if isinstance(a, np.ndarray) else a for a in arguments), **attributes(case))
        got = compiled(*arguments, **attributes(case))
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, exact, rtol=1e-4, atol=1e-4)
    expected = {"unfolded"} if max(case[2]) > 1 or outer < 5 else {"unfolded", "sum_of_planes"}
    assert set(calls) == expected


@pytest.mark.parametrize("block_bytes", [1, 3000, 9000, 1 << 20])
@pytest.mark.parametrize("case", [c for c in GEOMETRIES if c[4] == "SAME"])
def test_the_matrix_of_windows_in_any_blocks(case, block_bytes, monkeypatch):
    counts, before = geometry(*case)
    x, begin = values(3, *case[0], 10), tuple(-b for b in before)
    for module in (window, columns):
        monkeypatch.setattr(module, "BLOCK_BYTES", block_bytes)
    ours, theirs = (each.columns(np, x, begin, counts, case[1], case[2], case[3], 1) for each in (columns, plain))
    for (items, rows, got), (other_items, other_rows, want) in zip(ours, theirs, strict=True):
        assert (items, rows) == (other_items, other_rows)
        np.testing.assert_array_equal(got, want)


def test_the_planes_of_taps_are_added_up_in_blocks_of_the_batch(monkeypatch, calls):
    compiled, want = pair("conv_backprop_input")
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
    w, g = values(3, 3, 4, 8), values(5, 6, 6, 8, seed=1)
    monkeypatch.setattr(convolution, "BLOCK_BYTES", 2 * 6 * 6 * 9 * 4 * 4)
    np.testing.assert_allclose(compiled((5, 6, 6, 4), w, g, **attrs), want((5, 6, 6, 4), w, g, **attrs), rtol=1e-4, atol=1e-5)
    assert calls == ["sum_of_planes"] * 3


@pytest.mark.parametrize("name", ["conv", "conv_backprop_input", "conv_backprop_filter"])
def test_the_bits_do_not_depend_on_the_number_of_threads(name, monkeypatch):
    monkeypatch.setattr(workers, "LEAST", 1)
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
    for inner, outer in ((1, 20), (20, 24)):
        x, w = values(3, 7, 6, 20), values(3, 3, inner, outer, seed=1)
        g = values(3, 7, 6, outer, seed=2)
        arguments = {"conv": (x, w), "conv_backprop_input": (x.shape, w, g), "conv_backprop_filter": (x, w.shape, g)}[name]
        kernel, results = getattr(convolution, name)(np), []
        for count in (1, 2, 5):
            monkeypatch.setattr(workers, "_wanted", count)
            results.append(kernel(*arguments, **attrs))
        np.testing.assert_array_equal(results[0], results[1])
        np.testing.assert_array_equal(results[0], results[2])


def test_out_is_filled():
    x, w = values(2, 5, 5, 16), values(3, 3, 1, 16, seed=1)
    out = np.full((2, 5, 5, 16), np.nan, np.float32)
    kernel, _ = pair("conv")
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
    assert kernel(x, w, **attrs, out=out) is out
    np.testing.assert_array_equal(out, kernel(x, w, **attrs))
    kernel, _ = pair("conv_backprop_input")
    w, out = values(3, 3, 4, 16), np.full((2, 5, 5, 4), np.nan, np.float32)
    assert kernel(out.shape, w, x, **attrs, out=out) is out
    np.testing.assert_array_equal(out, kernel(out.shape, w, x, **attrs))


def test_groups_of_channels_and_products_of_single_elements_take_no_compiled_loops(calls):
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
    for x, w in ((values(2, 5, 5, 12), values(3, 3, 6, 24, seed=1)), (values(2, 5, 5, 12), values(1, 1, 12, 24, seed=1))):
        g = values(2, 5, 5, 24, seed=2)
        for name, arguments in {"conv": (x, w), "conv_backprop_input": (x.shape, w, g), "conv_backprop_filter": (x, w.shape, g)}.items():
            compiled, want = pair(name)
            np.testing.assert_array_equal(compiled(*arguments, **attrs), want(*arguments, **attrs))
    assert not calls


def test_few_channels_are_left_to_the_array_kernel(calls, monkeypatch):
    monkeypatch.setattr(windows, "LEAST_CHANNELS", 8)
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
    for channels, names in ((7, set()), (8, {"weighted_sum", "products"})):
        x, w, g = values(2, 5, 5, channels), values(3, 3, 1, channels, seed=1), values(2, 5, 5, channels, seed=2)
        for name, arguments in {"conv": (x, w), "conv_backprop_input": (x.shape, w, g), "conv_backprop_filter": (x, w.shape, g)}.items():
            compiled, want = pair(name)
            np.testing.assert_allclose(compiled(*arguments, **attrs), want(*arguments, **attrs), rtol=1e-5, atol=1e-5)
        assert set(calls) == names


@pytest.mark.parametrize(
    ("kind", "inner"), [("float64", 1), ("float64", 16), ("strided", 1), ("strided", 16), ("big-endian", 1), ("big-endian", 16), ("mixed", 16)]
)
def test_arrays_of_other_kinds_are_left_to_the_array_kernel(kind, inner, calls):
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
    x, w, g = values(2, 5, 5, 16), values(3, 3, inner, 16, seed=1), values(2, 5, 5, 16, seed=2)
    out = None
    if kind == "float64":
        out = np.empty((2, 5, 5, 16))
    elif kind == "strided":
        x, g = (np.asfortranarray(a) for a in (x, g))
        w = np.asfortranarray(w)
    elif kind == "big-endian":
        x, w, g = (a.astype(">f4") for a in (x, w, g))
    else:
        w = w.astype(np.float64)
    compiled, want = pair("conv_backprop_input")
    got = compiled(x.shape, w, g, **attrs, **({} if out is None else {"out": out}))
    np.testing.assert_allclose(got.astype(np.float32), want(x.shape, w, g, **attrs).astype(np.float32), rtol=1e-4, atol=1e-5)
    if inner == 16:
        assert "sum_of_planes" not in calls
    elif kind != "float64":
        assert not calls
    compiled, want = pair("conv")
    np.testing.assert_allclose(compiled(x, w, **attrs).astype(np.float32), want(x, w, **attrs).astype(np.float32), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("far", [2**40, 2**62, 2**64, 2**70])
def test_numbers_out_of_reach_are_left_to_the_array_kernel(far, calls):
    x, w = values(1, 4, 4, 16), values(1, 2, 1, 16, seed=1)
    compiled, want = pair("conv")
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, far)}
    with pytest.raises((ValueError, MemoryError, OverflowError)):
        want(x, w, **attrs)
    with pytest.raises((ValueError, MemoryError, OverflowError)):
        compiled(x, w, **attrs)
    assert not calls


@pytest.mark.parametrize("sizes", [(0, 5, 5, 16), (2, 5, 5, 0), (2, 0, 5, 16)])
def test_nothing_in_gives_nothing_or_zeros(sizes):
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
    for inner, outer in ((1, sizes[-1]), (sizes[-1], 16)):
        x, w, g = np.zeros(sizes, np.float32), values(3, 3, inner, outer), np.zeros((*sizes[:3], outer), np.float32)
        for name, arguments in {"conv": (x, w), "conv_backprop_input": (x.shape, w, g), "conv_backprop_filter": (x, w.shape, g)}.items():
            compiled, want = pair(name)
            results = []
            for kernel in (compiled, want):
                try:
                    results.append(kernel(*arguments, **attrs))
                except ValueError as error:
                    results.append(str(error))
            np.testing.assert_array_equal(*results)


def test_planes_are_added_up_where_they_are_not_much_larger_than_windows(calls, monkeypatch):
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
    compiled, want = pair("conv_backprop_input")
    for inner, outer, is_summed in ((16, 8, True), (17, 8, False), (8, 64, True)):
        calls.clear()
        w, g = values(3, 3, inner, outer), values(2, 5, 5, outer, seed=1)
        got = compiled((2, 5, 5, inner), w, g, **attrs)
        np.testing.assert_allclose(got, want((2, 5, 5, inner), w, g, **attrs), rtol=1e-4, atol=1e-5)
        assert ("sum_of_planes" in calls) == is_summed
    monkeypatch.setattr(convolution, "BLOCK_BYTES", 25 * 9 * 8 * 4 - 1)
    calls.clear()
    compiled((2, 5, 5, 8), w, g, **attrs)
    assert "sum_of_planes" not in calls


@pytest.mark.parametrize("name", ["conv", "conv_backprop_input", "conv_backprop_filter"])
def test_what_does_not_fit_is_refused_as_ever(name):
    x, w, g = values(2, 5, 5, 4), values(3, 3, 4, 8), values(2, 5, 4, 8)
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
    arguments = {"conv": (x, w[:, :, :3]), "conv_backprop_input": (x.shape, w, g), "conv_backprop_filter": (x, w.shape, g)}[name]
    compiled, want = pair(name)
    with pytest.raises(ValueError, match=r"channels|cotangent") as theirs:
        want(*arguments, **attrs)
    with pytest.raises(ValueError, match=r"channels|cotangent") as ours:
        compiled(*arguments, **attrs)
    assert str(ours.value) == str(theirs.value)


def test_what_it_does_not_take_goes_to_the_array_kernel(calls):
    attrs = {"strides": (1, 1, 1), "padding": "SAME", "dilations": (1, 1, 1)}
    x, w = values(1, 3, 3, 3, 5), values(2, 2, 2, 1, 5, seed=1)
    compiled, want = pair("conv")
    np.testing.assert_array_equal(compiled(x, w, **attrs), want(x, w, **attrs))
    x, w = values(1, 12, 12, 5), values(9, 9, 1, 5, seed=1)
    attrs = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1)}
    np.testing.assert_array_equal(compiled(x, w, **attrs), want(x, w, **attrs))
    x = values(1, 5, 2, 12)[:, :, ::2].repeat(5, 2)[..., ::2]
    assert not windows.takes((3, 3), 12, 10**9, (), x) and windows.takes((3, 3), 12, 10**9, (), x.copy())
    assert not calls


def test_eager_traced_and_the_gradients_of_a_program():
    x, w = td.constant(values(2, 6, 6, 18)), td.constant(values(3, 3, 18, 1, seed=1))

    def loss(x, w):
        return td.reduce_sum(td.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME") ** 2)

    def gradients(x, w):
        with td.GradientTape() as tape:
            tape.watch([x, w])
            y = loss(x, w)
        return tape.gradient(y, [x, w])

    for eager, traced in zip(gradients(x, w), td.function(gradients)(x, w), strict=True):
        np.testing.assert_array_equal(eager, traced)
    td.testing.check_gradient(loss, td.cast(x, td.float64).numpy()[:1, :3, :3, :5], td.cast(w, td.float64).numpy()[:, :, :5])


CONVOLUTIONS = [
    # input, filters, output, padding
    ((2, 3, 4, 5), (2, 3, 1, 5), (2, 3, 4, 5), "SAME"),
    ((1, 4, 3, 2), (2, 2, 2, 3), (1, 3, 2, 3), "VALID"),
    ((1, 5, 3), (2, 1, 3), (1, 6, 3), ((1, 1),)),
]


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_they_keep_the_promises_of_the_ops(case):
    x, w, y = (values(*shape, seed=seed) for seed, shape in enumerate(case[:3]))
    attrs = {"strides": (1,) * (x.ndim - 2), "padding": case[3], "dilations": (1,) * (x.ndim - 2)}
    check_op(registry.op("conv").entry, x, w, **attrs)
    check_op(registry.op("conv_backprop_input").entry, x.shape, w, y, **attrs)
    check_op(registry.op("conv_backprop_filter").entry, x, w.shape, y, **attrs)


def test_its_kernels_come_with_the_cpu_and_go_with_the_plugin():
    td.zeros([1])
    assert plugins.host.record("treadle.devices", "cpu.jit").state == "loaded"
    rows = {name: registry.kernel_rows(name)["CPU"].plugin for name in ("conv", "conv_backprop_input", "conv_backprop_filter")}
    assert set(rows.values()) == {"cpu.jit"}
