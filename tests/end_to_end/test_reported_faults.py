"""Faults that users met in other frameworks, as small programs: none of them is here. Larger subjects have files of their own beside this one."""

from __future__ import annotations

import multiprocessing
import threading

import numpy as np
import pytest

import treadle as td

RNG = {
    "uniform": lambda: td.random.uniform([3]),
    "with an op seed": lambda: td.random.uniform([3], seed=5),
    "integers": lambda: td.random.uniform([8], maxval=100, dtype=td.int32),
    "normal": lambda: td.random.normal([3]),
    "truncated_normal": lambda: td.random.truncated_normal([3]),
    "gamma": lambda: td.random.gamma([3], 1.0),
    "poisson": lambda: td.random.poisson([8], 9.0),
    "categorical": lambda: td.random.categorical(td.zeros([1, 50]), 5),
    "shuffle": lambda: td.random.shuffle(td.range(20)),
    "dropout": lambda: td.nn.dropout(td.ones([40]), 0.5),
}


# ---------------------------------------------------------------------- what belongs to a trace


def test_python_numbers_count_wherever_they_are_and_numpy_numbers_do_not():
    traces = []

    @td.function
    def f(x, *rest, options, **more):
        traces.append(1)
        return x * rest[0] * options["k"] * more["z"]

    x = td.constant([1.0, 2.0])
    for k in (1.0, 2.0, 3.0):
        f(x, k, options={"k": 1.0}, z=1.0)
        f(x, 1.0, options={"k": k}, z=1.0)
        f(x, 1.0, options={"k": 1.0}, z=k)
    assert len(traces) == 7
    for k in (1.0, 2.0, 3.0):
        f(x, np.float32(k), options={"k": np.float32(k)}, z=np.float32(1))
    assert len(traces) == 8


def test_recursion_on_python_numbers_runs_in_many_threads():
    @td.function
    def factorial(n, product):
        return product if n == 0 else factorial(n - 1, product * n)

    found = {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: float(factorial(n, td.constant(1.0)))})) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert found == {n: float(np.prod(np.arange(1, n + 1, dtype=float))) for n in range(8)}


def test_recursion_without_an_end_is_refused():
    @td.function
    def f(n, x):
        return x if n == 0 else f(n - 1, x + 1)

    with pytest.raises(RecursionError, match="calls itself with the same signature"):
        f(td.constant(3), td.constant(0))


def test_threads_that_race_to_make_a_variable_make_one():
    made = []

    @td.function
    def f(x):
        if not made:
            made.append(td.Variable(2.0))
        made[0].assign_add(1.0)
        return x * made[0]

    threads = [threading.Thread(target=lambda: f(td.constant(1.0))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(made) == 1 and float(made[0]) == 10.0


def test_variables_in_structures_are_inputs_and_sources():
    traces = []

    @td.function
    def step(model, rate):
        traces.append(1)
        with td.GradientTape() as tape:
            loss = td.add_n([td.reduce_sum(v**2) for v in model["layers"]])
        for v, g in zip(model["layers"], tape.gradient(loss, model["layers"]), strict=True):
            v.assign_sub(rate * g)
        return loss

    models = [{"layers": [td.Variable(1.0 + k), td.Variable([2.0, 3.0])]} for k in range(3)]
    losses = [float(step(model, td.constant(0.25))) for model in models]
    assert losses == [14.0, 17.0, 22.0] and len(traces) == 1
    assert [float(m["layers"][0]) for m in models] == [0.5, 1.0, 1.5]


def test_a_trace_that_failed_is_tried_again():
    attempts = []

    @td.function
    def f(x):
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("not yet")
        return x + 1

    with pytest.raises(ValueError, match="not yet"):
        f(td.constant(1))
    assert int(f(td.constant(1))) == 2 and td.executing_eagerly()


# ---------------------------------------------------------------------- order and randomness


@pytest.mark.parametrize("name", RNG)
def test_a_seed_set_again_replays_every_random_op(name):
    draw = td.function(RNG[name])
    td.random.set_seed(1)
    first = [draw().numpy().tolist() for _ in range(2)]
    td.random.set_seed(1)
    assert [draw().numpy().tolist() for _ in range(2)] == first and first[0] != first[1]
    td.random.set_seed(1)
    assert [RNG[name]().numpy().tolist() for _ in range(2)] == first


def test_draws_in_bodies_of_every_kind_differ():
    inner = td.function(lambda: td.random.uniform([4]))

    @td.function
    def f():
        one = td.random.uniform([4])
        mapped = td.map_fn(lambda k: td.random.uniform([4]), td.range(2), fn_output_signature=td.float32)
        scanned = td.scan(lambda p, k: td.random.uniform([4]), td.range(2), initializer=td.zeros([4]))
        chosen = td.switch_case(td.constant(1), [lambda: td.zeros([4]), lambda: td.random.uniform([4])])
        return [one, mapped[0], mapped[1], scanned[0], scanned[1], chosen, inner(), inner()]

    assert len({tuple(t.numpy().tolist()) for t in f()}) == 8


def test_effects_of_called_functions_keep_their_place():
    log, v = [], td.Variable(0)

    def note(x):
        log.append(int(x))

    @td.function
    def inner(a):
        td.py_function(note, [a + v], [])
        v.assign_add(1)

    @td.function
    def f(n):
        inner(0)
        inner(10)
        for i in td.range(n):
            inner(100 + i)
            if i == 1:
                td.py_function(note, [td.constant(-1)], [])
        td.cond(n > 1, lambda: inner(1000), lambda: inner(2000))
        return v.read_value()

    assert int(f(td.constant(3))) == 6
    assert log == [0, 11, 102, 104, -1, 106, 1005]


def test_a_failed_assertion_stops_what_comes_after_it():
    v = td.Variable(0)

    @td.function
    def f(x):
        v.assign_add(1)
        td.debugging.assert_positive(x)
        v.assign_add(10)

    with pytest.raises(td.errors.InvalidArgumentError, match=r"assert_positive\(x\)"):
        f(td.constant(-1))
    assert int(v) == 1


def test_a_forked_child_traces_draws_and_differentiates_while_another_thread_traces():
    started, go = threading.Event(), threading.Event()

    @td.function
    def slow(x):
        started.set()
        go.wait(10)
        return x + 1

    def child(queue):
        x = td.ones([3])
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.function(lambda x: td.reduce_sum(x * td.random.uniform([3]) * 0.0 + x * x))(x)
        queue.put((float(y), tape.gradient(y, x).numpy().tolist()))

    thread = threading.Thread(target=lambda: slow(td.constant(1)))
    thread.start()
    assert started.wait(10)
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()
    process = fork.Process(target=child, args=(queue,))
    process.start()
    try:
        assert queue.get(timeout=15) == (3.0, [2.0, 2.0, 2.0])
    finally:
        go.set()
        thread.join()
        process.join(5)
        process.kill()


# ---------------------------------------------------------------------- gradients


def derivatives(f, x):
    """The first three derivatives of a function of a scalar."""
    with td.GradientTape() as third:
        third.watch(x)
        with td.GradientTape() as second:
            second.watch(x)
            with td.GradientTape() as first:
                first.watch(x)
                y = f(x)
            a = first.gradient(y, x)
        b = second.gradient(a, x)
    return a, b, third.gradient(b, x)


@td.function
def by_loop(x):
    y = x
    for i in td.range(3):
        if i % 2 == 0:
            y = y * x
        else:
            y = x * y
    return y


@td.function
def by_break(x):
    y, i = x, 0
    while True:
        y = y * x
        i += 1
        if i > 2:
            break
    return y


FOURTH_POWERS = {
    "for": by_loop,
    "while and break": by_break,
    "scan": lambda x: td.scan(lambda a, _: a * x, td.range(3), initializer=x)[-1],
    "foldl": lambda x: td.foldl(lambda a, _: a * x, td.range(3), initializer=x),
    "nested loops": lambda x: td.while_loop(
        lambda i, y: i < 2,
        lambda i, y: (i + 1, td.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * x), (0, y))[1]),
        (0, td.constant(1.0)),
    )[1],
    "custom gradient in a loop": lambda x: td.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, squared(y)), (0, x))[1],
}


@td.custom_gradient
def squared(x):
    return x * x, lambda up: up * 2.0 * x


@pytest.mark.parametrize("name", FOURTH_POWERS)
@pytest.mark.parametrize("traced", [False, True])
def test_three_derivatives_of_a_fourth_power(name, traced):
    def run(x):
        return derivatives(FOURTH_POWERS[name], x)

    found = (td.function(run) if traced else run)(td.constant(2.0))
    assert [float(d) for d in found] == [32.0, 48.0, 48.0]


@pytest.mark.parametrize("traced", [False, True])
def test_a_custom_gradient_of_a_trainable_variable_follows_one_protocol(traced):
    w = td.Variable(-3.0)

    @td.custom_gradient
    def without(x):
        return w * x, lambda up: up * w

    @td.custom_gradient
    def product(x):
        def grad(up, variables=None):
            return up * w, [up * x for _ in variables]

        return w * x, grad

    def slopes(f, x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = td.cond(x > 0.0, lambda: f(x), lambda: x)
        return tape.gradient(y, [x, w])

    run = td.function(slopes) if traced else slopes
    assert [float(g) for g in run(product, td.constant(4.0))] == [-3.0, 4.0]
    with pytest.raises(TypeError, match=r"'without' reads the trainable Variables Variable:0.*variables=None"):
        run(without, td.constant(4.0))


# ---------------------------------------------------------------------- functions without source, comparisons in a chain


def test_functions_made_by_exec_run_as_they_are_or_say_why_not():
    space = {}
    exec("def straight(x):\n  return x + 1\ndef choice(x):\n  return x if x > 0 else -x\n", space)

    @td.function
    def repeated(x):
        for _ in td.range(3):
            x = space["straight"](x)
        return x

    assert int(repeated(td.constant(1))) == 4
    with pytest.raises(td.errors.InvalidArgumentError, match=r"(?s)bool.*source"):
        td.function(space["choice"])(td.constant(-1))


@pytest.mark.parametrize(("values", "kind"), [((1, 2, 3), 1), ((2, 2, 2), 0), ((3, 2, 1), 2), ((1, 2, 30), 2)])
def test_chains_of_comparisons_mean_what_python_means(values, kind):
    @td.function
    def f(a, b, c):
        found = td.constant(0)
        if a < b < c < 10:
            found = td.constant(1)
        elif not (a == b == c):
            found = td.constant(2)
        while 0 <= a < 5 and not b > 100:
            a += 1
        return found, a

    found, a = f(*map(td.constant, values))
    assert (int(found), int(a)) == (kind, 5)
