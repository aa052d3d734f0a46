"""What lets go of what: errors, tapes, arguments and models leave nothing behind."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import treadle as td


class Thing:
    """Something that can be referred to weakly."""


def gone(*refs):
    gc.collect()
    return [r() is None for r in refs]


@pytest.mark.parametrize("when", ["traced", "run"])
def test_a_failed_call_keeps_neither_function_nor_arguments(when):
    @td.function
    def f(x, thing):
        return td.reshape(x, [7]) if when == "traced" else td.gather(x, 9)

    thing = Thing()
    with pytest.raises(td.errors.InvalidArgumentError):
        f(td.zeros([3]), thing)
    refs = weakref.ref(f), weakref.ref(thing)
    del f, thing
    assert gone(*refs) == [True, True]


def test_objects_that_were_arguments_are_not_kept_and_neither_are_their_traces():
    f = td.function(lambda thing, x: x + 1)
    refs = []
    for _ in range(8):
        thing = Thing()
        refs.append(weakref.ref(thing))
        f(thing, td.constant(1))
        del thing
    assert gone(*refs) == [True] * 8
    assert len(f.concrete_functions()) == 0


def test_a_persistent_tape_frees_what_it_watched():
    v = td.Variable(td.ones([10]))
    with td.GradientTape(persistent=True) as tape:
        y = td.reduce_sum(v * v)
    tape.gradient(y, v)
    ref = weakref.ref(v)
    del v, tape, y
    assert gone(ref) == [True]


def captured_things():
    """References to a tensor and an object that were captured by a function, its callback and its gradient, all gone out of scope."""
    big, thing = td.ones([1000]), Thing()

    @td.custom_gradient
    def same(x):
        return x * 1.0, lambda up: (thing, up)[1]

    f = td.function(lambda x: td.py_function(lambda v: (thing, v)[1], [same(x) + td.reduce_sum(big)], td.float32))
    x = td.constant(1.0)
    with td.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    tape.gradient(y, x)
    return weakref.ref(big), weakref.ref(thing)


def test_captured_tensors_and_callbacks_go_with_the_function():
    assert gone(*captured_things()) == [True, True]


def test_traced_control_flow_and_its_gradient_go_with_the_function():
    @td.function
    def f(x):
        for _ in td.range(3):
            if x > 0.0:
                x = x * 2.0
            else:
                x = x - 1.0
        return td.map_fn(lambda v: v * x, td.ones([2]))

    x = td.constant(1.0)
    with td.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    tape.gradient(y, x)
    refs = [weakref.ref(f), *(weakref.ref(c.graph) for c in f.concrete_functions())]
    del f, tape, y
    assert all(gone(*refs))


def test_a_module_with_a_traced_training_step_is_freed_at_once():
    class Model(td.Module):
        def __init__(self):
            super().__init__()
            self.w = td.Variable(td.ones([10]))

        @td.function
        def step(self, x):
            with td.GradientTape() as tape:
                loss = td.reduce_sum(self.w * x)
            self.w.assign_sub(tape.gradient(loss, self.w))
            return loss

    model = Model()
    model.step(td.constant(1.0))
    refs = weakref.ref(model), weakref.ref(model.w)
    gc.collect()
    gc.disable()
    try:
        del model
        assert refs[0]() is None
    finally:
        gc.enable()
    assert gone(*refs) == [True, True]  # its traces, which hold the Variable, are cyclic


def test_many_calls_and_gradients_leave_no_objects():
    f = td.function(lambda x: td.reduce_sum(x * 2.0))
    x = td.constant(np.ones(4, np.float32))

    def work(times):
        for _ in range(times):
            with td.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            tape.gradient(y, x)
        gc.collect()
        return len(gc.get_objects())

    work(20)
    assert work(200) - work(20) < 20


def test_what_a_tape_keeps_for_one_shape_is_not_taken_for_another():
    from treadle.registry import registry

    registry.op("qr").reads.clear()
    for shape in ((1, 1), (1, 2), (2, 1), (3, 2), (2, 3), (1, 1)):
        a = td.constant(np.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape))
        with td.GradientTape() as tape:
            tape.watch(a)
            r = td.linalg.qr(a).r
        td.testing.check_gradient(lambda a: td.linalg.qr(a).r, a.numpy())
        assert tape.gradient(r, a).shape == shape
