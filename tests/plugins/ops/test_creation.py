"""Tensors made of nothing but a shape, and initializers."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "uint64", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(), (2, 0), (2, 3)])
def test_tensors_of_one_value(every_mode, shape, dtype):
    wanted = td.as_dtype(dtype)
    for make, number in ((td.zeros, 0), (td.ones, 1)):
        (got,) = every_mode(lambda m=make: m(shape, wanted))
        np.testing.assert_array_equal(got, np.full(shape, number, wanted.numpy), strict=True)
        (got,) = every_mode(lambda t, m=make: m(t, wanted), np.array(shape, np.int32))
        np.testing.assert_array_equal(got, np.full(shape, number, wanted.numpy), strict=True)
    np.testing.assert_array_equal(every_mode(lambda v: td.fill(shape, v), np.ones((), wanted.numpy))[0], np.ones(shape, wanted.numpy), strict=True)


def test_shapes_come_in_every_form():
    for shape in (
        [2, 3],
        (2, 3),
        np.array([2, 3]),
        td.constant([2, 3]),
        td.TensorShape([2, 3]),
        [td.constant(2), 3],
        [np.int64(2), 3],
        td.Variable([2, 3]),
    ):
        assert td.zeros(shape).shape == (2, 3)
        assert td.function(lambda s=shape: td.zeros(s))().shape == (2, 3)
    for shape in (3, td.constant(3), np.int32(3)):
        assert td.ones(shape).shape == (3,)


def test_a_variable_shapes_a_traced_result_by_the_value_it_has_when_called():
    size = td.Variable([2, 3])
    traced = td.function(lambda: td.zeros(size))
    assert traced().shape == (2, 3)
    size.assign([4, 1])
    assert traced().shape == (4, 1)


def test_sizes_must_be_integers_and_not_negative(refuses):
    refuses(ShapeError, lambda: td.zeros([-1, 2]))
    refuses(ShapeError, lambda t: td.ones(t), np.array([2, -1], np.int32))
    refuses(DTypeError, lambda: td.zeros([2.5]))
    refuses(DTypeError, lambda: td.zeros([True]))
    refuses(DTypeError, lambda: td.zeros([None, 2]))
    refuses(DTypeError, td.ones, np.array([2.0]))
    refuses(ShapeError, lambda t: td.fill([2, 2], t), np.ones(2))


def test_fill_gives_the_sum_back(every_mode):
    def gradient(v):
        with td.GradientTape() as tape:
            tape.watch(v)
            y = td.fill([2, 3], v)
        return tape.gradient(y, v)

    assert every_mode(gradient, np.float64(2), rank=False)[0] == 6


def test_likes_follow_shape_and_dtype(every_mode):
    x = np.arange(6, dtype=np.int16).reshape(2, 3)
    np.testing.assert_array_equal(every_mode(td.zeros_like, x)[0], np.zeros_like(x), strict=True)
    np.testing.assert_array_equal(every_mode(td.ones_like, x)[0], np.ones_like(x), strict=True)
    np.testing.assert_array_equal(every_mode(lambda t: td.ones_like(t, dtype=td.float64), x)[0], np.ones((2, 3)), strict=True)
    assert td.zeros_like([[1.5, 2.0]]).shape == (1, 2)


@pytest.mark.parametrize(("rows", "columns", "batch"), [(3, None, None), (2, 4, [2]), (4, 2, None), (0, None, None), (1, 3, [2, 0]), (2, 2, [1, 3])])
@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64", "bfloat16"])
def test_identity_matrices(every_mode, rows, columns, batch, dtype):
    wanted = td.as_dtype(dtype)
    want = np.broadcast_to(np.eye(rows, columns).astype(wanted.numpy), (*(batch or ()), rows, columns or rows))
    np.testing.assert_array_equal(every_mode(lambda: td.eye(rows, columns, batch, wanted))[0], want, strict=True)
    if batch is not None:
        dynamic = every_mode(lambda n, b: td.linalg.eye(n, columns, b, wanted), np.int32(rows), np.array(batch, np.int64))
        np.testing.assert_array_equal(dynamic[0], want, strict=True)


def test_identity_matrices_of_symbolic_size_keep_what_is_known():
    @td.function(input_signature=[td.TensorSpec([None, 3], td.float32)])
    def traced(x):
        square = td.eye(td.shape(x)[0])
        assert square.shape.as_list() == [None, None]
        return square

    np.testing.assert_array_equal(np.asarray(traced(td.ones([2, 3]))), np.eye(2, dtype=np.float32))


def test_tracing_makes_no_large_constants():
    @td.function
    def traced(i):
        return td.zeros([1 << 20, 1 << 20])[i, 0]

    traced.get_concrete_function(td.TensorSpec([], td.int32))
    assert td.function(lambda: td.shape(td.tile(td.ones([1, 1]), [1 << 20, 1 << 20])))().numpy().tolist() == [1 << 20, 1 << 20]


def test_initializers_make_first_values():
    np.testing.assert_array_equal(np.asarray(td.zeros_initializer()([2, 2])), np.zeros((2, 2), np.float32), strict=True)
    np.testing.assert_array_equal(np.asarray(td.ones_initializer()((2,), td.int32)), np.ones(2, np.int32), strict=True)
    np.testing.assert_array_equal(np.asarray(td.constant_initializer(3)([2, 2], td.float64)), np.full((2, 2), 3.0), strict=True)
    np.testing.assert_array_equal(np.asarray(td.constant_initializer([1.5, 2, 3, 4])([2, 2])), np.array([[1.5, 2], [3, 4]], np.float32), strict=True)
    again = td.constant_initializer.from_config(td.constant_initializer([1, 2]).get_config())
    assert again([2]).numpy().tolist() == [1, 2]
    assert isinstance(td.zeros_initializer.from_config(td.zeros_initializer().get_config()), td.zeros_initializer)
    with pytest.raises(TypeError, match="elements"):
        td.constant_initializer([1, 2, 3])([2, 2])
    with pytest.raises(TypeError, match="not a number"):
        td.constant_initializer(object())


def test_memory_that_does_not_exist_is_refused_by_name():
    with pytest.raises((td.errors.ResourceExhaustedError, InvalidArgumentError)):
        td.ones([1 << 40, 1 << 20])


def test_a_number_repeated_to_a_large_shape_is_not_kept_in_the_graph():
    f = td.function(lambda i: td.constant(2.5, shape=[300, 300])[i, 0] + td.constant(1.0, shape=[2])[0])
    assert float(f(td.constant(3))) == 3.5
    constants = [node.attrs["value"] for node in f.get_concrete_function(td.constant(3)).graph.nodes if node.op.name == "const"]
    assert max(c.size for c in constants) < 10
