"""Recurrences step by step and by halves give the same, along any axis; least squares the same alone and in a batch."""

from __future__ import annotations

import numpy as np
import pytest

from treadle_array.kernels import activations, cumulative, linear_systems


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.complex64])
@pytest.mark.parametrize(("shape", "axis"), [((5,), 0), ((1,), 0), ((200,), 0), ((300, 400), 0), ((4, 3, 6), 1), ((4, 0), 0), ((0, 4), 0)])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_linear_recurrence(shape, axis, dtype, reverse):
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(-0.9, 0.9, shape).astype(dtype) for _ in range(2))
    factors, terms = (np.moveaxis(np.flip(t, axis) if reverse else t, axis, 0).astype(np.complex128) for t in (a, b))
    want = terms.copy()
    for k in range(1, len(want)):
        want[k] += factors[k] * want[k - 1]
    want = np.moveaxis(want, 0, axis)
    got = cumulative.linear_recurrence(np)(a, b, axis=axis, reverse=reverse)
    assert got.dtype == dtype
    eps = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(got.astype(np.complex128), np.flip(want, axis) if reverse else want, rtol=0, atol=30 * eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize(("rows", "columns"), [(6, 3), (3, 6), (4, 4)])
def test_least_squares_alone_and_in_a_batch(rows, columns, dtype):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, rows, columns)).astype(dtype), rng.standard_normal((2, rows, 2)).astype(dtype)
    a[1, :, 1] = a[1, :, 0]  # of lower rank: the shortest solution is wanted
    solve = linear_systems.lstsq(np)
    together = solve(a, b)
    for one, right, want in zip(a, b, together, strict=True):
        np.testing.assert_allclose(solve(one, right), want, rtol=0, atol=300 * float(np.finfo(dtype).eps))
        assert solve(one, right).flags.c_contiguous


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("shape", [(), (7,), (0,), (40_000,), (3, 5)])
def test_relu6_and_its_gradient(shape, dtype):
    x = np.resize(np.array([-np.inf, -1, 0, 0.5, 6, 7, np.inf, np.nan], dtype), shape)
    out = np.empty(shape, dtype)
    assert activations.relu6(np)(x, out=out) is out
    np.testing.assert_array_equal(out, np.minimum(np.maximum(x, 0), 6))
    g = np.resize(np.array([2, 3, -1], dtype), shape)
    np.testing.assert_array_equal(activations.relu6_grad(np)(g, out), g * ((out > 0) & (out < 6)))
