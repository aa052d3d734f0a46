"""Pooling and dilation give what going through all windows one by one gives, whichever way they take."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from treadle_array.kernels import morphology, pooling
from treadle_array.kernels.window import geometry

CASES = [
    # sizes, window, strides, dilations, padding
    ((6, 8), (2, 2), (2, 2), (1, 1), "SAME"),
    ((6, 8), (3, 2), (3, 2), (1, 1), "VALID"),
    ((7, 5), (2, 2), (2, 2), (1, 1), "SAME"),
    ((7, 5), (2, 2), (2, 2), (1, 1), "VALID"),
    ((6, 6), (2, 3), (3, 3), (1, 1), ((1, 1), (0, 2))),
    ((6, 7), (3, 3), (1, 1), (1, 1), "SAME"),
    ((7, 7), (2, 2), (3, 3), (2, 2), "VALID"),
    ((7, 7), (2, 2), (2, 2), (2, 2), "SAME"),
    ((5,), (1,), (1,), (1,), "VALID"),
    ((4, 4, 4), (2, 2, 2), (2, 2, 2), (1, 1, 1), "SAME"),
]
DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]


def met(sizes, window, strides, dilations, padding):
    """For every window its index, and the elements that it has inside, in the order of the taps."""
    counts, before = geometry(sizes, window, strides, dilations, padding)
    for index in itertools.product(*map(range, counts)):
        found = []
        for tap in itertools.product(*map(range, window)):
            place = tuple(i * s + t * d - b for i, t, s, d, b in zip(index, tap, strides, dilations, before, strict=True))
            if all(0 <= p < n for p, n in zip(place, sizes, strict=True)):
                found.append((tap, place))
        yield index, found


def attributes(case):
    return dict(zip(("window", "strides", "dilations", "padding"), case[1:], strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES)
def test_the_gradient_of_a_mean_is_shared_among_the_elements_inside(case, dtype):
    counts, _ = geometry(*case)
    g = np.random.default_rng(0).integers(-9, 9, (2, *counts, 3)).astype(dtype)
    want = np.zeros((2, *case[0], 3))
    for index, found in met(*case):
        for _, place in found:
            want[:, *place] += g[:, *index].astype(np.float64) / len(found)
    got = pooling.avg_pool_grad(np)((2, *case[0], 3), g, **attributes(case))
    assert got.dtype == dtype
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=0, atol=64 * float(ml_dtypes.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", [*DTYPES, np.int32])
@pytest.mark.parametrize("case", CASES)
def test_a_maximum_and_its_gradient(case, dtype):
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 3, (2, *case[0], 3)).astype(dtype)
    got = pooling.max_pool(np)(x, **attributes(case))
    want, gradient = np.zeros(got.shape, dtype), np.zeros(x.shape)
    g = rng.integers(-9, 9, got.shape).astype(np.float32)
    for index, found in met(*case):
        stacked = np.stack([x[:, *place] for _, place in found], -1)
        want[:, *index] = stacked.max(-1)
        for b, c in np.ndindex(2, 3):
            gradient[b, *found[int(stacked[b, c].argmax())][1], c] += g[b, *index, c]
    np.testing.assert_array_equal(got, want)
    assert got.dtype == dtype
    if np.dtype(dtype).kind != "i":
        np.testing.assert_array_equal(pooling.max_pool_grad(np)(x, got, g, **attributes(case)), gradient)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_nan_is_no_candidate_and_a_window_of_none_gives_the_lowest_number(dtype):
    x = np.array([1, np.nan, np.nan, np.nan, -np.inf, -np.inf, np.inf, 2], dtype).reshape(1, 8, 1)
    attrs = {"window": (2,), "strides": (2,), "dilations": (1,), "padding": "VALID"}
    lowest = float(np.finfo(dtype).min)
    assert pooling.max_pool(np)(x, **attrs).ravel().tolist() == [1, lowest, lowest, np.inf]
    plane, filters = x.reshape(1, 8, 1, 1), np.zeros((2, 1, 1), dtype)
    attrs = {"strides": (2, 1), "dilations": (1, 1), "padding": "VALID"}
    assert morphology.dilation2d(np)(plane, filters, **attrs).ravel().tolist() == [1, lowest, lowest, np.inf]


@pytest.mark.parametrize("case", [c for c in CASES if len(c[0]) == 2 and isinstance(c[4], str)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16, np.int32])
def test_dilation(case, dtype):
    rng = np.random.default_rng(0)
    x, w = rng.integers(-9, 9, (2, *case[0], 3)).astype(dtype), rng.integers(-9, 9, (*case[1], 3)).astype(dtype)
    got = morphology.dilation2d(np)(x, w, strides=case[2], padding=case[4], dilations=case[3])
    for index, found in met(*case):
        np.testing.assert_array_equal(got[:, *index], np.max([x[:, *place] + w[tap] for tap, place in found], 0))
    assert got.dtype == dtype


def test_nothing_has_no_windows():
    attrs = {"window": (2, 2), "strides": (2, 2), "dilations": (1, 1), "padding": "SAME"}
    empty = np.zeros((0, 4, 4, 2), np.float32)
    assert pooling.max_pool(np)(empty, **attrs).shape == (0, 2, 2, 2)
    assert pooling.avg_pool_grad(np)((0, 4, 4, 2), np.zeros((0, 2, 2, 2), np.float32), **attrs).shape == (0, 4, 4, 2)
    assert morphology.dilation2d(np)(empty, np.zeros((2, 2, 2), np.float32), strides=(2, 2), padding="SAME", dilations=(1, 1)).shape == (0, 2, 2, 2)
