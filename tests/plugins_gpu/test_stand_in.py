"""The stand-in has CuPy's manners, or the tests that run on it would prove nothing."""

from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

API = json.loads((Path(__file__).parent / "fake_cupy/cupy/api.json").read_text())
HOST = np.arange(6, dtype=np.float32)


@pytest.fixture
def cupy(td):
    import cupy

    yield cupy
    cupy.cuda.violations.clear()


def test_it_offers_no_name_that_cupy_lacks(cupy):
    import cupyx

    own = {"array", "cuda", "ndarray", "ufunc", "annotations"}
    for module, path in ((cupy, "cupy"), (cupy.linalg, "cupy.linalg"), (cupy.fft, "cupy.fft"), (cupyx, "cupyx")):
        helpers = {"np", "Any", "threading", "contextlib", "Iterator", "missing", "API", "ERRORS", "require_array", "matmul", "linalg", "os"}
        assert {n for n in dir(module) if not n.startswith("_")} - own - helpers <= set(API["modules"][path])
    with pytest.raises(AttributeError, match="module 'cupy' has no attribute 'matvec'"):
        cupy.matvec  # noqa: B018  reading the name is under test
    with pytest.raises(NotImplementedError, match="does not play it yet"):
        cupy.polyfit  # noqa: B018  reading the name is under test


def test_arrays_never_become_numpys_by_themselves(cupy):
    x = cupy.array(HOST)
    with pytest.raises(TypeError, match="Implicit conversion to a NumPy array is not allowed"):
        np.asarray(x)
    with pytest.raises(TypeError, match=r"Unsupported type <class 'numpy.ndarray'>"):
        x + HOST
    with pytest.raises(TypeError, match="Unsupported type <class 'list'>"):
        cupy.add(x, [1, 2, 3, 4, 5, 6])
    with pytest.raises(TypeError, match=r"Unsupported type <class 'numpy.ndarray'>"):
        cupy.sum(HOST)
    with pytest.raises(ValueError, match=r"non-scalar numpy.ndarray cannot be used for fill"):
        x[:] = HOST
    np.testing.assert_array_equal(cupy.asnumpy(x), HOST)


def test_results_are_arrays_and_never_scalars(cupy):
    x = cupy.array(HOST)
    for result in (x[1], x.sum(), x.max(), cupy.add(x[0], x[1]), x.reshape(2, 3)[1, 1], cupy.count_nonzero(x), x.argmax(), x @ x):
        assert type(result) is cupy.ndarray
        assert result.shape == ()
    with pytest.raises(TypeError):
        range(x[1].astype("i4"))  # there is no __index__


def test_indices_out_of_range_wrap_round(cupy):
    x = cupy.array(HOST)
    assert x[cupy.array([6, -7])].tolist() == [0, 5]
    assert x.take(cupy.array([13])).tolist() == [1]
    x[cupy.array([7])] = 50
    assert x[1] == 50
    with pytest.raises(IndexError):
        x[6]


def test_ufuncs_have_cupys_loops_and_keywords(cupy):
    x = cupy.array(HOST)
    assert cupy.add(x, 1, x) is x
    assert cupy.add(x, 1, out=x, dtype="f4") is x
    assert (x.astype("i1") / x.astype("i1")).dtype == np.float64
    assert (x.astype("f2") * 2.5).dtype == np.float16
    assert (x * np.float64(2)).dtype == np.float64
    with pytest.raises(TypeError, match=r"Wrong arguments {'where': True}"):
        cupy.add(x, x, where=True)
    with pytest.raises(NotImplementedError, match=r"`cupy_maximum.reduce` is not supported yet"):
        cupy.maximum.reduce(x)
    with pytest.raises(NotImplementedError, match=r"`cupy_power.at` is not supported yet"):
        cupy.power.at(x, cupy.array([0]), x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'initial'"):
        cupy.sum(x, initial=3)
    with pytest.raises(ValueError, match="Out shape is mismatched"):
        cupy.add(x, x, x.reshape(2, 3))
    with pytest.raises(TypeError):
        cupy.bitwise_and(x, x)
    with pytest.raises(ValueError, match="Unsupported dtype bfloat16"):
        cupy.array(HOST.astype(ml_dtypes.bfloat16))


def test_numbers_are_those_of_a_card_where_they_differ(cupy):
    x = cupy.array([np.nan, 1e20, -1e20, -5.7])
    assert x.astype("i4").tolist() == [0, 2**31 - 1, -(2**31), -5]
    assert np.isnan(float(cupy.remainder(cupy.array([5.0]), cupy.array([np.inf]))[0]))
    assert (cupy.array([7]) // cupy.array([0])).tolist() == [0]
    assert cupy.fmod(cupy.array([2**62 + 1]), cupy.array([10])).tolist() != [(2**62 + 1) % 10]
    at = cupy.zeros(1)
    cupy.maximum.at(at, cupy.array([0]), cupy.array([1 + 2**-40]))
    assert float(at[0]) == 1
    assert not np.array_equal(cupy.empty(4).get(), np.zeros(4))


def test_linear_algebra_complains_only_when_asked(cupy):
    import cupyx

    singular = cupy.ones((2, 2))
    assert np.isnan(cupy.linalg.inv(singular).get()).all()
    with cupyx.errstate(linalg="raise"), pytest.raises(np.linalg.LinAlgError):
        cupy.linalg.inv(singular)


def test_memory_is_used_on_its_card_only(cupy):
    with cupy.cuda.Device(1):
        x = cupy.array(HOST)
    with pytest.raises(cupy.cuda.MisuseError, match=r"\(1\) is different from the current device \(0\)"):
        x + 1
    with cupy.cuda.Device(1):
        assert (x + 1).device == cupy.cuda.Device(1)
    assert cupy.array(x).device == cupy.cuda.Device(0)


def test_streams_wait_for_each_other_or_fail(cupy):
    first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    with first:
        x = cupy.array(HOST)
    with second:
        with pytest.raises(cupy.cuda.MisuseError, match="did not wait"):
            x + 1
        second.wait_event(first.record())
        y = x + 1
    with pytest.raises(cupy.cuda.MisuseError, match="did not wait"):
        y.tolist()
    second.synchronize()
    assert y.tolist() == (HOST + 1).tolist()
    with cupy.cuda.Device(1), pytest.raises(RuntimeError, match="does not match with the current device"), first:
        pass


def test_memory_that_is_freed_while_another_stream_reads_it_is_noted(cupy):
    pool, stream = cupy.cuda.MemoryPool(), cupy.cuda.Stream(non_blocking=True)
    with cupy.cuda.using_allocator(pool.malloc):
        x = cupy.array(HOST)
    cupy.cuda.Stream.null.synchronize()
    assert pool.used_bytes() == 512
    with stream:
        x + 1
    del x
    assert pool.used_bytes() == 0
    assert cupy.cuda.violations == ["memory of card 0 was freed while another stream used it"]
