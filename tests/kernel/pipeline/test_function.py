"""Traced functions: signatures, captures, effects, threads and failures."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from treadle import nest, state
from treadle.tensorspec import TensorSpec, TypeSpec


def test_equal_signatures_share_a_trace(tf, toy):
    traces = []

    @tf.function
    def f(x):
        traces.append(1)
        return toy.mul(x, 2.0)

    assert [f(tf.constant([k])).numpy().tolist() for k in (1.0, 2.0)] == [[2.0], [4.0]]
    f(tf.constant([1.0, 2.0]))
    f(tf.constant([1.0], tf.float64))
    assert len(traces) == f.experimental_get_tracing_count() == 3


def test_python_values_count_by_type_and_value(tf, toy):
    seen = []

    @tf.function
    def f(x, k):
        seen.append(k)
        return toy.mul(x, float(k))

    for k in (1, True, 1.0, 1, 0.0, -0.0, float("nan"), float("nan")):
        f(tf.constant(1.0), k)
    assert [type(k) for k in seen] == [int, bool, float, float, float, float]


def test_structures_of_arguments_and_results(tf, toy):
    @tf.function
    def f(pair, *, scale=2.0):
        return {"sum": toy.add(*pair), "same": pair, "none": None, "text": "t"}

    x, y = tf.constant(1.0), tf.constant(2.0)
    out = f((x, y))
    assert float(out["sum"]) == 3.0 and isinstance(out["same"], tuple) and out["none"] is None and out["text"] == "t"


def test_captured_tensors_and_variables(tf, toy):
    c, v = tf.constant(10.0), tf.Variable(1.0)
    f = tf.function(lambda x: toy.add(toy.mul(x, c), v))
    assert float(f(tf.constant(2.0))) == 21.0
    v.assign(5.0)
    assert float(f(tf.constant(2.0))) == 25.0


def test_a_variable_argument_is_an_input(tf, toy):
    traces = []

    @tf.function
    def bump(v, x):
        traces.append(1)
        v.assign(toy.add(v, x))
        return v.read_value()

    a, b = tf.Variable(1.0), tf.Variable(10.0)
    assert [float(bump(v, tf.constant(1.0))) for v in (a, b, a)] == [2.0, 11.0, 3.0]
    assert (float(a), float(b), len(traces)) == (3.0, 11.0, 1)


def test_the_same_variable_twice_is_another_signature(tf, toy):
    @tf.function
    def f(v, w):
        v.assign(toy.add(w, 1.0))
        return toy.add(v, w)

    a, b = tf.Variable(1.0), tf.Variable(10.0)
    assert float(f(a, b)) == 21.0
    assert float(f(b, b)) == 22.0


def test_effects_keep_program_order(tf, toy):
    said, v = [], tf.Variable(1.0)

    @tf.function
    def f(x):
        toy.say(v, to=said)
        v.assign(toy.add(v, x))
        toy.say(v, to=said)
        v.assign(toy.mul(v, 10.0))
        toy.say(v, to=said)

    f(tf.constant(1.0))
    f(tf.constant(0.0))
    assert said == [1.0, 2.0, 20.0, 20.0, 20.0, 200.0]


def test_draws_are_made_in_order_and_are_never_merged_or_dropped(tf, toy):
    @tf.function
    def f():
        toy.draw()
        return toy.draw(), toy.draw()

    start = toy.counter[0]
    f()
    toy.counter[0] = start
    assert [int(t) - start for t in f()] == [2, 3]


def test_what_was_read_keeps_its_value(tf, toy):
    v = tf.Variable(np.ones(5000, np.float32))

    @tf.function
    def f():
        before = v.read_value()
        v.assign(toy.add(v, 1.0))
        return before, v.read_value()

    first, second = f()
    third = f()
    assert float(first.numpy().max()) == 1.0 and float(second.numpy().min()) == 2.0 and float(third[0].numpy().min()) == 2.0
    assert float(second.numpy().min()) == 2.0


def test_results_never_share_memory_with_a_later_call(tf, toy):
    f = tf.function(lambda x: toy.mul(toy.add(toy.mul(x, 2.0), 1.0), 3.0))
    x = tf.constant(np.ones(10_000, np.float32))
    first = f(x)
    copy = first.numpy()
    f(tf.constant(np.full(10_000, 7, np.float32)))
    assert np.array_equal(first.numpy(), copy)


def test_a_call_may_nest_in_itself_through_a_callback(tf, toy):
    class Echo(list):
        def append(self, value):
            super().append(value)
            if len(self) < 3:
                f(tf.constant(np.full(5000, len(self), np.float32)))

    echo = Echo()

    @tf.function
    def f(x):
        y = toy.mul(toy.add(x, 1.0), 2.0)
        toy.say(toy.total(y), to=echo)
        return toy.mul(y, y)

    out = f(tf.constant(np.zeros(5000, np.float32)))
    assert list(echo) == [10_000.0, 20_000.0, 30_000.0] and float(out.numpy().max()) == 4.0


def test_threads_call_and_trace_at_once(tf, toy):
    barrier = threading.Barrier(6)
    results = []

    @tf.function
    def f(x):
        y = x
        for _ in range(20):
            y = toy.add(toy.mul(y, 1.0), x)
        return toy.total(y)

    def work(n):
        x = tf.constant(np.ones(n, np.float32))
        barrier.wait()
        results.append([float(f(x)) for _ in range(30)] == [21.0 * n] * 30)

    threads = [threading.Thread(target=work, args=(n,)) for n in (3, 3, 4, 4, 6000, 6000)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True] * 6 and f.experimental_get_tracing_count() == 3


def test_eager_ops_of_other_threads_stay_eager(tf, toy):
    seen = []

    @tf.function
    def f(x):
        def other():
            seen.append(toy.add(tf.constant(1.0), tf.constant(2.0)))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return toy.neg(x)

    f(tf.constant(1.0))
    assert float(seen[0]) == 3.0


def test_a_trace_that_raised_leaves_everything_usable(tf, toy):
    calls = []

    @tf.function
    def f(x):
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("not yet")
        return toy.neg(x)

    with pytest.raises(RuntimeError, match="not yet"):
        f(tf.constant(1.0))
    assert tf.executing_eagerly() and float(f(tf.constant(1.0))) == -1.0
    from treadle.state import LOCAL, STATE

    assert STATE.busy == LOCAL.depth == 0


def test_what_does_not_fit_in_a_run_is_refused_in_the_words_of_inference(tf, toy):
    x, y = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="broadcast") as eager:
        toy.add(x, y)
    unknown = [tf.TensorSpec([None], tf.float32)] * 2
    with pytest.raises(ValueError, match="broadcast") as traced:
        tf.function(lambda a, b: toy.neg(toy.add(a, toy.neg(b))), input_signature=unknown)(x, y)
    assert str(traced.value).startswith(str(eager.value))
    assert "in op 'toy.add'" in str(traced.value)


def test_a_leaked_symbolic_tensor_is_explained(tf, toy):
    kept = []

    @tf.function
    def f(x):
        kept.append(toy.neg(x))
        return x

    f(tf.constant(1.0))
    with pytest.raises(Exception, match=r"graph.*'f'.*leaked"):
        toy.add(kept[0], 1.0)


def test_a_tensor_as_a_python_bool_names_the_line_and_the_way_out(tf, toy):
    def f(x):
        if x:
            return x
        return toy.neg(x)

    with pytest.raises(TypeError, match=r"(?s)bool.*test_function.py:\d+.*td.cond"):
        tf.function(f, autograph=False)(tf.constant(1.0))


def test_an_error_inside_a_plan_names_the_users_line(tf, toy):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.float32)])
    def f(x, y):
        return toy.add(x, y)

    with pytest.raises(ValueError, match=r"(?s)toy.add.*test_function.py:\d+ `return toy.add\(x, y\)`"):
        f(tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0]))


def test_input_signatures_serve_every_size_with_one_trace(tf, toy):
    f = tf.function(lambda x: toy.mul(x, x), input_signature=[tf.TensorSpec([None], tf.float32)])
    assert [f(tf.constant(np.ones(n, np.float32))).shape for n in (1, 2, 3, 2)] == [(1,), (2,), (3,), (2,)]
    assert f.experimental_get_tracing_count() == 1


def test_methods_trace_once_per_instance_and_die_with_it(tf, toy):
    class Model:
        def __init__(self, k):
            self.v = tf.Variable(k)

        @tf.function
        def __call__(self, x):
            return toy.mul(x, self.v)

    a, b = Model(2.0), Model(3.0)
    assert [float(m(tf.constant(5.0))) for m in (a, b, a)] == [10.0, 15.0, 10.0]
    refs = [weakref.ref(a), weakref.ref(a.v)]
    del a
    gc.collect()
    assert [r() for r in refs] == [None, None]


def test_traces_for_objects_that_are_gone_are_dropped(tf, toy):
    class Scale:
        k = 2.0

    @tf.function
    def f(scale, x):
        return toy.mul(x, scale.k)

    for _ in range(4):
        f(Scale(), tf.constant(1.0))
    assert f.experimental_get_tracing_count() == 4
    assert len(f.concrete_functions()) == 0


def test_gradients_inside_through_and_both(tf, toy):
    v = tf.Variable(3.0)

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = toy.mul(toy.mul(x, x), v)
        return tape.gradient(y, x)

    x = tf.constant(2.0)
    assert float(slope(x)) == 12.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        s = slope(x)
    assert [float(g) for g in tape.gradient(s, [x, v])] == [6.0, 4.0]


def test_second_order_from_outside(tf, toy):
    f = tf.function(lambda x: toy.mul(toy.mul(x, x), x))
    x = tf.constant(2.0)
    with tf.GradientTape() as t3:
        t3.watch(x)
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                y = f(x)
            a = t1.gradient(y, x)
        b = t2.gradient(a, x)
    assert [float(a), float(b), float(t3.gradient(b, x))] == [12.0, 12.0, 6.0]


def test_a_captured_tensor_that_is_watched_outside_gets_its_gradient(tf, toy):
    c = tf.constant(4.0)
    f = tf.function(lambda x: toy.mul(toy.mul(x, c), c))
    with tf.GradientTape() as tape:
        tape.watch(c)
        y = f(tf.constant(3.0))
    assert float(tape.gradient(y, c)) == 24.0


def test_functions_call_functions(tf, toy):
    inner = tf.function(lambda x: toy.mul(x, x))
    outer = tf.function(lambda x: toy.add(inner(x), inner(toy.neg(x))))
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outer(x)
    assert (float(y), float(tape.gradient(y, x))) == (18.0, 12.0)


def test_variables_may_be_made_once(tf, toy):
    class Lazy:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(5.0)
            return toy.mul(x, self.v)

    lazy = Lazy()
    assert [float(lazy(tf.constant(2.0))) for _ in range(2)] == [10.0, 10.0]
    bad = tf.function(lambda x: toy.mul(x, tf.Variable(2.0)))
    with pytest.raises(ValueError, match=r"(?i)once.*outside"):
        bad(tf.constant(1.0))


def test_functions_can_run_eagerly(tf, toy):
    f = tf.function(lambda x: toy.mul(x, 2.0 if tf.executing_eagerly() else 3.0))
    x = tf.constant(1.0)
    assert float(f(x)) == 3.0
    tf.config.run_functions_eagerly(True)
    try:
        assert float(f(x)) == 2.0
    finally:
        tf.config.run_functions_eagerly(False)
    assert float(f(x)) == 3.0


def test_init_scope_leaves_the_trace(tf, toy):
    seen = []

    @tf.function
    def f(x):
        with tf.init_scope():
            seen.append((tf.executing_eagerly(), float(toy.add(tf.constant(1.0), 1.0))))
        seen.append(tf.executing_eagerly())
        return x

    f(tf.constant(1.0))
    assert seen == [(True, 2.0), False]


def test_eval_shape_computes_nothing(tf, toy):
    spec = tf.eval_shape(lambda x, y: {"z": toy.mul(x, y)}, tf.TensorSpec([None, 3]), tf.TensorSpec([3]))
    assert spec["z"].shape.as_list() == [None, 3] and spec["z"].dtype == tf.float32


def test_a_keyboard_interrupt_inside_a_kernel_leaves_everything_usable(tf, toy):
    class Interrupting(list):
        def append(self, value):
            raise KeyboardInterrupt

    @tf.function
    def f(x):
        y = toy.mul(toy.add(x, 1.0), 2.0)
        toy.say(y, to=sink[0])
        return toy.mul(y, y)

    sink = [Interrupting()]
    x = tf.constant(np.ones(5000, np.float32))
    with pytest.raises(KeyboardInterrupt):
        f(x)
    assert float(tf.function(lambda x: toy.neg(x))(x).numpy().max()) == -1.0


def test_eager_functions_may_be_switched_on_in_one_thread_and_off_in_another(tf, toy):
    busy = state.STATE.busy
    tf.config.run_functions_eagerly(True)
    thread = threading.Thread(target=tf.config.run_functions_eagerly, args=(False,))
    thread.start()
    thread.join()
    assert (state.STATE.busy, state.STATE.held, state.LOCAL.depth) == (busy, 0, 0)


def test_numbers_that_fit_no_64_bits_are_refused_by_name(tf, toy):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"toy.full: 'shape' is .*18446744073709551616.*64 bits"):
        tf.function(lambda: toy.full(1.0, [2**64]))()


class Interval:
    def __init__(self, low, high, name):
        self.low, self.high, self.name = low, high, name


class IntervalSpec(TypeSpec):
    def __init__(self, name):
        self.name = name

    def is_compatible_with(self, other):
        return isinstance(other, Interval | IntervalSpec) and other.name == self.name

    def outline(self):
        return Interval(TensorSpec([]), TensorSpec([]), self.name)


nest.register(Interval, lambda i: ((i.low, i.high), i.name), lambda name, children: Interval(*children, name))


def test_structures_of_others_stand_in_an_input_signature_by_their_spec(tf, toy):
    @tf.function(input_signature=[[IntervalSpec("x")]])
    def f(intervals):
        return Interval(toy.neg(intervals[0].high), toy.neg(intervals[0].low), "x")

    result = f([Interval(1.0, tf.constant(2.0), "x")])
    assert (float(result.low), float(result.high), result.name) == (-2.0, -1.0, "x")
    assert f.get_concrete_function() is f.get_concrete_function([IntervalSpec("x")])
    with pytest.raises(TypeError, match=r"f: intervals\[0\] must be .*IntervalSpec.*, got .*Interval"):
        f([Interval(1.0, 2.0, "y")])
    with pytest.raises(TypeError, match="cannot stand for an argument"):
        tf.function(lambda x: x, input_signature=[TypeSpec()])


def test_sizes_that_do_not_fit_inside_a_called_function_name_its_op_and_line(tf, toy):
    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None])])
    def inner(x, y):
        z = toy.neg(x)
        return toy.add(z, y)

    outer = tf.function(lambda x, y: inner(x, y))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"toy.add.*float32\[2\], float32\[3\].*'inner'.*return toy.add\(z, y\)"):
        outer(tf.constant(np.ones(2, np.float32)), tf.constant(np.ones(3, np.float32)))
