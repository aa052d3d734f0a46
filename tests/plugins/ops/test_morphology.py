"""Grey-scale dilation and erosion, compared with plain loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treadle as td
from treadle.errors import InvalidArgumentError, ShapeError

# window, strides, dilations, padding
CASES = [
    ((2, 3), (1, 1), (1, 1), "SAME"),
    ((3, 2), (2, 1), (1, 2), "SAME"),
    ((2, 2), (1, 2), (2, 1), "VALID"),
]


def attributes(case):
    _, (sh, sw), (dh, dw), padding = case
    return {"strides": [1, sh, sw, 1], "padding": padding, "data_format": "NHWC", "dilations": [1, dh, dw, 1]}


def taps(x, case):
    """For every window the taps inside, with the places that they meet, in order."""
    window, strides, dilations, padding = case
    counts, starts = [], []
    for n, k, s, d in zip(x.shape[1:3], window, strides, dilations, strict=True):
        extent = (k - 1) * d + 1
        counts.append(-(-n // s) if padding == "SAME" else (n - extent) // s + 1)
        starts.append(max((counts[-1] - 1) * s + extent - n, 0) // 2 if padding == "SAME" else 0)
    for place in itertools.product(*map(range, counts)):
        found = []
        for tap in itertools.product(*map(range, window)):
            at = tuple(o * s - b + t * d for o, s, b, t, d in zip(place, strides, starts, tap, dilations, strict=True))
            if 0 <= at[0] < x.shape[1] and 0 <= at[1] < x.shape[2]:
                found.append((tap, at))
        yield place, found


@pytest.mark.parametrize("case", CASES)
def test_dilation_and_its_gradients_of_any_order(every_mode, case):
    rng = np.random.default_rng(8)
    x, w = rng.integers(-3, 4, (2, 5, 6, 2)).astype(np.float64), rng.integers(-2, 3, (*case[0], 2)).astype(np.float64)
    x[rng.random(x.shape) < 0.1] = np.nan
    u, v = rng.standard_normal(x.shape), rng.standard_normal(w.shape)
    g = rng.standard_normal(td.nn.dilation2d(x, w, **attributes(case)).shape)

    def gradients(x, w, g, u, v):
        with td.GradientTape(persistent=True) as tape:
            tape.watch([g, u, v])
            with td.GradientTape() as inner:
                inner.watch([x, w])
                y = td.nn.dilation2d(x, w, **attributes(case))
            dx, dw = inner.gradient(y, [x, w], output_gradients=g)
            by_x, by_w = tape.gradient(dx, g, output_gradients=u), tape.gradient(dw, g, output_gradients=v)
            back_x, back_w = tape.gradient(by_x, u, output_gradients=g), tape.gradient(by_w, v, output_gradients=g)
        return y, dx, dw, by_x, by_w, back_x, back_w

    y, dx, dw, by_x, by_w, back_x, back_w = every_mode(gradients, x, w, g, u, v)
    want_dx, want_dw, want_y = np.zeros(x.shape), np.zeros(w.shape), np.empty(y.shape)
    picked_x, picked_w = np.empty(y.shape), np.empty(y.shape)
    for place, found in taps(x, case):
        for b, c in itertools.product(range(2), range(2)):
            sums = [x[b, *at, c] + w[*tap, c] for tap, at in found]
            best = max((s for s in sums if not np.isnan(s)), default=np.finfo(np.float64).min)
            tap, at = found[sums.index(best)] if best in sums else found[0]
            here = (b, *place, c)
            want_y[here], picked_x[here], picked_w[here] = best, u[b, *at, c], v[*tap, c]
            want_dx[b, *at, c] += g[here]
            want_dw[*tap, c] += g[here]
    np.testing.assert_array_equal(y, want_y)
    for got, want in ((dx, want_dx), (dw, want_dw), (by_x, picked_x), (by_w, picked_w), (back_x, want_dx), (back_w, want_dw)):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_erosion_is_the_smallest_difference(every_mode, case):
    rng = np.random.default_rng(9)
    x, w = rng.standard_normal((1, 5, 6, 2)), rng.standard_normal((*case[0], 2))
    (got,) = every_mode(lambda x, w: td.nn.erosion2d(x, w, **attributes(case)), x, w)
    want = -td.nn.dilation2d(-x, w[::-1, ::-1].copy(), **attributes(case)).numpy()
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "bfloat16", "float16"])
def test_dilation_of_other_dtypes(dtype):
    x, w = np.arange(16).reshape(1, 4, 4, 1), np.array([[0, 1], [2, 0]]).reshape(2, 2, 1)
    got = td.nn.dilation2d(td.cast(x, dtype), td.cast(w, dtype), 1, "VALID", "NHWC", 1)
    assert got.dtype.name == dtype
    assert got.numpy().astype(int).ravel().tolist() == [6, 7, 8, 10, 11, 12, 14, 15, 16]


def test_an_empty_batch_gives_an_empty_result(every_mode):
    w = np.ones((2, 2, 3), np.float32)
    (got,) = every_mode(lambda x: td.nn.dilation2d(x, w, 1, "SAME", "NHWC", 1), np.ones((0, 4, 4, 3), np.float32))
    assert got.shape == (0, 4, 4, 3)


def test_morphology_refuses_what_does_not_fit(refuses):
    x, w = np.ones((1, 3, 3, 2), np.float32), np.ones((2, 2, 3), np.float32)
    refuses(ShapeError, lambda x, w: td.nn.dilation2d(x, w, 1, "SAME", "NHWC", 1), x, w)
    refuses(ShapeError, lambda x, w: td.nn.dilation2d(x, w, 1, "VALID", "NHWC", 3), x, w[..., :2], match="window")
    refuses(ShapeError, lambda x, w: td.nn.erosion2d(x, w, 1, "SAME", "NHWC", 1), x, w[0])
    refuses(InvalidArgumentError, lambda x, w: td.nn.dilation2d(x, w, 1, "SAME", "NCHW", 1), x, w[..., :2], match="NHWC")
    refuses(InvalidArgumentError, lambda x, w: td.nn.dilation2d(x, w, 1, "FULL", "NHWC", 1), x, w[..., :2], match="FULL")
