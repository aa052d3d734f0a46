"""Eager dispatch: the fast path, the slow path, and the errors that explain themselves."""

from __future__ import annotations

import gc
import threading
import warnings

import numpy as np
import pytest

from treadle.errors import DeviceError, DTypeError, InvalidArgumentError, KernelNotFoundError, PluginError, ShapeError
from treadle.registry import registry


def test_an_op_runs_at_once_and_gives_a_tensor(tf, toy):
    out = toy.add(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))
    assert isinstance(out, tf.Tensor) and out.numpy().tolist() == [4.0, 6.0] and out.dtype == tf.float32


def test_operators_are_what_fills_their_roles(tf, toy):
    x = tf.constant([1.0, 2.0])
    assert (x + x).numpy().tolist() == [2.0, 4.0] and (-x).numpy().tolist() == [-1.0, -2.0] and (x * 3).numpy().tolist() == [3.0, 6.0]


def test_an_unfilled_role_says_what_to_install(tf):
    with pytest.raises(PluginError, match="treadle-ops"):
        tf.constant(1.0) - 1.0


def test_python_numbers_take_the_dtype_of_the_tensor_beside_them(tf, toy):
    assert toy.mul(tf.constant([2], tf.int8), 3).dtype == tf.int8
    assert toy.mul(3, tf.constant([2.0], tf.float64)).dtype == tf.float64
    with pytest.raises((TypeError, OverflowError), match="300"):
        toy.mul(tf.constant([2], tf.int8), 300)


def test_zero_and_minus_zero_stay_apart_as_python_numbers(tf, toy):
    x = tf.constant([1.0])
    signs = [np.signbit(toy.mul(x, zero).numpy())[0] for zero in (0.0, -0.0, 0.0, -0.0)]
    assert signs == [False, True, False, True]


def test_mixed_dtypes_are_refused_by_name(tf, toy):
    with pytest.raises(DTypeError, match=r"toy.add.*float32.*int32"):
        toy.add(tf.constant([1.0]), tf.constant([1]))


def test_shapes_that_do_not_broadcast_are_refused_with_both(tf, toy):
    with pytest.raises(ShapeError, match=r"toy.add.*\(2,\).*\(3,\)"):
        toy.add(tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0]))


def test_what_cannot_be_a_tensor_is_named_with_its_argument(tf, toy):
    with pytest.raises((TypeError, ValueError), match=r"toy.add.*'y'"):
        toy.add(tf.constant([1.0]), object())


def test_a_missing_kernel_lists_those_there_are(tf, toy):
    from treadle.declare import Spec, op

    @op("toy.nowhere")
    def nowhere(x: Spec) -> Spec:
        return x

    with registry.transaction("toy-2"):
        registry.add_op(nowhere.op)
    with pytest.raises(KernelNotFoundError, match=r"toy.nowhere.*/CPU:0.*float32.*present: none"):
        nowhere(tf.constant([1.0]))


def test_an_unknown_op_lists_near_names(tf):
    with pytest.raises(AttributeError, match=r"toy.ad.*toy.add"):
        registry.op("toy.ad")


def test_registering_kernels_later_serves_open_devices_at_once(tf, toy):
    import sys
    import types

    from treadle.declare import Spec, kernel, op

    @op("toy.late")
    def late(x: Spec) -> Spec:
        return x

    module = types.ModuleType("treadle_toy_late")
    sys.modules[module.__name__] = module

    def factory(xp):
        return np.sqrt

    factory.__module__ = module.__name__
    kernel("toy.late")(factory)
    tf.constant(1.0)
    with registry.transaction("toy-3"):
        registry.add_op(late.op)
        registry.add_kernels(for_="CPU", module=module.__name__)
    assert late(tf.constant(9.0)).numpy() == 3.0


def test_no_floating_point_warning_reaches_the_user_and_his_error_state_stays(tf, toy):
    x = tf.constant([3e38])
    before = np.geterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(toy.mul(x, x).numpy()[0])
    assert np.geterr() == before


def test_an_op_inside_an_observers_callback_of_a_running_kernel_works(tf, toy):
    """A finaliser may run while a kernel does; the thread's quiet context cannot be entered twice."""
    from treadle.state import LOCAL

    assert LOCAL.run(lambda: toy.add(tf.constant([1.0]), tf.constant([2.0])).numpy().tolist()) == [3.0]


def test_arrays_handed_in_are_copied_and_numpy_gives_a_writable_copy(tf):
    source = np.array([1.0, 2.0], np.float32)
    x = tf.constant(source)
    source[0] = 9
    copy = x.numpy()
    copy[1] = 9
    assert x.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x)[0] = 5


def test_a_closed_device_is_named(tf, toy):
    from treadle import devices

    x = tf.constant([1.0])
    double = tf.function(lambda x: toy.add(x, x))
    for _ in range(3):  # the third call takes the short way
        double(x)
    devices.close("/CPU:0")
    try:
        for call in (lambda: toy.add(x, x), lambda: double(x), lambda: double.get_concrete_function(x)(x)):
            with pytest.raises(InvalidArgumentError, match=r"/CPU:0.*closed"):
                call()
        assert double(tf.constant([1.0])).numpy().tolist() == [2.0]
    finally:
        assert toy.add(tf.constant([1.0]), tf.constant([1.0])).numpy().tolist() == [2.0]


def test_a_default_device_that_nobody_offers_names_the_setting(tf):
    from treadle import settings

    with (
        settings.override(device="/ABACUS:0"),
        pytest.raises(DeviceError, match=r"code \[device\]: default is '/ABACUS:0': no plugin offers the device type 'ABACUS'"),
    ):
        tf.constant([1.0])


def test_many_threads_compute_at_once(tf, toy):
    x = tf.constant(np.arange(1000, dtype=np.float32))
    results = []

    def work():
        y = x
        for _ in range(200):
            y = toy.add(y, x)
        results.append(float(toy.total(y)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 8 and len(set(results)) == 1


def test_tensors_are_freed_when_nobody_holds_them(tf, toy):
    import weakref

    x = toy.add(tf.constant([1.0]), tf.constant([1.0]))
    ref = weakref.ref(x)
    del x
    gc.collect()
    assert ref() is None
