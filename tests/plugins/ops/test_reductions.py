"""Sums, products, means, truth and extremes over axes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treadle as td

NAN, INF = float("nan"), float("inf")
FLOATS = {"reduce_sum": np.sum, "reduce_prod": np.prod, "reduce_mean": np.mean, "reduce_max": np.max, "reduce_min": np.min}
TRUTH = {"reduce_any": np.any, "reduce_all": np.all}
SHORT = (td.float16.as_numpy_dtype, td.bfloat16.as_numpy_dtype)


def every_axis(rank):
    """All forms in which axes can be named."""
    return [None, (), *range(-rank, rank), *(list(c) for n in (2, 3) for c in itertools.combinations(range(rank), n))]


@pytest.mark.parametrize("name", FLOATS)
def test_reductions_agree_with_numpy_over_all_axes(name, every_mode):
    rng = np.random.default_rng(3)
    for shape in ((), (5,), (2, 3, 4), (1, 3, 1)):
        x = rng.standard_normal(shape)
        forms = [(axis, keepdims) for axis in every_axis(len(shape)) for keepdims in (False, True)]
        results = every_mode(lambda x, forms=forms: [getattr(td, name)(x, axis=a, keepdims=k) for a, k in forms], x)
        for (axis, keepdims), result in zip(forms, results, strict=True):
            want = FLOATS[name](x, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims)
            np.testing.assert_allclose(result, want, rtol=1e-12, err_msg=f"{shape} {axis} {keepdims}", strict=True)


@pytest.mark.parametrize("name", TRUTH)
def test_truth_agrees_with_numpy(name, every_mode):
    x = np.random.default_rng(1).random((2, 3, 4)) > 0.4
    results = every_mode(lambda x: [getattr(td, name)(x, axis=a, keepdims=k) for a in every_axis(3) for k in (False, True)], x)
    wanted = [TRUTH[name](x, axis=tuple(a) if isinstance(a, list) else a, keepdims=k) for a in every_axis(3) for k in (False, True)]
    for result, want in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(result, want, strict=True)


def test_nothing_gives_the_identity(every_mode):
    z = np.zeros((3, 0), np.float32)
    got = every_mode(lambda z: [td.reduce_sum(z, 1), td.reduce_prod(z, 1), td.reduce_mean(z, 1), td.reduce_max(z, 1), td.reduce_min(z, 1)], z)
    for result, want in zip(got, (0, 1, NAN, -INF, INF), strict=True):
        np.testing.assert_array_equal(result, np.full(3, want, np.float32), strict=True)
    some, every = every_mode(lambda b: [td.reduce_any(b, 1, True), td.reduce_all(b)], z.astype(bool))
    assert (some.tolist(), every.tolist()) == ([[False]] * 3, True)
    mean, high, low = every_mode(lambda i: [td.reduce_mean(i), td.reduce_max(i), td.reduce_min(i)], np.zeros(0, np.int16))
    assert (mean, high, low) == (0, -(2**15), 2**15 - 1)
    assert [r.shape for r in every_mode(lambda z: [td.reduce_max(z, 0), td.reduce_max(z, 0, True)], z)] == [(0,), (1, 0)]


def test_integers_wrap_and_their_mean_is_cut_toward_zero(every_mode):
    total, product = every_mode(lambda x: [td.reduce_sum(x), td.reduce_prod(x)], np.uint8([200, 100, 3]))
    assert (total.dtype, total, product) == (np.uint8, (303) % 256, 60000 % 256)
    (mean,) = every_mode(lambda x: td.reduce_mean(x, 1), np.int32([[2**31 - 1, 1], [-3, 0], [-(2**31), -1], [3, 0]]))
    assert (mean.dtype, mean.tolist()) == (np.int32, [2**30, -1, -(2**30), 1])


@pytest.mark.parametrize("dtype", SHORT)
def test_short_floats_are_reduced_in_single_precision(dtype):
    ones = td.ones([4000], dtype)
    assert float(td.reduce_sum(ones)) == float(td.cast(4000, dtype))
    assert float(td.reduce_mean(ones)) == 1
    assert float(td.reduce_prod(td.constant([2.0**100, 2.0**-100] if dtype is SHORT[1] else [2.0**15, 2.0**15, 2.0**-20], dtype))) != INF


def test_nan_wins_an_extreme_from_either_side(every_mode):
    for x, high, low in (([1, NAN], NAN, NAN), ([NAN, 1], NAN, NAN), ([-INF, -INF], -INF, -INF), ([INF], INF, INF)):
        for repeats in (1, 9):
            for rows in (1, 200):
                tile = np.tile(np.float32(x * repeats), (rows, 1))
                got = every_mode(lambda x: [td.reduce_max(x, 1), td.reduce_min(x, 1)], tile)
                np.testing.assert_array_equal(got, [[high] * rows, [low] * rows])


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min"])
def test_gradients_agree_with_differences(name, check_gradient):
    x = np.random.default_rng(0).standard_normal((2, 3, 2))
    for axis, keepdims in ((None, False), (1, True), ([0, -1], False), ((), False)):
        check_gradient(lambda x, a=axis, k=keepdims: getattr(td, name)(x, axis=a, keepdims=k), x)
    check_gradient(getattr(td, name), np.array(0.7))


def test_the_gradient_of_a_product_is_exact_with_zeros(check_gradient):
    x = np.array([[[2.0, 0.0], [3.0, 5.0]], [[0.0, 0.0], [4.0, 1.0]]])
    for axis in (None, 0, 2, [0, 1], [1, 2], [0, 2]):
        check_gradient(lambda x, axis=axis: td.reduce_prod(x, axis=axis), x)


def test_the_gradient_of_a_mean_divides_by_the_count_at_run_time():
    @td.function(input_signature=[td.TensorSpec([None, None], td.float32)], autograph=False)
    def gradient(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.reduce_mean(x, 0)
        return tape.gradient(y, x)

    for shape in ((4, 3), (5, 1)):
        np.testing.assert_array_equal(gradient(td.zeros(shape)), np.full(shape, np.float32(1) / np.float32(shape[0])))
    short = td.zeros([100_000], td.float16)
    with td.GradientTape() as tape:
        tape.watch(short)
        y = td.reduce_mean(short)
    assert float(tape.gradient(y, short)[0]) == float(np.float16(1e-5))  # a count that float16 does not hold


def test_equal_extremes_share_the_gradient():
    x = td.constant([[1.0, 3.0, 3.0, NAN], [2.0, 2.0, 2.0, 2.0], [1.0, 3.0, 3.0, 0.0]])
    for function in (td.reduce_max, td.function(lambda x, a: td.reduce_max(x, a), autograph=False)):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = function(x, 1)
        gradient = tape.gradient(y, x)
        np.testing.assert_array_equal(gradient, [[NAN] * 4, [0.25] * 4, [0, 0.5, 0.5, 0]])


@pytest.mark.parametrize("name", [*FLOATS, "reduce_logsumexp", "math.reduce_variance", "math.reduce_euclidean_norm"])
def test_axes_may_be_a_tensor_known_at_run_time(name):
    function = td
    for part in name.split("."):
        function = getattr(function, part)
    x = td.constant(np.random.default_rng(2).standard_normal((2, 3, 4)))

    def both(x, axis, keepdims):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = function(x, axis=axis, keepdims=keepdims)
        return y, tape.gradient(y, x)

    traced = td.function(both, autograph=False)
    for axis, keepdims in [*itertools.product(([0, 2], [-1], [], 1), (False, True))] * 2:
        for got, want in zip(traced(x, td.constant(axis, td.int32), keepdims), both(x, axis, keepdims), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, strict=True)
    with pytest.raises(td.errors.InvalidArgumentError, match="twice"):
        traced(x, td.constant([0, 0]), False)


def test_what_is_reduced_of_a_shape_is_known_while_tracing():
    seen = []

    @td.function(input_signature=[td.TensorSpec([None, 3, 4], td.float32)], autograph=False)
    def flattened(x):
        shape = td.shape(x)
        seen.append([td.get_static_value(v(shape[1:])) for v in (td.reduce_prod, td.reduce_sum, td.reduce_max, td.reduce_min)])
        return td.reshape(x, [-1, td.reduce_prod(shape[1:])])

    assert flattened(td.ones([2, 3, 4])).shape == (2, 12)
    assert flattened.get_concrete_function().output_shapes.as_list() == [None, 12]
    assert seen[0] == [12, 7, 4, 3]


@pytest.mark.parametrize("name", [*FLOATS, "reduce_logsumexp", "math.reduce_std", "math.reduce_variance", "math.reduce_euclidean_norm"])
def test_wrong_axes_and_dtypes_are_refused(name, refuses):
    def call(x, **options):
        return getattr(td.math, name.removeprefix("math."))(x, **options)

    x = np.ones((2, 3), np.float32)
    refuses(td.errors.InvalidArgumentError, lambda x: call(x, axis=2), x, match="out of range")
    refuses(ValueError, lambda x: call(x, axis=-3), x, match="out of range")
    refuses(ValueError, lambda x: call(x, axis=[0, -2]), x, match="twice")
    refuses(TypeError, call, x > 0, match="bool")
    refuses(ValueError, lambda x: call(x, axis=[1, 1]), np.ones((2, 0), np.float32), match="twice")


def test_truth_of_numbers_is_refused(refuses):
    refuses(TypeError, td.reduce_any, np.float32([1]), match="bool")
    refuses(ValueError, lambda x: td.reduce_all(x, axis=1), np.array([True]), match="out of range")


def test_names_in_math_are_the_same_functions():
    for name in [*FLOATS, *TRUTH, "reduce_logsumexp"]:
        assert getattr(td, name) is getattr(td.math, name)
