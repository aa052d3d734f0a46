"""Tensors repeated, whole or element by element."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError


def counted(shape, dtype=np.float32):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


TILES = [
    ((2, 3), [2, 1]),
    ((3,), [4]),
    ((2, 3), [0, 2]),
    ((), []),
    ((2, 3), [1, 1]),
    ((1, 1), [30, 40]),
    ((100,), [3]),
    ((2, 1, 3), [2, 3, 2]),
    ((0, 2), [2, 2]),
]


@pytest.mark.parametrize(("shape", "multiples"), TILES)
def test_tile_agrees_with_numpy(every_mode, check_linear, shape, multiples):
    x = counted(shape)
    want = np.tile(x, multiples).reshape([d * n for d, n in zip(shape, multiples, strict=True)])
    np.testing.assert_array_equal(every_mode(lambda t: td.tile(t, multiples), x)[0], want)
    np.testing.assert_array_equal(every_mode(td.tile, x, np.array(multiples, np.int64))[0], want)
    check_linear(lambda t: td.tile(t, multiples), shape)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_of_repetition_sum_short_floats_in_float32(dtype):
    x = td.ones([1], dtype)
    for repeated in (lambda: td.tile(x, [4096]), lambda: td.repeat(x, 4096), lambda: td.repeat(x, td.constant([4096]))):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = repeated()
        assert tape.gradient(y, x).numpy().tolist() == [4096.0]


def test_tile_refuses_what_does_not_fit(refuses):
    refuses(ShapeError, lambda t: td.tile(t, [2]), np.ones((2, 3)))
    refuses(ShapeError, lambda t: td.tile(t, [2, 1, 1]), np.ones((2, 3)))
    refuses(InvalidArgumentError, lambda t: td.tile(t, [-1]), np.ones(2))
    refuses(DTypeError, lambda t: td.tile(t, [1.5]), np.ones(2))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_repeat_agrees_with_numpy(every_mode, check_linear, axis):
    x = counted((2, 3))
    size = x.size if axis is None else x.shape[axis]
    for repeats in (0, 1, 3, [2], list(range(size)), [0] * size):
        want = np.repeat(x, repeats, axis)
        np.testing.assert_array_equal(every_mode(lambda t, r=repeats: td.repeat(t, r, axis), x)[0], want)
        np.testing.assert_array_equal(every_mode(lambda t, r: td.repeat(t, r, axis=axis), x, np.array(repeats, np.int32))[0], want)
        check_linear(lambda t, r=repeats: td.repeat(t, r, axis), (2, 3))


def test_repeat_takes_scalars_and_other_dtypes(every_mode):
    assert every_mode(lambda t: td.repeat(t, 3), np.float32(2))[0].tolist() == [2, 2, 2]
    for dtype in (bool, np.uint8, np.complex64, np.int64):
        x = np.ones((2, 2), dtype)
        np.testing.assert_array_equal(every_mode(lambda t: td.repeat(t, [1, 2], 0), x)[0], np.repeat(x, [1, 2], 0), strict=True)


def test_the_length_of_a_repetition_is_known_while_tracing():
    @td.function(input_signature=[td.TensorSpec([None, 3], td.float32)])
    def traced(x):
        assert td.repeat(x, [1, 0, 2], axis=1).shape.as_list() == [None, 3]
        assert td.repeat(x, 2, axis=1).shape.as_list() == [None, 6]
        assert td.tile(x, [2, 2]).shape.as_list() == [None, 6]
        return td.reshape(td.repeat(x, 2, axis=0), [2 * td.shape(x)[0], 3])

    assert traced(td.ones([2, 3])).shape == (4, 3)


def test_repeat_refuses_what_does_not_fit(refuses):
    x = np.ones((2, 3), np.float32)
    refuses(ShapeError, lambda t: td.repeat(t, [1, 2, 3], axis=0), x)
    refuses(ShapeError, lambda t: td.repeat(t, [[1, 2]], axis=0), x)
    refuses(InvalidArgumentError, lambda t: td.repeat(t, [1, -2], axis=0), x)
    refuses(InvalidArgumentError, lambda t: td.repeat(t, -1, axis=0), x)
    refuses(InvalidArgumentError, lambda t: td.repeat(t, 2, axis=2), x)
    refuses(DTypeError, lambda t: td.repeat(t, 2.5), x)


def test_multiples_make_the_rank_known(shape_while_tracing):
    assert shape_while_tracing(lambda x: td.tile(x, [2, 0]), None) == (None, 0)
    assert shape_while_tracing(td.tile, None, [2], dtypes=["float32", "int32"]) == (None, None)
    assert shape_while_tracing(td.tile, None, [None], dtypes=["float32", "int32"]) is None
