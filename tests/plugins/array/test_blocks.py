"""Chains of calls in blocks give what they give on the whole, for every number of elements and every way to broadcast."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from treadle_array.blocks import BLOCK, bound, broadcasting, chosen, elementwise, scalars


def steps(x, y, out, scratch, two):
    np.multiply(x, two, scratch)
    np.add(scratch, y, out)


@pytest.mark.parametrize("size", [0, 1, 511, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_blocks_do_not_show(size, dtype):
    rng = np.random.default_rng(1)
    x, y = rng.random(size).astype(dtype), rng.random(size).astype(dtype)
    kernel = elementwise(np, steps, 2, scratch=1)
    wide = np.float32 if np.dtype(dtype).itemsize == 2 else dtype
    want = (x.astype(wide) * 2 + y.astype(wide)).astype(dtype)
    np.testing.assert_array_equal(kernel(x, y), want)
    out = np.zeros(size, dtype)
    assert kernel(x, y, out=out) is out
    np.testing.assert_array_equal(out, want)


def test_a_scalar_stays_a_scalar_and_shapes_must_be_equal():
    kernel = elementwise(np, steps, 2, scratch=1)
    assert kernel(np.array(1.0), np.array(2.0)).shape == ()
    with pytest.raises(ValueError, match="shapes"):
        kernel(np.ones(3), np.ones((3, 1)))


@pytest.mark.parametrize(
    "shapes",
    [
        [(3, 4), (4,)],
        [(3, 4), (3, 1), (4,)],
        [(700, 300), (300,), (700, 1)],
        [(3000, 64), (64,), ()],
        [(4, 3, 200, 200), (3, 1, 1), (1, 3, 1, 1)],
        [(2, 300, 400), (300, 1), (2, 1, 1)],
        [(1, 200_000), (1,)],
        [(5,), (6, 5), (6, 1)],
        [(), ()],
        [(0, 3), (3,)],
        [(2, 0, 3), (2, 1, 1)],
        [(200_000, 1), (1, 1)],
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_every_way_to_broadcast(shapes, dtype):
    arrays = [np.random.default_rng(i).random(s).astype(dtype) for i, s in enumerate(shapes)]

    def add_up(*arguments):
        *inputs, out = arguments
        out[...] = inputs[0]
        for other in inputs[1:]:
            np.add(out, other, out)

    want = sum(a.astype(np.float32) for a in arrays[1:])
    want = (arrays[0].astype(np.float32) + want).astype(dtype)
    kernel = broadcasting(np, add_up)
    got = kernel(arrays)
    assert got.shape == np.broadcast_shapes(*shapes)
    np.testing.assert_allclose(got, want, rtol=2 * float(np.finfo(dtype).eps))
    out = np.empty(got.shape, dtype)
    assert kernel(arrays, out) is out
    np.testing.assert_array_equal(out, got)


def test_shapes_that_do_not_broadcast_are_refused():
    with pytest.raises(ValueError, match="do not broadcast"):
        broadcasting(np, lambda x, y, out: None)([np.ones(3), np.ones(4)])


def test_operands_have_the_dtype_of_the_array():
    for dtype in (np.float32, np.int8, np.float64):
        (three,) = scalars(np, 3)(np.dtype(dtype))
        assert (three.shape, three.dtype) == ((), np.dtype(dtype))
        for shape in ((), (4,), (600,), (30, 40), (BLOCK + 1,)):
            x = np.zeros(shape, dtype)
            assert np.maximum(x, bound(np, 3)(x)).tolist() == np.full(shape, 3).tolist()


def test_the_latest_kernels_are_kept():
    made = []
    kernels = chosen(lambda alpha: made.append(alpha) or (lambda: alpha))
    assert kernels(1.0) is kernels(1.0)
    for i in range(200):
        assert kernels(i)() == i
    assert made.count(1.0) <= 2
