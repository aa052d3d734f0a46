"""Numbers at even distances: range and linspace."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError


@pytest.mark.parametrize("ends", [(5,), (2, 10, 3), (5, 0, -2), (3, 3), (-4, 4, 3), (0, 7, 7), (1, 0, -1), (0,)])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32", "float64", "float16", "bfloat16"])
def test_ranges_agree_with_numpy(every_mode, ends, dtype):
    wanted = td.as_dtype(dtype)
    if dtype == "uint8" and min(ends) < 0:
        return
    want = np.arange(*ends).astype(wanted.numpy)
    np.testing.assert_array_equal(every_mode(lambda: td.range(*ends, dtype=wanted))[0], want, strict=True)
    if dtype != "uint8":
        tensors = [np.array(e, wanted.numpy) for e in ends]
        np.testing.assert_array_equal(every_mode(lambda *t: td.range(*t), *tensors)[0], want, strict=True)


def test_the_widest_dtype_decides(every_mode):
    def dtype(*ends, **keywords):
        return every_mode(lambda: td.range(*ends, **keywords))[0].dtype.name

    assert dtype(3) == "int32"
    assert dtype(3.0) == "float32"
    assert dtype(0, 3, 0.5) == "float32"
    assert dtype(3_000_000_000, 3_000_000_002) == "int64"
    assert dtype(td.constant(0, td.int64), 3) == "int64"
    assert dtype(td.constant(0, td.int64), 3.0) == "float32"
    assert dtype(3, dtype=td.float64) == "float64"
    assert dtype(td.constant(3.7), dtype=td.int32) == "int32"


def test_floats_keep_the_precision_of_their_dtype(every_mode):
    (got,) = every_mode(lambda: td.range(0.0, 1.0, 0.1, dtype=td.float64))
    np.testing.assert_array_equal(got, np.arange(10) * 0.1)
    (got,) = every_mode(lambda: td.range(0.0, 1.0, 0.1))
    np.testing.assert_array_equal(got, np.arange(10, dtype=np.float32) * np.float32(0.1))


def test_ranges_that_lead_nowhere_are_refused(refuses):
    refuses(InvalidArgumentError, lambda: td.range(5, 1))
    refuses(InvalidArgumentError, lambda: td.range(1, 5, -1))
    refuses(InvalidArgumentError, lambda: td.range(0, 5, 0))
    refuses(InvalidArgumentError, lambda: td.range(0.0, 5.0, 0.0))
    refuses(InvalidArgumentError, lambda: td.range(0.0, float("inf")))
    refuses(InvalidArgumentError, lambda a, b: td.range(a, b), np.int32(5), np.int32(1))
    refuses(ShapeError, td.range, np.ones(2, np.int32))
    refuses(DTypeError, td.range, np.complex64(1))
    refuses(DTypeError, lambda: td.range(2.5, dtype=td.int32))


def test_the_length_is_known_while_tracing():
    @td.function(input_signature=[td.TensorSpec([None, 3], td.float32)])
    def traced(x):
        assert td.range(0.0, 1.0, 0.25).shape.as_list() == [4]
        assert td.get_static_value(td.range(2, 8, 3)).tolist() == [2, 5]
        rows = td.range(td.shape(x)[0])
        assert td.reshape(x, td.stack([td.size(rows), 3])).shape.as_list() == [None, 3]
        return rows, td.range(1, td.shape(x)[0], 2)

    assert [r.numpy().tolist() for r in traced(td.ones([4, 3]))] == [[0, 1, 2, 3], [1, 3]]


@pytest.mark.parametrize("num", [0, 1, 2, 7])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_linspace_agrees_with_numpy(every_mode, check_linear, num, shape):
    start, stop = np.full(shape, -1.0), np.arange(1, np.prod(shape, dtype=int) + 1, dtype=float).reshape(shape)
    for axis in range(-len(shape) - 1, len(shape) + 1):
        (got,) = every_mode(lambda a, b, axis=axis: td.linspace(a, b, num, axis=axis), start, stop)
        np.testing.assert_allclose(got, np.linspace(start, stop, num, axis=axis), rtol=1e-15, atol=1e-15)
        assert got.flags.c_contiguous
        check_linear(lambda t, axis=axis: td.linspace(t, 2 * t, num, axis=axis), shape, rank=axis < 0)


def test_linspace_meets_its_ends_and_broadcasts(every_mode):
    (got,) = every_mode(lambda a, b, n: td.linspace(a, b, n), np.float32(0.1), np.array([0.7, 0.9], np.float32), np.int32(11))
    assert got.shape == (11, 2)
    assert got[-1].tolist() == np.array([0.7, 0.9], np.float32).tolist()


@pytest.mark.parametrize(
    ("dtype", "result"), [("int32", "float64"), ("int64", "float64"), ("int8", "float32"), ("float16", "float16"), ("complex64", "complex64")]
)
def test_linspace_of_other_dtypes(every_mode, dtype, result):
    (got,) = every_mode(lambda a, b: td.linspace(a, b, 5), np.array(0, dtype), np.array(10, dtype))
    np.testing.assert_array_equal(got, np.linspace(0, 10, 5).astype(result), strict=True)


def test_linspace_refuses_what_does_not_fit(refuses):
    refuses(InvalidArgumentError, lambda: td.linspace(0.0, 1.0, -1))
    refuses(InvalidArgumentError, lambda: td.linspace(0.0, 1.0, 3, axis=1))
    refuses(ShapeError, lambda a, b: td.linspace(a, b, 3), np.ones(2), np.ones(3))
    refuses(DTypeError, lambda a, b: td.linspace(a, b, 3), np.ones(2), np.ones(2, np.float32))
