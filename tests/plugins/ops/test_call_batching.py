"""Calls of several threads that run together."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import treadle as td


def together(function, arguments):
    results = [None] * len(arguments)
    start = threading.Barrier(len(arguments))

    def call(i):
        start.wait()
        try:
            results[i] = function(td.constant(arguments[i], td.float32))
        except Exception as error:
            results[i] = error

    threads = [threading.Thread(target=call, args=(i,)) for i in range(len(arguments))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    return results


def test_calls_run_together_and_each_gets_its_own_rows():
    sizes = []

    @td.nondifferentiable_batch_function(2, 8, 200_000)
    def double(x):
        sizes.append(int(x.shape[0]))
        return {"y": x * 2}

    results = together(double, [[i] * (i % 3 + 1) for i in range(12)])
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result["y"], [2.0 * i] * (i % 3 + 1))
    assert sum(sizes) == 24 and len(sizes) < 12 and max(sizes) <= 8


def test_a_lonely_call_waits_no_longer_than_it_must():
    function = td.nondifferentiable_batch_function(1, 4, 1000)(td.function(lambda x: x + 1))
    np.testing.assert_array_equal(function([1.0, 2.0]), [2, 3])


def test_batches_are_filled_up_to_allowed_sizes():
    sizes = []

    @td.nondifferentiable_batch_function(1, 4, 1000, allowed_batch_sizes=[2, 4])
    def same(x):
        sizes.append(int(x.shape[0]))
        return x

    np.testing.assert_array_equal(same([5.0]), [5.0])
    np.testing.assert_array_equal(same([1.0, 2.0, 3.0]), [1, 2, 3])
    assert sizes == [2, 4]


def test_an_error_reaches_every_caller():
    @td.nondifferentiable_batch_function(1, 8, 100_000)
    def bad(x):
        raise td.errors.DataLossError(None, None, "gone")

    assert all(isinstance(r, td.errors.DataLossError) for r in together(bad, [[1], [2], [3]]))


def test_too_many_rows_and_bad_sizes_are_refused():
    with pytest.raises(ValueError, match="5 rows, and max_batch_size is 4"):
        td.nondifferentiable_batch_function(1, 4, 0)(lambda x: x)([1.0] * 5)
    with pytest.raises(ValueError, match="must rise, and the last be max_batch_size, 4"):
        td.nondifferentiable_batch_function(1, 4, 0, allowed_batch_sizes=[4, 2])
