"""Tensors put together along an axis and taken apart: concat, stack, split, unstack."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError


def counted(shape, dtype=np.float32):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_concat_and_stack_agree_with_numpy(every_mode, check_linear, axis):
    x = counted((2, 3, 4))
    np.testing.assert_array_equal(every_mode(lambda t: td.concat([t, t + 1, t], axis), x)[0], np.concatenate([x, x + 1, x], axis))
    np.testing.assert_array_equal(every_mode(lambda t: td.stack((t, t + 1), axis), x)[0], np.stack([x, x + 1], axis))
    check_linear(lambda t: td.concat([t, t], axis), (2, 3, 4))
    check_linear(lambda t: td.stack([t, t], axis), (2, 3, 4))


def test_concat_of_different_sizes_gives_every_input_its_gradient(every_mode):
    parts = [counted(s) for s in ((2, 3), (0, 3), (4, 3))]

    def gradients(*tensors):
        with td.GradientTape() as tape:
            tape.watch(tensors)
            joined = td.concat(list(tensors), 0)
        return tape.gradient(joined, tensors, output_gradients=td.constant(counted((6, 3))))

    got = every_mode(gradients, *parts)
    for gradient, want in zip(got, np.split(counted((6, 3)), [2, 2]), strict=True):
        np.testing.assert_array_equal(gradient, want)


def test_one_input_is_joined_with_nothing(every_mode):
    x = counted((2, 3))
    np.testing.assert_array_equal(every_mode(lambda t: td.concat([t], 0), x)[0], x)
    np.testing.assert_array_equal(every_mode(lambda t: td.concat(t, 0), x)[0], x)


def test_numbers_and_lists_take_the_dtype_of_the_tensors(every_mode):
    x = counted((2,), np.float64)
    assert every_mode(lambda t: td.concat([[1, 2], t], 0), x)[0].dtype == np.float64
    assert every_mode(lambda: td.stack([1, 2, 3]))[0].tolist() == [1, 2, 3]
    assert td.function(lambda t: td.stack(t))(td.ones([2, 2])).shape == (2, 2)
    assert every_mode(lambda t: td.parallel_stack([t, t]), x)[0].shape == (2, 2)


def test_joining_refuses_what_does_not_fit(refuses):
    a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    refuses(ShapeError, lambda x, y: td.concat([x, y], 1), a, b)
    refuses(ShapeError, lambda x, y: td.concat([x, y], 0), a, np.ones(3, np.float32))
    refuses(InvalidArgumentError, lambda x: td.concat([x, x], 2), a)
    refuses(ShapeError, lambda x: td.concat([x, x], 0), np.float32(1), match="td.stack")
    refuses(DTypeError, lambda x, y: td.concat([x, y], 0), a, a.astype(np.float64))
    refuses(ShapeError, lambda x, y: td.stack([x, y]), a, b)
    refuses(InvalidArgumentError, lambda x: td.stack([x, x], 3), a)
    refuses(InvalidArgumentError, lambda: td.concat([], 0))
    refuses(InvalidArgumentError, lambda: td.stack([]))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_split_agrees_with_numpy(every_mode, check_linear, axis):
    x = counted((4, 6))
    size = x.shape[axis]
    for sizes in ([1, size - 1], [size], [2, 0, size - 2], [-1, 1], [1, -1, 1]):
        ends = np.cumsum([size - 1 - sum(n for n in sizes if n > 0) + 1 if n < 0 else n for n in sizes])[:-1]
        for got, want in zip(every_mode(lambda t, s=sizes: td.split(t, s, axis), x), np.split(x, ends, axis), strict=True):
            np.testing.assert_array_equal(got, want)
        check_linear(lambda t, s=sizes: td.split(t, s, axis), (4, 6))
    for got, want in zip(every_mode(lambda t: td.split(t, 2, axis), x), np.split(x, 2, axis), strict=True):
        np.testing.assert_array_equal(got, want)
    check_linear(lambda t: td.split(t, 2, axis), (4, 6))


def test_the_sizes_of_pieces_may_be_a_tensor(every_mode):
    x, sizes = counted((6, 2)), np.array([1, 2, 3], np.int64)
    for got, want in zip(every_mode(lambda t, s: td.split(t, s, num=3), x, sizes), np.split(x, [1, 3]), strict=True):
        np.testing.assert_array_equal(got, want)

    @td.function(input_signature=[td.TensorSpec([None], td.int32)])
    def unknown(sizes):
        return td.split(td.zeros([6]), sizes)

    with pytest.raises(ValueError, match="num"):
        unknown([3, 3])


def test_a_gradient_flows_through_some_pieces_only(every_mode):
    def gradient(t):
        with td.GradientTape() as tape:
            tape.watch(t)
            middle = td.split(t, [1, 2, -1])[1]
        return tape.gradient(middle, t)

    assert every_mode(gradient, counted((5,)))[0].tolist() == [0, 1, 1, 0, 0]


def test_split_refuses_what_does_not_add_up(refuses):
    x = np.ones((5, 2), np.float32)
    for sizes in (2, [1, 2], [6, -1], [-1, -1], [7, -2], 0, -1, []):
        refuses(InvalidArgumentError, lambda t, s=sizes: td.split(t, s), x)
    refuses(InvalidArgumentError, lambda t: td.split(t, 1, axis=2), x)
    refuses(InvalidArgumentError, lambda t: td.split(t, [2, 3], num=3), x)
    refuses(InvalidArgumentError, lambda t: td.split(t, td.constant(2)), x)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_unstack_is_the_inverse_of_stack(every_mode, check_linear, axis):
    x = counted((2, 3, 4))
    pieces = every_mode(lambda t: td.unstack(t, num=x.shape[axis], axis=axis), x)
    for got, want in zip(pieces, np.moveaxis(x, axis, 0), strict=True):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.asarray(td.stack(td.unstack(td.constant(x), axis=axis), axis)), x)
    check_linear(lambda t: td.unstack(t, x.shape[axis], axis), (2, 3, 4))


def test_unstack_gives_scalars_of_a_vector(every_mode):
    got = every_mode(lambda t: td.unstack(t, 3), counted((3,)))
    assert [g.shape for g in got] == [()] * 3
    assert [float(g) for g in got] == [0, 1, 2]


def test_unstack_refuses_what_it_cannot_count(refuses):
    refuses(ShapeError, lambda t: td.unstack(t, num=3), np.ones((2, 3)))
    refuses(ValueError, td.unstack, np.float32(1))
    refuses(InvalidArgumentError, lambda t: td.unstack(t, 2, axis=2), np.ones((2, 3)))

    @td.function(input_signature=[td.TensorSpec([None, 3], td.float32)])
    def unknown(t):
        return td.unstack(t)

    with pytest.raises(ValueError, match="num"):
        unknown(td.ones([2, 3]))
