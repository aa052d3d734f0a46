"""Shapes and how to change them: shape, size, rank, reshape, transpose, expand_dims, squeeze, broadcast_to, ensure_shape."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError

SHAPES = [(), (3,), (0,), (1, 4), (2, 0, 3), (2, 3, 1, 4)]


def counted(shape, dtype=np.float32):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
def test_sizes_are_tensors(every_mode, shape):
    x = counted(shape)
    assert every_mode(td.shape, x)[0].tolist() == list(shape)
    assert every_mode(td.size, x)[0] == x.size
    assert every_mode(td.rank, x)[0] == x.ndim
    assert every_mode(lambda t: td.shape(t, td.int64), x)[0].dtype == np.int64
    assert every_mode(lambda t: td.size(t, out_type=td.int64), x)[0].dtype == np.int64


def test_reshape_keeps_the_elements_and_their_order(every_mode, check_linear):
    x = counted((2, 3, 4))
    np.testing.assert_array_equal(every_mode(lambda t: td.reshape(t, [4, -1]), x)[0], x.reshape(4, 6))
    np.testing.assert_array_equal(every_mode(lambda t: td.reshape(t, td.constant([6, 4], td.int64)), x)[0], x.reshape(6, 4))
    np.testing.assert_array_equal(every_mode(lambda t: td.reshape(t, [td.shape(t)[0] * 3, 4]), x)[0], x.reshape(6, 4))
    assert every_mode(lambda t: td.reshape(t, []), np.ones((1, 1)))[0].shape == ()
    assert every_mode(lambda t: td.reshape(t, [3, 0, 2]), np.ones((0, 3)))[0].shape == (3, 0, 2)
    check_linear(lambda t: td.reshape(t, [-1]), (2, 3))


def test_reshape_refuses_what_does_not_fit(refuses):
    x = np.ones((2, 3), np.float32)
    refuses(ShapeError, lambda t: td.reshape(t, [2, 4]), x)
    refuses(ShapeError, lambda t: td.reshape(t, [-1, -1]), x)
    refuses(ShapeError, lambda t: td.reshape(t, [4, -1]), x)
    refuses(ShapeError, lambda t: td.reshape(t, [-2, 3]), x)
    refuses(ShapeError, lambda t: td.reshape(t, [-1, 0]), x)
    refuses(DTypeError, lambda t: td.reshape(t, [2.0, 3.0]), x, match="a shape must be integers")
    refuses(ShapeError, lambda t: td.reshape(t, [[2], [3]]), x)


def test_a_partly_known_shape_is_refused_with_the_way_out():
    with pytest.raises(ShapeError, match=r"td\.shape"):
        td.zeros(td.TensorShape([None, 2]))


def test_a_shape_may_mix_numbers_and_tensors_of_its_dtype(every_mode):
    x = counted((2, 6))

    def flattened(t):
        return td.reshape(t, [td.shape(t, td.int64)[0], 3, -1])

    assert every_mode(flattened, x)[0].shape == (2, 3, 2)


@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 3, 3), (0, 2, 1), (2, 2, 2)])
def test_every_permutation_agrees_with_numpy(every_mode, shape):
    x = counted(shape, np.int32)
    for perm in itertools.permutations(range(3)):
        (got,) = every_mode(lambda t, p=perm: td.transpose(t, list(p)), x)
        np.testing.assert_array_equal(got, x.transpose(perm))
        assert got.flags.c_contiguous
    np.testing.assert_array_equal(every_mode(td.transpose, x)[0], x.T)


@pytest.mark.parametrize(("shape", "perm"), [((520, 600), None), ((4, 256, 300), (0, 2, 1)), ((64, 16, 512), (2, 1, 0)), ((700, 130), (1, 0))])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "complex128"])
def test_large_transpositions_are_exact(shape, perm, dtype):
    x = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    np.testing.assert_array_equal(np.asarray(td.transpose(td.constant(x), perm)), x.transpose(perm))


def test_transpose_can_conjugate(every_mode, check_linear):
    z = np.array([[1 + 2j, 3 - 1j]], np.complex64)
    np.testing.assert_array_equal(every_mode(lambda t: td.transpose(t, conjugate=True), z)[0], z.conj().T)
    check_linear(lambda t: td.transpose(t, [2, 0, 1]), (2, 3, 4))
    check_linear(td.transpose, (2, 3))


def test_transpose_refuses_what_is_no_permutation(refuses):
    for perm in ([0, 0], [0, 1, 2], [0], [0, 2]):
        refuses(InvalidArgumentError, lambda t, p=perm: td.transpose(t, p), np.ones((2, 3)))
    refuses(InvalidArgumentError, lambda t: td.transpose(t, [1]), np.ones(2))


@pytest.mark.parametrize("shape", SHAPES)
def test_an_axis_comes_and_goes(every_mode, check_linear, shape):
    x = counted(shape)
    for axis in range(-x.ndim - 1, x.ndim + 1):
        np.testing.assert_array_equal(every_mode(lambda t, a=axis: td.expand_dims(t, a), x)[0], np.expand_dims(x, axis))
        np.testing.assert_array_equal(every_mode(lambda t, a=axis: td.squeeze(td.expand_dims(t, a), [a]), x)[0], x)
    np.testing.assert_array_equal(every_mode(td.squeeze, x)[0], x.squeeze())
    np.testing.assert_array_equal(every_mode(lambda t: td.squeeze(t, []), x)[0], x.squeeze())
    check_linear(lambda t: td.squeeze(td.expand_dims(t, 0)), shape)


def test_only_axes_of_size_one_are_squeezed(refuses):
    refuses(ShapeError, lambda t: td.squeeze(t, 1), np.ones((1, 3)))
    refuses(InvalidArgumentError, lambda t: td.squeeze(t, [2]), np.ones((1, 3)))
    refuses(InvalidArgumentError, lambda t: td.squeeze(t, [0, -2]), np.ones((1, 3)))
    refuses(InvalidArgumentError, lambda t: td.expand_dims(t, 3), np.ones((2, 3)))


@pytest.mark.parametrize(("shape", "wanted"), [((3, 1), [2, 3, 4]), ((), [2, 2]), ((1,), [0]), ((2, 3), [2, 3])])
def test_broadcasting_repeats_axes_of_size_one(every_mode, check_linear, shape, wanted):
    x = counted(shape)
    np.testing.assert_array_equal(every_mode(lambda t: td.broadcast_to(t, wanted), x)[0], np.broadcast_to(x, wanted))
    check_linear(lambda t: td.broadcast_to(t, wanted), shape)


def test_broadcasting_refuses_what_does_not_fit(refuses):
    refuses(ShapeError, lambda t: td.broadcast_to(t, [4]), np.ones(3))
    refuses(ShapeError, lambda t: td.broadcast_to(t, [3]), np.ones((1, 3)))
    refuses(ShapeError, lambda t: td.broadcast_to(t, [-3]), np.ones(1))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_gradient_of_broadcasting_sums_short_floats_in_float32(dtype):
    x = td.ones([1], dtype)
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.broadcast_to(x, [4096])
    assert float(tape.gradient(y, x)[0]) == 4096.0


def test_ensure_shape_is_checked_when_the_program_runs(every_mode, check_linear, refuses):
    x = counted((2, 3))
    np.testing.assert_array_equal(every_mode(lambda t: td.ensure_shape(t, [2, None]), x)[0], x)
    np.testing.assert_array_equal(every_mode(lambda t: td.ensure_shape(t, None), x)[0], x)
    for wanted in ([2, 4], [None], [2, 3, None]):
        refuses(ShapeError, lambda t, w=wanted: td.ensure_shape(t, w), x)
    check_linear(lambda t: td.ensure_shape(t, [None, 3]), (2, 3))

    @td.function(input_signature=[td.TensorSpec(None, td.float32)])
    def traced(t):
        known = td.ensure_shape(t, [None, 3])
        assert known.shape.as_list() == [None, 3]
        return known

    with pytest.raises(ShapeError):
        traced(td.ones([3, 2]))


def test_dynamic_shapes_broadcast(every_mode, refuses):
    a, b = np.array([3, 1], np.int64), np.array([2, 1, 4], np.int64)
    (got,) = every_mode(td.broadcast_dynamic_shape, a, b)
    assert got.tolist() == [2, 3, 4]
    assert got.dtype == np.int64
    assert every_mode(td.broadcast_dynamic_shape, np.zeros(0, np.int32), np.array([5], np.int32))[0].tolist() == [5]
    refuses(InvalidArgumentError, td.broadcast_dynamic_shape, np.array([2], np.int32), np.array([3], np.int32))
    refuses(DTypeError, td.broadcast_dynamic_shape, np.array([2], np.int32), np.array([2], np.int64))


def test_static_shapes_broadcast():
    def result(x, y):
        shape = td.broadcast_static_shape(td.TensorShape(x), td.TensorShape(y))
        return None if shape.rank is None else shape.as_list()

    assert result([2, 1], [3]) == [2, 3]
    assert result([None, 3], [1, 1]) == [None, 3]
    assert result([None], [4]) == [4]
    assert result([None], [None]) == [None]
    assert result(None, [4]) is None
    assert result([1], [0]) == [0]
    with pytest.raises(ValueError, match="must be equal"):
        result([2], [3])


def test_identities_hand_on_what_they_get(every_mode):
    a, b = counted((2, 2)), np.array([True, False])
    got = every_mode(lambda x, y: td.identity_n([x, y]), a, b)
    np.testing.assert_array_equal(got[0], a)
    np.testing.assert_array_equal(got[1], b)
    assert every_mode(lambda: td.identity([1, 2]))[0].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("shape", "wanted", "got"),
    [
        ((0, 2, 3), [0, -1], (0, 6)),
        ((0, 2, 3), [-1, 2, 0], (3, 2, 0)),
        ((0, 2, 0), [-1, 0], (2, 0)),
        ((0, 3), [-1, 0], (3, 0)),
        ((0,), [-1, 0], (1, 0)),
        ((0, 4), [-1, 3], (0, 3)),
        ((0,), [-1], (0,)),
    ],
)
def test_what_is_left_of_nothing(shape, wanted, got):
    x = td.zeros(shape)
    assert td.reshape(x, wanted).shape == got
    assert td.function(lambda x: td.reshape(x, wanted))(x).shape == got
    unknown = td.function(lambda x: td.reshape(x, wanted), input_signature=[td.TensorSpec([None] * len(shape))])
    assert unknown(x).shape == got


def test_all_but_the_batch_of_an_empty_batch():
    flat = td.function(lambda x: td.reshape(x, [td.shape(x)[0], -1]), input_signature=[td.TensorSpec([None, 2, 3])])
    assert flat(td.zeros([0, 2, 3])).shape == (0, 6) and flat(td.zeros([4, 2, 3])).shape == (4, 6)
