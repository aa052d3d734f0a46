"""one_hot."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

WAYS = (lambda f: f, td.function)


@pytest.mark.parametrize("axis", [None, -1, 0, 1, 2, -2])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_one_element_of_each_vector_is_on(axis, dtype):
    indices = np.array([[0, 2, 5], [1, 3, 4]], dtype)
    want = np.moveaxis(np.eye(6, 4, dtype=np.float32)[indices], -1, -1 if axis is None else axis)
    for way in WAYS:
        np.testing.assert_array_equal(way(lambda i: td.one_hot(i, 4, axis=axis))(td.constant(indices)).numpy(), want, strict=True)


@pytest.mark.parametrize("dtype", ["bool", "float16", "bfloat16", "uint16", "complex128"])
def test_every_dtype_can_be_hot(dtype):
    got = td.one_hot([1, -1], 2, dtype=dtype)
    assert (got.dtype.name, (got.numpy() != 0).astype(int).tolist()) == (dtype, [[0, 1], [0, 0]])


def test_values_may_be_given():
    for way in WAYS:
        assert way(lambda i: td.one_hot(i, 3, 5.0, -1.0))(td.constant([1, 7])).numpy().tolist() == [[-1, 5, -1], [-1, -1, -1]]
        given = way(lambda i, on: td.one_hot(i, 2, on_value=on))(td.constant(1), td.constant(7, td.int8))
        assert (given.dtype, given.numpy().tolist()) == (td.int8, [0, 7])
        assert way(lambda i: td.one_hot(i, 2, off_value=True, on_value=False))(td.constant(0)).numpy().tolist() == [False, True]
        assert way(lambda i: td.one_hot(i, 2, on_value=2, dtype=td.float64))(td.constant(0)).numpy().tolist() == [2, 0]


def test_the_depth_may_be_a_tensor_or_nothing():
    assert td.function(td.one_hot)(td.constant([1]), td.constant(3)).numpy().tolist() == [[0, 1, 0]]
    assert td.one_hot([1, 0], 0).shape == [2, 0]
    assert td.one_hot(td.zeros([0, 2], td.int32), 3).shape == [0, 2, 3]
    f = td.function(lambda i: td.one_hot(i, 5, axis=0), input_signature=[td.TensorSpec([None], td.int32)])
    assert f.get_concrete_function().structured_outputs.shape == [5, None]


@pytest.mark.parametrize(
    ("indices", "options", "kind"),
    [
        ([1.0], {"depth": 2}, TypeError),
        ([1], {"depth": -1}, ValueError),
        ([1], {"depth": [2]}, ValueError),
        ([1], {"depth": 2, "axis": 2}, ValueError),
        ([1], {"depth": 2, "on_value": 1.0, "off_value": 0}, TypeError),
        ([1], {"depth": 2, "on_value": 1.5, "dtype": "int32"}, TypeError),
        ([1], {"depth": 2, "on_value": [1.0, 2.0]}, ValueError),
    ],
)
def test_what_does_not_fit_is_refused(indices, options, kind):
    for way in WAYS:
        with pytest.raises(kind):
            way(lambda i: td.one_hot(i, **options))(td.constant(indices))
