"""A GPU as a device: opening, copies, memory, which device computes, dtypes, forks."""

from __future__ import annotations

import gc

import ml_dtypes
import numpy as np
import pytest

from treadle import devices
from treadle.errors import DTypeError, InvalidArgumentError
from treadle.registry import open_devices

HOST = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_a_tensor_is_copied_both_ways(td, cards):
    for array in (HOST, HOST[:, ::2], np.float32(3), np.zeros((0, 4)), np.array([True, False]), HOST.astype(np.complex64), HOST.astype(np.float16)):
        there = td.constant(array).gpu()
        assert there.device == "/GPU:0"
        np.testing.assert_array_equal(there.numpy(), array, strict=True)
        back = there.cpu()
        assert back.device == "/CPU:0"
        np.testing.assert_array_equal(back.numpy(), array, strict=True)


def test_a_tensor_that_is_there_already_is_not_copied(td, cards):
    there = td.constant(HOST).gpu()
    assert there.gpu() is there
    here = there.cpu()
    assert here.cpu() is here


def test_a_tensor_goes_from_one_card_to_another(td, cards):
    first = td.constant(HOST).gpu(0)
    second = (first * 2).gpu(1)
    assert second.device == "/GPU:1"
    np.testing.assert_array_equal(second.numpy(), HOST * 2)
    np.testing.assert_array_equal(second.gpu(0).numpy(), HOST * 2)


def test_a_source_may_be_dropped_once_it_is_copied(td, cards):
    copies = [(td.constant(HOST).gpu(0) + i).gpu(1) for i in range(5)]
    gc.collect()
    for i, copied in enumerate(copies):
        np.testing.assert_array_equal(copied.numpy(), HOST + i)


def test_what_is_made_in_a_scope_is_on_its_card(td, cards):
    with td.device("/GPU:1"):
        made = [td.constant(HOST), td.zeros([2]), td.ones([]), td.range(4), td.Variable(HOST), td.random.normal([3]), td.eye(2), td.fill([2], 7)]
        assert {m.device for m in made} == {"/GPU:1"}
        with td.device("/CPU:0"):
            assert td.zeros([2]).device == "/CPU:0"
        assert td.zeros([2]).device == "/GPU:1"
    assert td.zeros([2]).device == "/CPU:0"


def test_without_a_scope_the_first_input_that_is_not_on_the_default_device_decides(td, cards):
    here, there, elsewhere = td.constant(HOST), td.constant(HOST).gpu(0), td.constant(HOST).gpu(1)
    assert (here + here).device == "/CPU:0"
    assert (here + there).device == "/GPU:0"
    assert (there + here).device == "/GPU:0"
    assert (there + elsewhere).device == "/GPU:0"
    assert (elsewhere + there).device == "/GPU:1"
    assert (there + 1.0).device == "/GPU:0"
    assert (2.0 * there).device == "/GPU:0"
    assert td.concat([here, elsewhere], 0).device == "/GPU:1"
    np.testing.assert_array_equal((there + elsewhere).numpy(), HOST * 2)


def test_a_scope_moves_the_inputs_to_its_device(td, cards):
    there = td.constant(HOST).gpu(0)
    with td.device("/GPU:1"):
        assert (there + there).device == "/GPU:1"
    with td.device("/CPU:0"):
        moved = there * 3.0
    assert moved.device == "/CPU:0"
    np.testing.assert_array_equal(moved.numpy(), HOST * 3)


def test_tensors_print_iterate_and_become_python_values(td, cards):
    there = td.constant(HOST).gpu()
    assert "[0., 1., 2.]" in repr(there)
    assert [float(row[0]) for row in there] == [0.0, 3.0]
    assert float(there[1, 2]) == 5.0
    assert bool(td.reduce_all(there >= 0))
    np.testing.assert_array_equal(np.asarray(there), HOST)
    assert int(td.constant(7).gpu()) == 7
    assert list(range(10))[td.constant(7).gpu()] == 7


def test_variables_live_where_they_were_made(td, cards):
    with td.device("/GPU:0"):
        v = td.Variable(HOST)
    v.assign_add(td.ones([2, 3]))
    assert v.device == "/GPU:0"
    v[1].assign(td.zeros([3]))
    np.testing.assert_array_equal(v.numpy(), [[1, 2, 3], [0, 0, 0]])


# ---------------------------------------------------------------------- memory


def test_memory_figures_count_what_is_held_and_the_most_that_was(td, cards):
    device = devices.find("/GPU:1")
    gc.collect()
    device.reset_memory_stats()
    before = td.config.experimental.get_memory_info("/GPU:1")
    with td.device("/GPU:1"):
        held = td.zeros([1 << 18])
        td.ones([1 << 18])
    with_it = td.config.experimental.get_memory_info("/GPU:1")
    assert with_it["current"] - before["current"] == 1 << 20
    assert with_it["peak"] - before["current"] >= 2 << 20
    del held
    gc.collect()
    assert td.config.experimental.get_memory_info("/GPU:1")["current"] == before["current"]
    td.config.experimental.reset_memory_stats("/GPU:1")
    assert td.config.experimental.get_memory_info("/GPU:1")["peak"] == before["current"]


def test_the_figures_are_those_of_the_card_asked_for(td, cards):
    with td.device("/GPU:0"):
        held = td.zeros([1 << 20])
    assert devices.find("/GPU:0").memory_info().current >= held.numpy().nbytes
    assert devices.find("/GPU:1").memory_info().current < 1 << 20


def test_a_device_says_what_it_is(td, cards):
    details = td.config.experimental.get_device_details(td.config.list_physical_devices("GPU")[1])
    assert details == {"device_name": "Stand-in 1", "compute_capability": (9, 0), "memory": 1 << 34}


# ---------------------------------------------------------------------- opening and closing


def test_a_closed_device_is_opened_again_and_its_tensors_are_refused(td, cards):
    double = td.function(lambda x: x + x, autograph=False)
    old = double(td.constant(HOST).gpu(1))
    devices.close("/GPU:1")
    assert "/GPU:1" not in open_devices
    with pytest.raises(InvalidArgumentError, match="/GPU:1, which was closed"):
        td.add(old, old)
    new = td.constant(HOST).gpu(1)
    for add in (td.add, lambda x, y: double(x)):
        twice = add(new, new)
        assert twice._key.device is devices.find("/GPU:1")
        np.testing.assert_array_equal(twice.numpy(), HOST * 2)


def test_kernels_are_imported_when_a_gpu_is_opened_and_not_before(child):
    said = child(
        """
        import sys, treadle as td
        print(len(td.config.list_physical_devices("GPU")), "treadle_cuda.kernels" in sys.modules)
        td.ones([2]).gpu()
        print("treadle_cuda.kernels" in sys.modules)
        """
    )
    assert said.split() == ["2", "False", "True"]


def test_the_default_device_may_be_a_gpu(child):
    said = child("import treadle as td; print(td.ones([2]).device, td.function(lambda x: x + 1)(td.ones([2])).device)", TREADLE_DEVICE="/GPU:0")
    assert said == "/GPU:0 /GPU:0"


FORK = """
    import os, sys, treadle as td
    x = td.ones([2]).gpu()
    y = td.function(lambda x: x * 2)
    y(x)
    child = os.fork()
    if child == 0:
        for use in (lambda: x + x, lambda: x.numpy(), lambda: y(x), lambda: td.zeros([2]).gpu(), lambda: td.ones([2]).gpu(1),
                    lambda: td.config.experimental.get_memory_info("/GPU:0")):
            try:
                use()
            except td.errors.InvalidArgumentError as error:
                print(type(error).__name__, error, flush=True)
        print("the CPU works on:", float(td.add(1.0, 2.0)), flush=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print("status", status, float(td.reduce_sum(x + x)))
"""


def test_after_a_fork_a_gpu_is_refused_and_nothing_hangs(child):
    lines = child(FORK).splitlines()
    refused = [line for line in lines if "was opened before fork(); CUDA cannot be used in the child" in line]
    assert len(refused) == 5
    assert all(line.startswith("DeviceError") for line in refused)
    assert any("cudaErrorInitializationError" in line for line in lines)  # a card that was not open yet
    assert lines[-2:] == ["the CPU works on: 3.0", "status 0 4.0"]


def test_a_callback_runs_once_on_the_card_that_calls_it_and_its_gradient_too(td, cards):
    seen = []

    def square(x):
        seen.append(x.device)
        return x * x

    @td.function(autograph=False)
    def slope(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.py_function(square, [x], td.float32)
        return tape.gradient(y, x)

    td.ones([1]).gpu(0)
    for name in ("/GPU:1", "/GPU:0"):
        with td.device(name):
            np.testing.assert_array_equal(slope(td.constant([1.0, 2.0])).numpy(), [2, 4])
    assert seen == ["/GPU:1", "/GPU:0"]


def test_threads_share_a_card(td, cards):
    from concurrent.futures import ThreadPoolExecutor

    there = td.constant(HOST).gpu()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda i: (td.matmul(there, there, transpose_b=True) + float(i)).numpy(), range(40)))
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result, HOST @ HOST.T + i)


# ---------------------------------------------------------------------- dtypes


def test_dtypes_that_cupy_lacks_are_refused_by_name(td, cards):
    short = td.constant([1.0, 2.0], td.bfloat16)
    makers = [
        lambda: short.gpu(),
        lambda: td.cast(td.ones([2]).gpu(), td.bfloat16),
        lambda: td.function(lambda x: td.cast(td.cast(x, td.bfloat16), td.float32))(td.ones([2]).gpu()),
    ]
    with td.device("/GPU:0"):
        makers_inside = [lambda: td.zeros([2], td.bfloat16), lambda: td.constant(1.0, td.bfloat16), lambda: short + short]
        makers_inside += [lambda: td.constant(np.ones(2, ml_dtypes.float8_e5m2)), lambda: td.random.normal([2], dtype=td.bfloat16)]
        for make in makers_inside:
            with pytest.raises(DTypeError, match=r"/GPU:0 has no (bfloat16|float8_e5m2): CuPy does not compute with it"):
                make()
    for make in makers:
        with pytest.raises(DTypeError, match="/GPU:0 has no bfloat16: CuPy does not compute with it"):
            make()
    assert (short + short).device == "/CPU:0"
