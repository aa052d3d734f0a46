"""Blocks of space moved into the batch or into the channels, and back."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import InvalidArgumentError, ShapeError


def counted(shape, dtype=np.float32):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def strided(x, block, paddings):
    """Each place inside the block, one after the other, with the elements at that place of every block."""
    count = len(block)
    padded = np.pad(x, [(0, 0), *paddings, *[(0, 0)] * (x.ndim - count - 1)])
    places = np.ndindex(*block)
    return np.concatenate([padded[(slice(None), *(slice(at, None, b) for at, b in zip(place, block, strict=True)))] for place in places])


BLOCKS = [
    ((1, 4, 4, 2), [2, 2], [[0, 0], [2, 0]]),
    ((2, 3, 1), [1], [[1, 2]]),
    ((2, 3), [2], [[1, 0]]),
    ((2, 4, 6, 3), [2, 3], [[0, 0], [0, 0]]),
    ((0, 4, 2), [2], [[0, 0]]),
]


@pytest.mark.parametrize(("shape", "block", "paddings"), BLOCKS)
def test_space_goes_into_the_batch_and_back(every_mode, check_linear, shape, block, paddings):
    x = counted(shape)
    want = strided(x, block, paddings)
    for function in (td.space_to_batch, td.space_to_batch_nd, td.nn.space_to_batch):
        np.testing.assert_array_equal(every_mode(lambda t, f=function: f(t, block, paddings), x)[0], want)
    np.testing.assert_array_equal(every_mode(lambda t, b, p: td.space_to_batch(t, b, p), x, np.array(block), np.array(paddings), rank=False)[0], want)
    np.testing.assert_array_equal(every_mode(lambda t: td.batch_to_space(t, block, paddings), want)[0], x)
    check_linear(lambda t: td.space_to_batch(t, block, paddings), shape)
    check_linear(lambda t: td.batch_to_space(t, block, paddings), want.shape)


def test_one_int_is_a_square_block():
    x = counted((4, 1, 1, 1))
    assert td.batch_to_space(td.constant(x), 2, [[0, 0], [0, 0]]).numpy().reshape(2, 2).tolist() == [[0, 1], [2, 3]]


def test_blocks_that_do_not_fit_are_refused(refuses):
    x = np.ones((3, 3, 3, 1), np.float32)
    none = [[0, 0], [0, 0]]
    refuses(InvalidArgumentError, lambda t: td.space_to_batch(t, [2, 2], none), x)
    refuses(InvalidArgumentError, lambda t: td.space_to_batch(t, [0, 1], none), x)
    refuses(InvalidArgumentError, lambda t: td.space_to_batch(t, [1, 1], [[0, -1], [0, 0]]), x)
    refuses(ShapeError, lambda t: td.space_to_batch(t, [1, 1], [[0, 0]]), x)
    refuses(ShapeError, lambda t: td.space_to_batch(t, [1, 1], none), np.ones((2, 2), np.float32))
    refuses(InvalidArgumentError, lambda t: td.batch_to_space(t, [2, 2], none), x)
    refuses(ShapeError, lambda t: td.batch_to_space(t, [3, 1], [[5, 5], [0, 0]]), x)


@pytest.mark.parametrize("size", [2, 3])
def test_depth_goes_into_space_and_back(every_mode, check_linear, size):
    x = counted((2, 2, 3, 2 * size * size))
    n, h, w, _ = x.shape
    want = np.zeros((n, h * size, w * size, 2), np.float32)
    for i in range(size):
        for j in range(size):
            want[:, i::size, j::size] = x[..., (i * size + j) * 2 :][..., :2]
    np.testing.assert_array_equal(every_mode(lambda t: td.nn.depth_to_space(t, size), x)[0], want)
    np.testing.assert_array_equal(every_mode(lambda t: td.nn.space_to_depth(t, size), want)[0], x)
    first = [0, 3, 1, 2]
    np.testing.assert_array_equal(every_mode(lambda t: td.nn.depth_to_space(t, size, "NCHW"), x.transpose(first))[0], want.transpose(first))
    np.testing.assert_array_equal(every_mode(lambda t: td.nn.space_to_depth(t, size, "NCHW"), want.transpose(first))[0], x.transpose(first))
    check_linear(lambda t: td.nn.depth_to_space(t, size), (1, 1, 2, size * size))
    check_linear(lambda t: td.nn.space_to_depth(t, size, "NCHW"), (1, 2, size, size))


def test_depths_that_do_not_fit_are_refused(refuses):
    x = np.ones((1, 2, 3, 6), np.float32)
    refuses(ShapeError, lambda t: td.nn.depth_to_space(t, 2), x)
    refuses(ShapeError, lambda t: td.nn.space_to_depth(t, 2), x)
    refuses(InvalidArgumentError, lambda t: td.nn.space_to_depth(t, 1), x)
    refuses(InvalidArgumentError, lambda t: td.nn.space_to_depth(t, 2, "CHWN"), x, match="NHWC or NCHW")
    refuses(ShapeError, lambda t: td.nn.depth_to_space(t, 2), x[0])
