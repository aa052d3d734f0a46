"""The CPU's own kernels along rows and columns agree with those written for any array module, whatever the shape."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from treadle_array.kernels import cross_entropy as any_cross_entropy
from treadle_array.kernels import moments as any_moments
from treadle_array.kernels import softmax as any_softmax
from treadle_cpu.kernels import cross_entropy, moments, softmax
from treadle_cpu.rows import column_sum, row_max, row_sum

DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
SHAPES = [
    (),
    (5,),
    (0, 4),
    (3, 0),
    (1, 1),
    (32, 10),
    (900, 3),
    (300, 24),
    (300, 25),
    (40, 300),
    (2, 40_000),
    (4, 5, 6),
    (3, 60, 50),
    (2, 3, 5000),
    (90, 24, 2),
]


def normal(shape, dtype, seed=1):
    return (np.random.default_rng(seed).standard_normal(shape) * 3).astype(dtype)


def assert_close(got, reference, dtype):
    """Within a few ulps of what the other kernel gives in float64."""
    scale = max(1.0, float(np.max(np.abs(reference), initial=0)))
    np.testing.assert_allclose(got.astype(np.float64), reference, rtol=0, atol=16 * float(ml_dtypes.finfo(dtype).eps) * scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmax_grad", "log_softmax_grad"])
def test_softmax_and_its_kin(name, shape, dtype):
    own, reference = getattr(softmax, name)(np), getattr(any_softmax, name)(np)
    for axis in range(-len(shape), len(shape)):
        x = normal(shape, dtype)
        if name.endswith("grad") and x.size:
            x = getattr(softmax, name.removesuffix("_grad"))(np)(x, axis=axis)
        inputs = [normal(shape, dtype, 2), x] if name.endswith("grad") else [x]
        before = [i.copy() for i in inputs]
        got = own(*inputs, axis=axis)
        assert got.shape == shape
        assert got.dtype == dtype
        assert got.flags.c_contiguous
        assert_close(got, reference(*[i.astype(np.float64) for i in inputs], axis=axis), dtype)
        out = np.full(shape, 7, dtype)
        assert own(*inputs, axis=axis, out=out) is out
        np.testing.assert_array_equal(out, got)
        for given, kept in zip(inputs, before, strict=True):
            np.testing.assert_array_equal(given, kept)
    for axis in (len(shape), -len(shape) - 1):
        for kernel in (own, reference):
            with pytest.raises(ValueError, match="axis"):
                kernel(*[normal(shape, dtype)] * (2 if name.endswith("grad") else 1), axis=axis)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [s for s in SHAPES if s and s[-1]])
def test_cross_entropies(shape, dtype):
    x, weights = normal(shape, dtype), (np.random.default_rng(3).random(shape) / shape[-1]).astype(dtype)
    labels = np.random.default_rng(4).integers(0, shape[-1], shape[:-1])
    for name, target in (("sparse_softmax_cross_entropy", labels), ("softmax_cross_entropy", weights)):
        own, reference = getattr(cross_entropy, name)(np), getattr(any_cross_entropy, name)(np)
        wide = target if target is labels else target.astype(np.float64)
        for got, want in zip(own(target, x), reference(wide, x.astype(np.float64)), strict=True):
            assert got.shape == want.shape
            assert got.dtype == dtype
            assert got.flags.c_contiguous
            assert_close(got, want, dtype)


def test_labels_out_of_range_are_refused_by_both():
    x = np.ones((2, 5), np.float32)
    for module in (cross_entropy, any_cross_entropy):
        kernel = module.sparse_softmax_cross_entropy(np)
        for labels in (np.array([0, 5]), np.array([-1, 0]), np.array([-1, 0], np.int8)):
            with pytest.raises(ValueError, match="labels must be in"):
                kernel(labels, x)
        with pytest.raises(ValueError, match="do not fit"):
            kernel(np.array([0, 1, 2]), x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [s for s in SHAPES if 0 not in s])
def test_moments(shape, dtype):
    own, reference = moments.moments(np), any_moments.moments(np)
    rank = len(shape)
    for axis in {None, (), *[(a,) for a in range(-rank, rank)], tuple(range(rank)), tuple(range(1, rank)), (0, rank - 1) if rank > 1 else ()}:
        for keepdims in (False, True):
            x = normal(shape, dtype) + dtype(2)
            got = own(x, axis=axis, keepdims=keepdims)
            for ours, want in zip(got, reference(x.astype(np.float64), axis=axis, keepdims=keepdims), strict=True):
                assert ours.shape == want.shape
                assert ours.dtype == dtype
                assert_close(ours, want, dtype)


def test_sums_and_maxima():
    rng = np.random.default_rng(5)
    for count in [*range(1, 70), 1000]:
        x = rng.random((count, 3))
        before = x.copy()
        np.testing.assert_allclose(column_sum(x), x.sum(0), rtol=1e-14)
        np.testing.assert_array_equal(x, before)
        np.testing.assert_allclose(column_sum(rng.random((count, 9))[:, 2:5]).shape, (3,))
        np.testing.assert_allclose(row_sum(x), x.sum(1, keepdims=True), rtol=1e-14)
        np.testing.assert_array_equal(row_max(x), x.max(1, keepdims=True))
        np.testing.assert_allclose(row_sum(x[0]), [x[0].sum()], rtol=1e-14)
        np.testing.assert_array_equal(row_max(x[0]), [x[0].max()])


def test_a_column_sum_of_many_rows_is_accurate():
    x = np.full((1_000_000, 2), 0.1, np.float32)
    np.testing.assert_allclose(column_sum(x), np.float64(np.float32(0.1)) * 1e6, rtol=2e-7)
