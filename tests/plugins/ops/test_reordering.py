"""Elements in another order along an axis: reverse, roll, reverse_sequence."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError


def counted(shape, dtype=np.float32):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


@pytest.mark.parametrize(
    ("shape", "axis"), [((2, 3, 4), [0]), ((2, 3, 4), [0, -1]), ((5,), []), ((), []), ((1, 3), [0]), ((0, 2), [1]), ((2, 3), [1, 0])]
)
def test_reverse_agrees_with_numpy(every_mode, check_linear, shape, axis):
    x = counted(shape)
    np.testing.assert_array_equal(every_mode(lambda t: td.reverse(t, axis), x)[0], np.flip(x, tuple(axis)))
    check_linear(lambda t: td.reverse(t, axis), shape)


def test_reverse_refuses_axes_that_are_not_there_or_named_twice(refuses):
    for axis in ([2], [0, 0], [0, -2], [-3]):
        refuses(InvalidArgumentError, lambda t, a=axis: td.reverse(t, a), np.ones((2, 3)))


@pytest.mark.parametrize(
    ("shape", "shift", "axis"),
    [
        ((5,), 7, 0),
        ((2, 3), 1, 0),
        ((2, 3, 4), [1, -2], [0, 2]),
        ((4,), [1, 2], [0, 0]),
        ((0, 3), 1, 0),
        ((3,), 0, -1),
        ((3, 2), [], []),
        ((3, 2), -1, 1),
    ],
)
def test_roll_agrees_with_numpy(every_mode, check_linear, shape, shift, axis):
    x = counted(shape)
    want = np.roll(x, tuple(shift) if isinstance(shift, list) else shift, tuple(axis) if isinstance(axis, list) else axis)
    np.testing.assert_array_equal(every_mode(lambda t: td.roll(t, shift, axis), x)[0], want)
    np.testing.assert_array_equal(
        every_mode(lambda t, s: td.roll(t, s, axis), x, np.array(shift, np.int32), rank=not isinstance(shift, list))[0], want
    )
    check_linear(lambda t: td.roll(t, shift, axis), shape)


def test_the_gradient_of_a_roll_by_a_tensor(every_mode):
    def gradient(t, shift):
        with td.GradientTape() as tape:
            tape.watch(t)
            y = td.roll(t, shift, 0)
        return tape.gradient(y, t, output_gradients=td.constant([1.0, 2.0, 3.0]))

    assert every_mode(gradient, np.zeros(3, np.float32), np.int32(1))[0].tolist() == [2, 3, 1]


def test_roll_refuses_what_does_not_fit(refuses):
    refuses(InvalidArgumentError, lambda t: td.roll(t, 1, 3), np.ones(2))
    refuses(ShapeError, lambda t: td.roll(t, [1, 2], 0), np.ones(2))
    refuses(ShapeError, lambda t: td.roll(t, [1], [0, 1]), np.ones((2, 2)))
    refuses(ValueError, lambda t: td.roll(t, 1, 0), np.float32(1))
    refuses(DTypeError, lambda t: td.roll(t, 0.5, 0), np.ones(2))


def reversed_sequences(x, lengths, seq_axis, batch_axis):
    want = x.copy()
    moved, out = np.moveaxis(x, (batch_axis, seq_axis), (0, 1)), np.moveaxis(want, (batch_axis, seq_axis), (0, 1))
    for b, n in enumerate(lengths):
        out[b, :n] = moved[b, :n][::-1]
    return want


@pytest.mark.parametrize(
    ("shape", "seq_axis", "batch_axis"), [((3, 5), 1, 0), ((5, 3, 2), 0, 1), ((2, 3, 5), -1, 1), ((3, 2, 5), 2, 0), ((3, 0), 1, 0)]
)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_sequences_are_reversed_up_to_their_lengths(every_mode, check_linear, shape, seq_axis, batch_axis, dtype):
    x = counted(shape)
    lengths = np.array([0, shape[seq_axis], 2], dtype).clip(0, shape[seq_axis])
    (got,) = every_mode(lambda t, n: td.reverse_sequence(t, n, seq_axis=seq_axis, batch_axis=batch_axis), x, lengths)
    np.testing.assert_array_equal(got, reversed_sequences(x, lengths, seq_axis, batch_axis))
    check_linear(lambda t: td.reverse_sequence(t, lengths, seq_axis, batch_axis), shape)


def test_the_batch_axis_is_the_first_by_default(every_mode):
    (got,) = every_mode(lambda t: td.reverse_sequence(t, [1, 2], seq_axis=1), counted((2, 3)))
    assert got.tolist() == [[0, 1, 2], [4, 3, 5]]


def test_reverse_sequence_refuses_what_does_not_fit(refuses):
    x = np.ones((3, 4), np.float32)
    for lengths in ([5, 0, 1], [-1, 0, 0], [1, 2], [[1, 2, 3]]):
        refuses(InvalidArgumentError, lambda t, n=lengths: td.reverse_sequence(t, n, 1, 0), x)
    refuses(InvalidArgumentError, lambda t: td.reverse_sequence(t, [1, 2, 3], 0, 0), x)
    refuses(InvalidArgumentError, lambda t: td.reverse_sequence(t, [1, 2, 3], 2, 0), x)
    refuses(InvalidArgumentError, lambda t: td.reverse_sequence(t, [1, 2, 3]), x)
    refuses(DTypeError, lambda t: td.reverse_sequence(t, [1.0, 2.0, 3.0], 1, 0), x)


def test_axes_may_be_tensors_that_are_known_only_at_run_time(every_mode, check_linear):
    x = counted((2, 3, 4))
    last, both = np.int32(-1), np.array([0, 2], np.int32)
    np.testing.assert_array_equal(every_mode(lambda t, a: td.reverse(t, [a]), x, last, rank=False)[0], x[..., ::-1])
    np.testing.assert_array_equal(every_mode(lambda t, a: td.roll(t, 1, a), x, last, rank=False)[0], np.roll(x, 1, -1))
    np.testing.assert_array_equal(every_mode(lambda t, a: td.expand_dims(t, a), x, last)[0], x[..., None])
    np.testing.assert_array_equal(every_mode(lambda t, a: td.concat([t, t], a), x, last)[0], np.concatenate([x, x], -1))
    for got, want in zip(every_mode(lambda t, a: td.split(t, [1, -1], a), x, last), np.split(x, [1], -1), strict=True):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(every_mode(td.transpose, x, np.array([2, 0, 1]))[0], x.transpose(2, 0, 1))
    np.testing.assert_array_equal(td.function(td.reverse)(x, td.constant(both)).numpy(), x[::-1, :, ::-1])
    np.testing.assert_array_equal(td.function(td.roll)(x, td.constant([1, 2]), td.constant(both)).numpy(), np.roll(x, (1, 2), (0, 2)))

    def unknown(numbers):
        return td.stack([td.cast(td.reduce_sum(td.ones([1])), td.int32) * n for n in numbers])

    check_linear(lambda t: td.transpose(t, unknown([1, 2, 0])), (2, 3, 4))
    check_linear(lambda t: td.concat([t, t], unknown([1])[0]), (2, 3))
    check_linear(lambda t: td.expand_dims(t, unknown([-1])[0]), (2, 3))


def test_axes_of_run_time_are_refused_when_they_do_not_fit():
    x = td.ones([2, 3])
    for function, wrong in ((td.transpose, [0, 0]), (td.transpose, [0, 2]), (td.reverse, [2]), (td.expand_dims, 3)):
        with pytest.raises(InvalidArgumentError):
            td.function(function)(x, td.constant(wrong))


def test_what_is_reordered_along_axes_that_are_not_known_keeps_its_shape(shape_while_tracing):
    for function in (td.reverse, lambda x, axis: td.roll(x, [1] * axis.shape[0], axis)):
        for shape in ([None, 3], [4, 3]):
            assert shape_while_tracing(function, shape, [2], dtypes=["float32", "int32"]) == tuple(shape)
        assert shape_while_tracing(function, None, [1], dtypes=["float32", "int32"]) is None


def test_lengths_of_sequences_make_the_batch_known(shape_while_tracing):
    def reversed_(x, lengths):
        return td.reverse_sequence(x, lengths, seq_axis=1)

    assert shape_while_tracing(reversed_, [None, None, 2], [4], dtypes=["float32", "int32"]) == (4, None, 2)
