"""Tensors made larger at their ends, with constants or with their own elements."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError


def counted(shape, dtype=np.float32):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


PADDED = [((3, 4), [[1, 2], [0, 1]]), ((3,), [[2, 2]]), ((3, 4), [[0, 0], [0, 0]]), ((2, 3, 2), [[1, 0], [2, 2], [0, 1]]), ((), [])]


@pytest.mark.parametrize(("shape", "paddings"), PADDED)
@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "SYMMETRIC", "reflect"])
def test_pad_agrees_with_numpy(every_mode, check_linear, shape, paddings, mode):
    x = counted(shape)
    want = np.pad(x, paddings, mode.lower()) if shape else x
    np.testing.assert_array_equal(every_mode(lambda t: td.pad(t, paddings, mode), x)[0], want)
    np.testing.assert_array_equal(every_mode(lambda t, p: td.pad(t, p, mode), x, np.array(paddings, np.int64).reshape(-1, 2))[0], want)
    check_linear(lambda t: td.pad(t, paddings, mode), shape)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "float16", "complex64"])
def test_the_constant_takes_the_dtype_of_the_tensor(every_mode, dtype):
    x = np.ones((2, 2), dtype)
    one = np.array(1, dtype)
    np.testing.assert_array_equal(every_mode(lambda t: td.pad(t, [[1, 0], [0, 1]]), x)[0], np.pad(x, [[1, 0], [0, 1]]), strict=True)
    np.testing.assert_array_equal(
        every_mode(lambda t, v: td.pad(t, [[1, 0], [0, 1]], constant_values=v), x, one)[0], np.ones((3, 3), dtype), strict=True
    )
    assert every_mode(lambda t: td.pad(t, [[1, 0]], constant_values=7), np.ones(1, np.float64))[0].tolist() == [7, 1]


def test_empty_tensors_can_be_padded(every_mode):
    assert every_mode(lambda t: td.pad(t, [[1, 1], [0, 0]]), np.ones((0, 2)))[0].tolist() == [[0, 0], [0, 0]]
    assert every_mode(lambda t: td.pad(t, [[0, 0], [1, 0]], "SYMMETRIC"), np.ones((0, 2)))[0].shape == (0, 3)


def test_mirrors_reach_as_far_as_there_are_elements(every_mode, check_linear):
    x = counted((3,))
    np.testing.assert_array_equal(every_mode(lambda t: td.pad(t, [[2, 2]], "REFLECT"), x)[0], np.pad(x, 2, "reflect"))
    np.testing.assert_array_equal(every_mode(lambda t: td.pad(t, [[3, 3]], "SYMMETRIC"), x)[0], np.pad(x, 3, "symmetric"))
    check_linear(lambda t: td.pad(t, [[3, 3]], "SYMMETRIC"), (3,))
    check_linear(lambda t: td.pad(t, [[0, 2]], "REFLECT"), (3,))


def test_the_constant_has_no_gradient():
    x, value = td.ones([2]), td.constant(3.0)
    with td.GradientTape() as tape:
        tape.watch([x, value])
        y = td.pad(x, [[1, 1]], constant_values=value)
    by_x, by_value = tape.gradient(y, [x, value])
    assert by_x.numpy().tolist() == [1, 1]
    assert by_value is None


def test_sizes_are_known_while_tracing():
    @td.function(input_signature=[td.TensorSpec([None, 3], td.float32)])
    def traced(x):
        padded = td.pad(x, [[1, 1], [2, 0]])
        assert padded.shape.as_list() == [None, 5]
        return td.reshape(padded, [td.shape(x)[0] + 2, 5])

    assert traced(td.ones([2, 3])).shape == (4, 5)


def test_pad_refuses_what_does_not_fit(refuses):
    x = np.ones((3, 3), np.float32)
    refuses(ShapeError, lambda t: td.pad(t, [[1, 1]]), x)
    refuses(ShapeError, lambda t: td.pad(t, [[1, 1, 1], [1, 1, 1]]), x)
    refuses(InvalidArgumentError, lambda t: td.pad(t, [[1, -1], [0, 0]]), x)
    refuses(InvalidArgumentError, lambda t: td.pad(t, [[3, 0], [0, 0]], "REFLECT"), x)
    refuses(InvalidArgumentError, lambda t: td.pad(t, [[0, 4], [0, 0]], "SYMMETRIC"), x)
    refuses(InvalidArgumentError, lambda t: td.pad(t, [[1, 1], [0, 0]], "EDGE"), x, match="CONSTANT, REFLECT, SYMMETRIC")
    refuses(ShapeError, lambda t: td.pad(t, [[1, 1], [0, 0]], constant_values=t), x)
    refuses(DTypeError, lambda t: td.pad(t, [[1, 1], [0, 0]], constant_values=td.constant(1)), x)
