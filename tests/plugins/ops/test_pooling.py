"""Pooling: maxima and means of windows, compared with plain loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError, UnimplementedError

LEAST = float(np.finfo(np.float64).min)

# sizes, window, strides, padding
CASES = [
    ((7,), (3,), (2,), "SAME"),
    ((6,), (2,), (2,), "VALID"),
    ((5, 6), (2, 3), (1, 2), "SAME"),
    ((5, 7), (3, 2), (3, 1), "VALID"),
    ((6, 5), (1, 1), (1, 1), "VALID"),
    ((6, 5), (1, 2), (2, 1), "VALID"),
    ((4, 5, 3), (2, 3, 1), (2, 1, 2), "SAME"),
]
EXPLICIT = ((5, 6), (3, 2), (2, 1), [[0, 0], [2, 1], [0, 1], [0, 0]])


def elements(case):
    """For every window the places of its elements inside, in order."""
    sizes, window, strides, padding = case
    starts, counts = [], []
    for axis, (n, k, s) in enumerate(zip(sizes, window, strides, strict=True)):
        total = max((-(-n // s) - 1) * s + k - n, 0)
        before, after = {"SAME": (total // 2, total - total // 2), "VALID": (0, 0)}[padding] if isinstance(padding, str) else padding[axis + 1]
        starts.append(before)
        counts.append((n + before + after - k) // s + 1)
    found = {}
    for place in itertools.product(*map(range, counts)):
        ranges = [range(o * s - b, o * s - b + k) for o, s, b, k in zip(place, strides, starts, window, strict=True)]
        found[place] = [at for at in itertools.product(*ranges) if all(0 <= a < n for a, n in zip(at, sizes, strict=True))]
    return counts, found


def pooled(x, case, reduce):
    counts, found = elements(case)
    result = np.empty((x.shape[0], *counts, x.shape[-1]))
    for place, inside in found.items():
        result[:, *place] = reduce(np.stack([x[:, *at] for at in inside]))
    return result


def largest(stack):
    return np.maximum(np.max(np.where(np.isnan(stack), -np.inf, stack), 0), LEAST)


def function(kind, rank):
    return getattr(td.nn, f"{kind}_pool{rank}d")


def random(case, dtype=np.float64):
    return np.random.default_rng(6).standard_normal((2, *case[0], 3)).astype(dtype)


@pytest.mark.parametrize("case", [*CASES, EXPLICIT])
def test_maxima_and_means_of_windows(every_mode, case):
    x = random(case)
    rank = len(case[0])
    (got,) = every_mode(lambda x: function("max", rank)(x, *case[1:]), x)
    np.testing.assert_array_equal(got, pooled(x, case, largest))
    if case is not EXPLICIT:
        (got,) = every_mode(lambda x: function("avg", rank)(x, *case[1:]), x)
        np.testing.assert_allclose(got, pooled(x, case, lambda s: np.mean(s, 0)), rtol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_the_general_names_take_the_rank_from_the_input(every_mode, case):
    x = random(case)
    for kind in ("max", "avg"):
        want = function(kind, len(case[0]))(x, *case[1:]).numpy()
        (got,) = every_mode(lambda x: getattr(td.nn, f"{kind}_pool")(x, *case[1:]), x, rank=False)  # noqa: B023  called at once
        np.testing.assert_array_equal(got, want)
        if all(s <= k for s, k in zip(case[2], case[1], strict=True)):
            (got,) = every_mode(lambda x: td.nn.pool(x, case[1], kind.upper(), case[2], case[3]), x)  # noqa: B023  called at once
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("case", CASES)
def test_the_gradient_of_a_mean_is_shared(check_linear, case):
    check_linear(lambda t: function("avg", len(case[0]))(t, *case[1:]), random(case).shape)


@pytest.mark.parametrize("case", [*CASES, EXPLICIT])
def test_the_gradient_of_a_maximum_goes_to_the_first_that_has_it(every_mode, case):
    rng = np.random.default_rng(7)
    x = rng.integers(-2, 3, (2, *case[0], 3)).astype(np.float64)  # with many ties
    x[rng.random(x.shape) < 0.2] = np.nan
    x[rng.random(x.shape) < 0.2] = -np.inf
    rank = len(case[0])
    counts, found = elements(case)
    g, u = rng.standard_normal((2, *counts, 3)), rng.standard_normal(x.shape)

    def gradients(x, g, u):
        with td.GradientTape(persistent=True) as tape:
            tape.watch([x, g, u])
            with td.GradientTape() as inner:
                inner.watch(x)
                y = function("max", rank)(x, *case[1:])
            dx = inner.gradient(y, x, output_gradients=g)
            second = tape.gradient(dx, g, output_gradients=u)
            third = tape.gradient(second, u, output_gradients=g)
        return y, dx, second, third

    y, dx, second, third = every_mode(gradients, x, g, u)
    want, picked = np.zeros(x.shape), np.zeros(y.shape)
    for place, inside in found.items():
        for b, c in itertools.product(range(2), range(3)):
            at = next((at for at in inside if x[b, *at, c] == y[b, *place, c]), inside[0])
            want[b, *at, c] += g[b, *place, c]
            picked[b, *place, c] = u[b, *at, c]
    np.testing.assert_array_equal(y, pooled(x, case, largest))
    np.testing.assert_allclose(dx, want, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(second, picked)
    np.testing.assert_allclose(third, want, rtol=1e-12, atol=1e-12)


def test_an_infinite_cotangent_stays_where_it_belongs():
    x = td.constant(np.array([[1.0, 3.0, 2.0, 0.0]], np.float32)[..., None])
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.nn.max_pool1d(x, 2, 1, "VALID")
    g = tape.gradient(y, x, output_gradients=td.constant([[[1.0], [np.inf], [np.nan]]]))
    np.testing.assert_array_equal(g.numpy().ravel(), [0.0, np.inf, np.nan, 0.0])


def test_a_window_of_nan_or_minus_infinity_gives_the_lowest_finite_number():
    x = np.array([np.nan, np.nan, -np.inf, -np.inf, np.nan, 1.0], np.float32).reshape(1, 6, 1)
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        got = td.nn.max_pool1d(td.cast(x, dtype), 2, 2, "VALID").numpy().ravel()
        assert got.tolist() == [td.as_dtype(dtype).min, td.as_dtype(dtype).min, 1.0]


def test_the_sign_of_a_zero_does_not_depend_on_its_place():
    x = np.zeros((1, 2, 67, 1), np.float32)
    x[:, 0] = -0.0
    for first in (x, x[:, ::-1].copy()):
        got = np.signbit(td.nn.max_pool2d(first, [2, 1], [2, 1], "VALID").numpy())
        assert got.all() or not got.any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint8", "int32", "int64", "uint16"])
def test_maxima_of_other_dtypes(dtype):
    x = np.arange(32).reshape(1, 4, 4, 2) % 7
    got = td.nn.max_pool2d(td.cast(x, dtype), 2, 2, "SAME")
    assert got.dtype.name == dtype
    np.testing.assert_array_equal(got.numpy().astype(np.int64), x.reshape(2, 2, 2, 2, 2).max((1, 3))[None])


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_channels_first_is_the_same_with_axes_swapped(every_mode, kind):
    for case in CASES:
        x, rank = random(case), len(case[0])
        want = function(kind, rank)(x, *case[1:]).numpy()
        data_format = ("NCW", "NCHW", "NCDHW")[rank - 1]
        (got,) = every_mode(lambda x: function(kind, rank)(x, *case[1:], data_format=data_format), np.moveaxis(x, -1, 1).copy())  # noqa: B023  called at once
        np.testing.assert_array_equal(got, np.moveaxis(want, -1, 1))


def test_blocks_of_channels_can_be_pooled(every_mode):
    x = random(CASES[2])[..., :2]
    (got,) = every_mode(lambda x: td.nn.max_pool(x, [1, 1, 1, 2], [1, 1, 1, 2], "VALID"), x, rank=False)
    np.testing.assert_array_equal(got, x.max(-1, keepdims=True))
    with pytest.raises(ShapeError, match="multiple"):
        td.nn.max_pool(x, [1, 1, 1, 3], [1, 1, 1, 3], "VALID")
    with pytest.raises(InvalidArgumentError, match="alone"):
        td.nn.max_pool(x, [1, 2, 1, 2], [1, 1, 1, 2], "VALID")
    with pytest.raises(UnimplementedError, match="spatial"):
        td.nn.avg_pool(x, [1, 1, 1, 2], [1, 1, 1, 2], "VALID")


@pytest.mark.parametrize("case", [c for c in CASES if len(c[0]) == 2])
def test_the_index_of_a_maximum(every_mode, case):
    x = np.random.default_rng(1).integers(0, 4, (2, *case[0], 3)).astype(np.float32)
    for whole in (False, True):
        output, argmax = every_mode(lambda x: td.nn.max_pool_with_argmax(x, *case[1:], include_batch_in_index=whole), x)  # noqa: B023  called at once
        _, found = elements(case)
        assert argmax.dtype == np.int64
        for place, inside in found.items():
            for b, c in itertools.product(range(2), range(3)):
                at = next(at for at in inside if x[b, *at, c] == output[b, *place, c])
                index = (b, *at, c) if whole else (0, *at, c)
                assert argmax[b, *place, c] == np.ravel_multi_index(index, x.shape)
    assert td.nn.max_pool_with_argmax(x, *case[1:], output_dtype=td.int32).argmax.dtype is td.int32
    tensor = td.constant(x)
    with td.GradientTape(persistent=True) as tape:
        tape.watch(tensor)
        output, _ = td.nn.max_pool_with_argmax(tensor, *case[1:])
        other = td.nn.max_pool2d(tensor, *case[1:])
    np.testing.assert_array_equal(tape.gradient(output, tensor).numpy(), tape.gradient(other, tensor).numpy())


def test_windows_with_holes(every_mode):
    x = random(((7,), None, None, None))
    (got,) = every_mode(lambda x: td.nn.pool(x, [3], "AVG", dilations=[2]), x)
    np.testing.assert_allclose(got, (x[:, :3] + x[:, 2:5] + x[:, 4:]) / 3, rtol=1e-12)
    for given in ({"padding": "SAME"}, {"strides": [2]}, {"pooling_type": "SUM"}, {"strides": [4], "dilations": [1]}):
        with pytest.raises(InvalidArgumentError):
            td.nn.pool(x, **{"window_shape": [3], "pooling_type": "MAX", "dilations": [2], **given})


def test_an_empty_batch_gives_an_empty_result(every_mode):
    def gradients(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.nn.max_pool2d(x, 2, 2, "SAME") + td.nn.avg_pool2d(x, 2, 2, "SAME")
        return y, tape.gradient(y, x), *td.nn.max_pool_with_argmax(x, 2, 2, "SAME")

    for shape in ((0, 4, 4, 2), (2, 0, 4, 2), (2, 4, 4, 0)):
        results = every_mode(gradients, np.ones(shape, np.float32))
        assert results[0].shape == results[2].shape == (shape[0], -(-shape[1] // 2), 2, shape[3])
        assert results[1].shape == shape


def test_pooling_refuses_what_does_not_fit(refuses):
    x = np.ones((1, 3, 3, 1), np.float32)
    refuses(ShapeError, lambda x: td.nn.max_pool2d(x, 4, 1, "VALID"), x, match="window")
    refuses(ShapeError, lambda x: td.nn.avg_pool2d(x, 4, 1, "VALID"), x, match="window")
    refuses(ShapeError, lambda x: td.nn.max_pool2d(x, 2, 1, "VALID"), x[0], match="rank")
    refuses(DTypeError, lambda x: td.nn.avg_pool2d(td.cast(x, td.int32), 2, 1, "VALID"), x, match="floating")
    refuses(DTypeError, lambda x: td.nn.max_pool2d(td.cast(x, td.bool), 2, 1, "VALID"), x)
    refuses(InvalidArgumentError, lambda x: td.nn.max_pool2d(x, 0, 1, "VALID"), x, match="greater than 0")
    refuses(InvalidArgumentError, lambda x: td.nn.max_pool2d(x, 2, 1, "FULL"), x, match="FULL")
    refuses(InvalidArgumentError, lambda x: td.nn.avg_pool2d(x, 2, 1, [[0, 0], [1, 1], [1, 1], [0, 0]]), x, match="padding")
    refuses(InvalidArgumentError, lambda x: td.nn.max_pool2d(x, 2, 1, [[0, 0], [2, 0], [0, 0], [0, 0]]), x, match="smaller")
    refuses(InvalidArgumentError, lambda x: td.nn.max_pool_with_argmax(x, 2, 1, "VALID", output_dtype=td.float32), x, match="float32")


@pytest.mark.parametrize("case", [((6,), (2,), (2,), "VALID"), ((5, 6), (2, 3), (1, 2), "SAME"), ((4, 5, 3), (2, 3, 1), (2, 1, 2), "SAME")])
def test_the_gradient_of_the_gradient_of_maxima_is_zeros_for_what_says_where_they_lie(every_mode, case):
    sizes, window, strides, padding = case

    def second(x, w):
        with td.GradientTape(persistent=True) as outer:
            outer.watch([x, w])
            with td.GradientTape() as inner:
                inner.watch(w)
                y = td.reduce_sum(td.nn.max_pool(td.reshape(x * w, [1, *sizes, 1]), window, strides, padding))
            slope = inner.gradient(y, w)
        return outer.gradient(slope, w), outer.gradient(slope, x)

    x = np.random.default_rng(7).standard_normal((2, *sizes))
    along_w, along_x = every_mode(second, x[0], x[1], rank=False)
    np.testing.assert_array_equal(along_w, np.zeros(sizes))
    assert along_x.any()
