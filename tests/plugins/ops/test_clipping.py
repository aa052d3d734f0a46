"""Values kept within bounds, and tensors scaled down to a norm."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td


def gradient(function, *inputs):
    tensors = [td.constant(x) for x in inputs]
    with td.GradientTape() as tape:
        tape.watch(tensors)
        result = function(*tensors)
    return [g.numpy().tolist() for g in tape.gradient(result, tensors)]


def test_values_are_kept_within_bounds(every_mode):
    x = np.float32([np.nan, np.inf, -np.inf, 0, 1, -1, 0.3])
    (result,) = every_mode(lambda x: td.clip_by_value(x, -1.0, 1.0), x)
    np.testing.assert_array_equal(result, np.float32([np.nan, 1, -1, 0, 1, -1, 0.3]))
    (result,) = every_mode(lambda x: td.clip_by_value(x, 2.0, 1.0), np.float32([0, 1.5, 3]))
    assert result.tolist() == [2, 2, 2]
    (result,) = every_mode(lambda x: td.clip_by_value(x, 3, 200), np.array([0, 5, 255], np.uint8))
    assert result.tolist() == [3, 5, 200]


def test_bounds_broadcast_to_the_values_and_not_beyond(every_mode, refuses):
    x, low, high = np.float32([[0, 5], [9, 1]]), np.float32([1, 2]), np.float32([[4], [8]])
    (result,) = every_mode(td.clip_by_value, x, low, high)
    np.testing.assert_array_equal(result, [[1, 4], [8, 2]])
    refuses(ValueError, td.clip_by_value, np.float32([1, 2, 3]), np.float32([[0], [1]]), np.float32(1), match="enlarge")
    refuses(ValueError, td.clip_by_value, np.float32(1), np.float32([0]), np.float32(1), match="enlarge")
    refuses(ValueError, td.clip_by_value, np.float32([1]), np.float32(0), np.float32([1, 2]), match="enlarge")


def test_the_gradient_is_one_at_the_bounds_and_goes_to_them_beyond():
    x, low, high = gradient(td.clip_by_value, [np.nan, -2.0, -1.0, 0.0, 1.0, 2.0], [-1.0], [1.0])
    assert (x, low, high) == ([0, 0, 1, 1, 1, 0], [2], [1])


def test_gradients_of_norm_clipping_agree_with_differences(check_gradient):
    x = np.random.default_rng(1).standard_normal((3, 4))
    check_gradient(lambda x: td.clip_by_norm(x, 1.0), x)
    check_gradient(lambda x: td.clip_by_norm(x, 9.0), x)
    check_gradient(lambda x: td.clip_by_norm(x, 1.5, axes=[1]), x)
    check_gradient(lambda x: td.stack(td.clip_by_global_norm([x, 2.0 * x], 1.0)[0]), x, second=False)


def test_norms_are_cut_and_small_ones_kept(every_mode):
    x = np.float32([[3, 4], [0, 0]])
    whole, rows, kept = every_mode(lambda x: (td.clip_by_norm(x, 1.0), td.clip_by_norm(x, 1.0, axes=-1), td.clip_by_norm(x, 10.0)), x, rank=False)
    np.testing.assert_allclose(whole, x / 5, rtol=1e-6)
    np.testing.assert_allclose(rows, x / 5, rtol=1e-6)
    np.testing.assert_array_equal(kept, x)
    assert gradient(lambda x: td.clip_by_norm(x, 1.0), [0.0, 0.0]) == [[1, 1]]


def test_a_global_norm_scales_all_and_passes_none_over():
    (a, nothing, b), norm = td.clip_by_global_norm([td.constant([3.0]), None, td.constant([[4.0]])], 1.0)
    assert nothing is None
    np.testing.assert_allclose((a[0], b[0, 0], norm), (0.6, 0.8, 5), rtol=1e-6)
    (c,), norm = td.clip_by_global_norm([td.constant([3.0])], 1.0, use_norm=td.constant(6.0))
    np.testing.assert_allclose((c[0], norm), (0.5, 6), rtol=1e-6)
    (d,), norm = td.clip_by_global_norm([td.constant([np.inf, 1.0])], 1.0)
    assert np.isnan(d).all()
    assert np.isinf(norm)
    (e,), norm = td.clip_by_global_norm([td.zeros([2])], 1.0)
    assert (e.numpy().tolist(), float(norm)) == ([0, 0], 0)


def test_what_is_no_list_of_tensors_is_refused():
    with pytest.raises(TypeError, match="list"):
        td.clip_by_global_norm(td.ones([2]), 1.0)
    with pytest.raises(ValueError, match="clip_norm"):
        td.clip_by_norm(td.ones([2]), td.ones([2, 2]))
