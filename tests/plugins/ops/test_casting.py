"""Casts by one rule, casts that saturate, and bits read as another dtype."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import treadle as td

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")


def by_the_rule(value, dtype):
    """A float as an integer: truncated; what int32 (int64 for wide dtypes and uint32) cannot hold is its smallest; then the low bits."""
    info = np.iinfo(dtype)
    bits = 64 if info.bits == 64 or dtype == "uint32" else 32
    if dtype == "uint64" and 2.0**63 <= value < 2.0**64:
        return int(value)
    whole = int(value) if -(2.0 ** (bits - 1)) <= value < 2.0 ** (bits - 1) else -(2 ** (bits - 1))
    wrapped = whole % 2**info.bits
    return wrapped - 2**info.bits if wrapped > info.max else wrapped


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_floats_become_integers_by_one_rule_in_every_lane(source, target, every_mode):
    ends = [sign * factor * 2.0**bits for sign in (1, -1) for bits in (7, 8, 15, 16, 31, 32, 63, 64) for factor in (0.75, 1.0, 1.5)]
    dtype = td.as_dtype(source).numpy
    with np.errstate(over="ignore"):
        x = np.array([np.nan, np.inf, -np.inf, 1.9, -1.9, 0.5, -0.0, *ends]).astype(dtype)
    want = [by_the_rule(float(v), target) for v in x]
    for repeated in (1, 3):
        (result,) = every_mode(lambda x: td.cast(x, target), np.tile(x, repeated))
        assert result.tolist() == want * repeated
    assert [int(td.cast(td.constant(v), target)) for v in x] == want


def test_casts_between_all_dtypes(every_mode):
    for source in (*INTEGERS, *FLOATS, "bool", "complex64", "complex128"):
        for target in (*INTEGERS, *FLOATS, "bool", "complex64", "complex128"):
            (result,) = every_mode(lambda x, target=target: td.cast(x, target), np.array([0, 1, 3]).astype(td.as_dtype(source).numpy), rank=False)
            assert result.dtype == td.as_dtype(target).numpy
            want = [0, 1, 1] if "bool" in (source, target) else [0, 1, 3]
            assert result.astype(complex).real.tolist() == want


def test_a_cast_rounds_and_overflows_as_ieee_says(every_mode):
    half, brain, real = every_mode(
        lambda x, z: (td.cast(x, td.float16), td.cast(x, td.bfloat16), td.cast(z, td.float32)), np.float32([1 / 7, 1e6, 2049]), np.complex64([1 + 2j])
    )
    np.testing.assert_array_equal(half, np.float16([0.14282227, np.inf, 2048]), strict=True)
    np.testing.assert_array_equal(brain, np.array([1 / 7, 1e6, 2049], ml_dtypes.bfloat16), strict=True)
    assert real.tolist() == [1]


def test_the_gradient_of_a_cast_is_cast_back():
    x = td.constant([1.0, 2.0])
    with td.GradientTape(persistent=True) as tape:
        tape.watch(x)
        wide, complex_ = td.cast(x, td.float64), td.cast(x, td.complex64)
        whole = td.cast(x, td.int32)
    assert tape.gradient(wide, x).dtype is td.float32
    assert tape.gradient(complex_, x).numpy().tolist() == [1, 1]
    assert tape.gradient(td.cast(whole, td.float32), x) is None


@pytest.mark.parametrize("target", [*INTEGERS, "float16", "bfloat16"])
@pytest.mark.parametrize("source", [*INTEGERS, "float32", "float64"])
def test_saturation_stays_within_the_range(source, target, every_mode):
    source, target = td.as_dtype(source), td.as_dtype(target)
    numbers = [-1e10, -300, -1, 0, 1, 300, 70_000, 1e10]
    if source.is_integer:
        numbers = [int(n) for n in numbers if source.min <= n <= source.max] + [source.min, source.max]
    else:
        numbers += [float(source.max), np.inf, -np.inf]
    x = np.array(numbers, source.numpy)
    (result,) = every_mode(lambda x: td.saturate_cast(x, target), x, rank=False)
    for got, number in zip(result, x, strict=True):
        low, high = float(target.min), float(target.max)
        want = min(max(float(number), low), high)
        assert low <= float(got) <= high
        assert float(got) == pytest.approx(want, rel=1e-2)
        assert target.is_floating or abs(want) > 2**24 or int(got) == int(want)


def test_saturation_of_complex_numbers_clips_parts():
    x = td.constant([1e300 - 2j])
    assert td.saturate_cast(x, td.complex64).numpy().tolist() == [np.finfo(np.float32).max - 2j]
    assert td.saturate_cast(x, td.int8).numpy().tolist() == [127]


@pytest.mark.parametrize(("source", "target"), [("float32", "int32"), ("bfloat16", "uint16"), ("float64", "complex64"), ("int8", "uint8")])
def test_bits_of_one_size_keep_the_shape(source, target, every_mode):
    x = np.array([[1, 2], [3, 4]]).astype(td.as_dtype(source).numpy)
    (result,) = every_mode(lambda x: td.bitcast(x, target), x)
    np.testing.assert_array_equal(result, x.view(td.as_dtype(target).numpy), strict=True)


def test_bits_unfold_into_a_last_axis_and_fold_again(every_mode):
    x = np.array([[1, 2], [3, -4]], np.int32)
    parts, again = every_mode(lambda x: (td.bitcast(x, td.uint8), td.bitcast(td.bitcast(x, td.uint8), td.int32)), x)
    np.testing.assert_array_equal(parts, x.view(np.uint8).reshape(2, 2, 4), strict=True)
    np.testing.assert_array_equal(again, x, strict=True)
    assert td.bitcast(td.constant(1.0), td.uint16).numpy().tolist() == [0, 16256]
    assert td.bitcast(td.zeros([0, 4], td.uint8), td.int32).shape == [0]


def test_bits_that_do_not_fold_are_refused(refuses):
    refuses(ValueError, lambda x: td.bitcast(x, td.int32), np.zeros((3, 3), np.uint8), match="last axis")
    refuses(ValueError, lambda x: td.bitcast(x, td.int32), np.uint8(1), match="last axis")
    refuses(TypeError, lambda x: td.bitcast(x, td.int8), np.array([True]), match="bool")
