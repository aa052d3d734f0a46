"""Empty axes, zeros behind poles, NaN and other ends, as TensorFlow 2.21 has them."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

nan, inf = float("nan"), float("inf")


def gradient(f, *values):
    xs = [td.constant(v) for v in values]
    with td.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    found = [g.numpy() for g in tape.gradient(y, xs)]
    return found if len(found) > 1 else found[0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(("f", "slope"), [(td.sqrt, 0.25), (td.math.rsqrt, -0.0625), (td.math.reciprocal, -0.0625)])
def test_a_pole_that_is_masked_gives_no_nan(f, slope, dtype):
    def masked(x):
        return td.where(x > 0, f(x), td.zeros_like(x))

    x = np.array([0.0, -1.0, 4.0], dtype)
    for g in (gradient(masked, x), gradient(td.function(masked), x)):
        np.testing.assert_allclose(g[2], slope, rtol=1e-3)
        assert g[0] == 0 and np.isfinite(g[1])


def test_where_something_comes_in_a_pole_is_a_pole():
    assert gradient(td.sqrt, [0.0])[0] == inf
    assert gradient(td.math.rsqrt, [0.0])[0] == -inf and gradient(td.math.reciprocal, [0.0])[0] == -inf


def test_the_second_order_of_a_root_is_right():
    for f in (td.sqrt, td.math.rsqrt, td.math.reciprocal):
        td.testing.check_gradient(f, np.array([0.5, 2.0, 4.0]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_products_over_nothing_are_zeros(dtype):
    kind = getattr(td, dtype)
    for a, b, shape in (((2, 2, 0), (0, 3), (2, 2, 3)), ((4, 2, 2, 0), (0, 3), (4, 2, 2, 3)), ((2, 0), (0, 3), (2, 3))):
        got = td.matmul(td.zeros(a, kind), td.zeros(b, kind))
        assert got.shape == shape and not got.numpy().any()
    ga, gb = gradient(td.matmul, np.zeros((2, 2, 0), np.float32), np.zeros((0, 3), np.float32))
    assert ga.shape == (2, 2, 0) and gb.shape == (0, 3)


@pytest.mark.parametrize("make", [td.zeros_like, td.ones_like, lambda x: td.fill(td.shape(x), 3), lambda x: td.zeros(td.shape(x), td.int32)])
def test_integers_of_no_and_of_unknown_many_elements(make):
    f = td.function(make, input_signature=[td.TensorSpec([None, 0], td.int32)])
    assert f(td.zeros([3, 0], td.int32)).shape == (3, 0)


def test_bfloat16_is_saturated_to_every_integer_dtype():
    x = td.constant([1.0, -1.0, 3e30, -3e30], td.bfloat16)
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        kind = getattr(td, name)
        got = td.saturate_cast(x, kind).numpy()
        assert got[0] == 1 and got[1] == (-1 if name[0] == "i" else 0)
        assert got[2] > kind.max // 3 and (got[3] == 0 if name[0] == "u" else got[3] < kind.min // 3)


def test_a_negative_norm_leaves_nothing():
    assert td.clip_by_norm([3.0, 4.0], -1.0).numpy().tolist() == [0.0, 0.0]
    assert td.clip_by_norm([[3.0, 4.0], [0.1, 0.1]], -1.0, axes=[1]).numpy().tolist() == [[0.0, 0.0]] * 2
    assert gradient(lambda x: td.clip_by_norm(x, -1.0), [3.0, 4.0]).tolist() == [0.0, 0.0]


def test_no_tensors_have_norm_zero():
    for given in ([], [None]):
        kept, norm = td.clip_by_global_norm(given, 5.0)
        assert kept == given and float(norm) == 0.0
    assert float(td.linalg.global_norm([])) == 0.0


def test_a_scalar_is_repeated_as_a_vector_of_one():
    for axis in (None, 0, -1):
        assert td.repeat(3, 4, axis=axis).numpy().tolist() == [3] * 4
    for axis, repeats in ((1, 4), (0, [2, 2])):
        with pytest.raises(ValueError):  # noqa: PT011 - the words are those of any wrong axis
            td.repeat(3, repeats, axis=axis)


def test_quotients_of_integers_are_floating():
    for dtype, wide in (("int8", td.float32), ("uint16", td.float32), ("int32", td.float64), ("int64", td.float64)):
        x, y = (td.constant(v, getattr(td, dtype)) for v in ([1, 2, 3], [0, 2, 2]))
        got = td.math.divide_no_nan(x, y)
        assert got.dtype == wide and got.numpy().tolist() == [0.0, 1.0, 1.5]
    assert td.math.divide_no_nan([1, 2, 3], [0, 2, 2]).numpy().tolist() == [0.0, 1.0, 1.5]
    with pytest.raises(TypeError):
        td.math.divide_no_nan(td.constant([1]), td.constant([1], td.int64))


def test_floats_and_bools_are_counted():
    assert td.math.bincount(td.constant([1.0, 2.7, 1.0])).numpy().tolist() == [0, 2, 1]
    assert td.math.bincount(td.constant([True, False, True])).numpy().tolist() == [1, 2]
    assert td.sequence_mask(td.constant([1.0, 2.7]), 4).numpy().sum(1).tolist() == [1, 2]


def test_products_of_segments_leave_the_conjugate_out():
    x = np.array([1 + 1j, 2j], np.complex64)
    assert gradient(lambda x: td.math.segment_prod(x, [0, 0]), x).tolist() == [2j, 1 + 1j]
    assert gradient(lambda x: td.math.unsorted_segment_prod(x, [0, 0], 1), x).tolist() == [2j, 1 + 1j]


def test_the_gradient_of_an_extreme_that_is_nan_is_nan():
    assert np.isnan(gradient(td.reduce_max, [1.0, nan])).all() and np.isnan(gradient(td.reduce_min, [nan, nan])).all()
    g = gradient(lambda x: td.reduce_min(x, 1), [[1.0, nan], [2.0, 1.0]])
    assert np.isnan(g[0]).all() and g[1].tolist() == [0.0, 1.0]


def test_coordinates_have_the_dtype_of_the_places():
    for dtype in (np.int32, np.int64):
        assert td.unravel_index(np.array([3], dtype), [2, 3]).numpy().dtype == dtype


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_prod", "reduce_max", "reduce_mean", "math.reduce_variance", "reduce_logsumexp"])
@pytest.mark.parametrize("count", [None, 0])
def test_a_scalar_reduced_over_no_axes_that_are_known_later(name, count):
    reduce = td
    for part in name.split("."):
        reduce = getattr(reduce, part)

    @td.function(input_signature=[td.TensorSpec([]), td.TensorSpec([count], td.int32)])
    def f(x, axes):
        return td.gradients(reduce(x, axes), x)[0]

    got = f(td.constant(2.0), np.zeros(0, np.int32))
    assert got.shape == () and float(got) == (0.0 if "variance" in name else 1.0)
