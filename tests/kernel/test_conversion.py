"""What Python's and NumPy's values become: dtypes by TensorFlow's rules."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import treadle as td
from treadle.conversion import convert_to_tensor, host_array

f16, f32, f64, i8, i64, u8 = np.float16, np.float32, np.float64, np.int8, np.int64, np.uint8


def dtype_of(value, wanted=None, hint=None):
    return host_array(value, wanted, hint).dtype.name


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        # in a list the first float says how wide floats are, and integers are int32 if they fit
        ([3.0, f32(2)], "float32"),
        ([f32(1), 2.0], "float32"),
        ([0.5, f64(2)], "float32"),
        ([f64(2), 0.5], "float64"),
        ([f16(1), f32(2)], "float16"),
        ([f32(1), f64(2)], "float32"),
        ([1, f64(2.5)], "float32"),
        ([f32(1), 1], "float32"),
        ([i64(1), f32(2.5)], "float32"),
        ([i64(1), 2], "int32"),
        ([i8(1), u8(2)], "int32"),
        (list(np.arange(3)), "int32"),
        ([i64(2**40)], "int64"),
        ([np.uint64(2**63)], "uint64"),
        ([2**40, np.int32(1)], "int64"),
        ([np.bool_(True), False], "bool"),
        ([np.complex64(1j)], "complex128"),
        ([[1.0, 2.0], np.array([3.0, 4.0])], "float32"),
        ([np.array([3.0, 4.0]), [1.0, 2.0]], "float64"),
        ([np.array([3, 4], i8), np.array([3, 4])], "int32"),
        ([np.array([3, 4]), np.array([3.0, 4.0])], "float32"),
        ([np.array(3.0), np.array(4.0)], "float64"),
        ([[f32(1)], [f64(2)]], "float32"),
        ([ml_dtypes.bfloat16(1)], "bfloat16"),
        # alone they keep their dtype
        (np.array([1.0]), "float64"),
        (np.array([1], i8), "int8"),
        (f32(1), "float32"),
        (np.array([1.0], ">f4"), "float32"),
    ],
)
def test_numbers_of_numpy_in_lists_and_alone(value, dtype):
    assert dtype_of(value) == dtype


@pytest.mark.parametrize("value", [[True, 1], [np.bool_(True), 1], [1, np.bool_(True)], [np.array([True]), np.array([1.0])]])
def test_bools_and_numbers_do_not_mix_in_a_list(value):
    with pytest.raises(TypeError, match="bools and numbers are mixed"):
        host_array(value, None, None)


@pytest.mark.parametrize(
    ("value", "wanted", "content"),
    [
        (np.arange(3.0), td.int32, [0, 1, 2]),
        (np.array([2.9, -2.9]), td.int32, [2, -2]),
        (np.array([300, -1]), td.uint8, [44, 255]),
        (True, td.int64, 1),
        ([True, False], td.float32, [1.0, 0.0]),
        (np.array([True]), td.bfloat16, [1.0]),
        (np.array([2, 0]), td.bool, [True, False]),
        ([i64(1), 2], td.float64, [1.0, 2.0]),
    ],
)
def test_a_wanted_dtype_casts_what_numpy_holds(value, wanted, content):
    made = host_array(value, wanted, None)
    assert made.dtype == wanted.numpy and made.tolist() == content


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(2.5, td.int32), ([1.5], td.int32), (1, td.bool), (1j, td.float32), (np.array([1 + 2j]), td.float32), (300, td.uint8), ([2**40], td.int32)],
)
def test_a_wanted_dtype_is_not_forced_on_numbers_that_it_cannot_hold(value, wanted):
    with pytest.raises(TypeError):
        host_array(value, wanted, None)


@pytest.mark.parametrize(
    ("value", "hint", "dtype"),
    [
        (np.array([1, 2]), td.int32, "int32"),
        (np.array([1, 2**32]), td.int32, "int64"),
        (np.uint32([2**32 - 1]), td.int32, "uint32"),
        ([i64(5), i64(2**32)], td.int32, "int64"),
        (np.array([1.5]), td.int32, "float64"),
        (np.array([1.5]), td.float32, "float32"),
        (np.array([True]), td.float32, "float32"),
        ([True, False], td.int64, "int64"),
        (np.array([1, 0]), td.bool, "int64"),
        (np.zeros((0,), i64), td.int32, "int32"),
        (np.array([1], ">i8"), td.int32, "int32"),
        (np.array([2**40], ">i8"), td.int32, "int64"),
    ],
)
def test_a_hint_cuts_nothing(value, hint, dtype):
    made = host_array(value, None, hint)
    assert made.dtype.name == dtype and made.dtype.isnative
    assert made.tolist() == np.asarray(value).tolist()


def test_what_is_no_number_is_refused():
    for value in (np.array(["a"]), [np.datetime64("2020-01-01")], [None, 1.0], "a"):
        with pytest.raises((TypeError, ValueError)):
            convert_to_tensor(value)
