"""Tests of treadle.dtypes: TensorFlow's names, numbers and properties; interning; conversion."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from treadle import dtypes, errors
from treadle.dtypes import DType, as_dtype

NUMBERS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "complex64": 8, "int64": 9, "bool": 10,
    "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "resource": 20, "uint32": 22, "uint64": 23,
    "float8_e5m2": 24, "float8_e4m3fn": 25, "float8_e4m3fnuz": 26, "float8_e4m3b11fnuz": 27, "float8_e5m2fnuz": 28,
}  # fmt: skip


@pytest.mark.parametrize(("name", "number"), NUMBERS.items())
def test_names_and_numbers_are_tensorflows(name: str, number: int) -> None:
    dtype = getattr(dtypes, name)
    assert (dtype.name, dtype.as_datatype_enum) == (name, number)
    assert DType(number) is dtype
    assert as_dtype(name) is as_dtype(number) is as_dtype(dtype) is dtype
    assert repr(dtype) == f"tf.{name}"
    assert str(dtype) == f"<dtype: '{name}'>"


@pytest.mark.parametrize("name", NUMBERS)
def test_copies_and_pickles_are_the_same_object(name: str) -> None:
    dtype = getattr(dtypes, name)
    assert copy.copy(dtype) is copy.deepcopy(dtype) is dtype
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(dtype, protocol)) is dtype


@pytest.mark.parametrize("dtype", dtypes.ALL)
def test_numpys_dtype_and_type_lead_back(dtype: DType) -> None:
    assert dtypes.from_numpy[dtype.numpy] is dtype
    assert as_dtype(dtype.numpy) is as_dtype(dtype.as_numpy_dtype) is dtype
    assert as_dtype(np.zeros(2, dtype.numpy)) is dtype
    assert dtype.size == dtype.numpy.itemsize
    assert dtype == dtype.numpy
    assert dtype == dtype.as_numpy_dtype
    assert dtype == dtype.name


@pytest.mark.parametrize("dtype", [*dtypes.ALL, dtypes.resource])
def test_predicates_follow_from_the_kind(dtype: DType) -> None:
    kind = dtype.kind
    assert dtype.is_floating == (kind == "f") == (dtype in dtypes.FLOATS)
    assert dtype.is_integer == (kind in "iu") == (dtype in dtypes.INTS)
    assert dtype.is_complex == (kind == "c") == (dtype in dtypes.COMPLEX)
    assert dtype.is_unsigned == (kind == "u")
    assert dtype.is_bool == (kind == "b") == (dtype is dtypes.bool)
    assert dtype.is_numeric == (kind in "iufc")
    assert dtype.is_differentiable == (kind in "fc")
    assert dtype.is_quantized is False
    assert dtype.base_dtype is dtype


def test_aliases_are_the_same_object() -> None:
    assert dtypes.half is dtypes.float16 is as_dtype("half")
    assert dtypes.double is dtypes.float64 is as_dtype("double")
    assert as_dtype("float") is dtypes.float32


def test_real_dtype_is_that_of_the_parts() -> None:
    assert dtypes.complex64.real_dtype is dtypes.float32
    assert dtypes.complex128.real_dtype is dtypes.float64
    assert dtypes.int8.real_dtype is dtypes.int8


@pytest.mark.parametrize(
    ("value", "name"),
    [(float, "float32"), (int, "int64"), (bool, "bool"), (complex, "complex128"), (np.longlong, "int64"),
     (np.intc, "int32"), (np.dtype(">f4"), "float32"), (np.float16(1), "float16"), (np.str_("int8"), "int8")],
)  # fmt: skip
def test_as_dtype_accepts(value: Any, name: str) -> None:
    assert as_dtype(value).name == name


@pytest.mark.parametrize("value", ["float31", None, 999, -1, True, 1.0, [], {}, object(), list, np.void, "i4"])
def test_as_dtype_refuses_nonsense_and_names_it(value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        as_dtype(value)
    assert isinstance(caught.value, errors.DTypeError)
    assert repr(value) in str(caught.value)
    assert "bfloat16" in str(caught.value)
    assert dtypes.float32 != value


@pytest.mark.parametrize(
    "value", ["string", "variant", str, bytes, object, np.str_, np.object_, np.dtype("S3"), np.dtype(object),
              np.dtype("M8[s]"), np.array(["a"])]
)  # fmt: skip
def test_text_objects_and_dates_are_refused_as_not_numeric(value: Any) -> None:
    with pytest.raises(TypeError, match="not numeric"):
        as_dtype(value)


def test_swapped_bytes_are_not_in_from_numpy() -> None:
    assert np.dtype(">f4") not in dtypes.from_numpy
    assert np.dtype(np.longlong) in dtypes.from_numpy


def test_equality_does_not_raise_and_differs_where_it_should() -> None:
    assert dtypes.float32 == np.float32
    assert dtypes.float32 == "float32"
    assert "float32" == dtypes.float32  # noqa: SIM300  the reflected comparison
    assert dtypes.float32 == float  # noqa: E721
    assert dtypes.float32 != dtypes.float64
    assert dtypes.float32 != "float64"
    assert {dtypes.float32: 1}[as_dtype("float32")] == 1


@pytest.mark.parametrize("dtype", dtypes.INTS)
def test_the_range_of_integers_is_numpys(dtype: DType) -> None:
    info = np.iinfo(dtype.as_numpy_dtype)
    assert (dtype.min, dtype.max) == (info.min, info.max)
    assert dtype.limits == (0, info.max)


@pytest.mark.parametrize("dtype", dtypes.FLOATS)
def test_the_range_of_floats_is_ml_dtypes(dtype: DType) -> None:
    info = ml_dtypes.finfo(dtype.numpy)
    assert (dtype.min, dtype.max) == (info.min, info.max)
    assert dtype.limits == (0, 1)


@pytest.mark.parametrize("dtype", [dtypes.bool, dtypes.complex64, dtypes.resource])
def test_bool_complex_and_resource_have_no_range(dtype: DType) -> None:
    with pytest.raises(TypeError, match=f"{dtype.name}.*minimum"):
        _ = dtype.min
    with pytest.raises(TypeError, match=f"{dtype.name}.*maximum"):
        _ = dtype.max


def test_limits_of_bool_exist_and_of_complex_do_not() -> None:
    assert dtypes.bool.limits == (0, 1)
    with pytest.raises(ValueError, match="complex64"):
        _ = dtypes.complex64.limits


def test_resource_has_no_numpy_type() -> None:
    assert not hasattr(dtypes.resource, "numpy")
    with pytest.raises(AttributeError, match=r"resource.*no NumPy type"):
        _ = dtypes.resource.as_numpy_dtype
    assert dtypes.resource not in dtypes.ALL


def test_compatible_means_the_same() -> None:
    assert dtypes.int32.is_compatible_with("int32")
    assert not dtypes.int32.is_compatible_with(np.int64)
    with pytest.raises(TypeError):
        dtypes.int32.is_compatible_with("nonsense")


def test_an_unknown_number_says_which_exist() -> None:
    with pytest.raises(TypeError, match=r"999.*\[1, 2, 3"):
        DType(999)
