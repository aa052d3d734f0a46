"""Random programs give the same bits eagerly, traced, folded, unoptimised and on a second call with other inputs in between."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import treadle as td
from treadle import settings as configuration

UNARY = {
    "tanh": td.tanh,
    "negative": td.negative,
    "square": td.square,
    "relu": td.nn.relu,
    "abs": td.abs,
    "identity": td.identity,
    "transpose": lambda x: td.transpose(td.transpose(x)),
    "times one": lambda x: x * 1.0,
    "reshape": lambda x: td.reshape(td.reshape(x, [-1]), td.shape(x)),
    "sum and spread": lambda x: x - td.reduce_sum(x, axis=0, keepdims=True),
    "softmax": td.nn.softmax,
    "cast": lambda x: td.cast(td.cast(x, td.float64), x.dtype),
    "head": lambda x: td.concat([x[:1], x[1:]], 0),
    "where": lambda x: td.where(x > 0, x, -x),
}
BINARY = {
    "add": td.add,
    "subtract": td.subtract,
    "multiply": td.multiply,
    "maximum": td.maximum,
    "matmul": lambda x, y: td.matmul(x, y, transpose_b=True) @ y,
    "mean": lambda x, y: x + td.reduce_mean(y, axis=1, keepdims=True),
    "row": lambda x, y: x * y[:1],
}


@st.composite
def programs(draw):
    """Steps that each compute a new value from earlier ones; several values are given back."""
    steps = []
    count = 2
    for _ in range(draw(st.integers(1, 12))):
        if draw(st.booleans()):
            steps.append((draw(st.sampled_from(sorted(UNARY))), draw(st.integers(0, count - 1))))
        else:
            steps.append((draw(st.sampled_from(sorted(BINARY))), draw(st.integers(0, count - 1)), draw(st.integers(0, count - 1))))
        count += 1
    results = draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=4))
    return steps, results


def run(program, x, y):
    steps, results = program
    values = [x, y]
    for name, *operands in steps:
        values.append((UNARY if len(operands) == 1 else BINARY)[name](*(values[i] for i in operands)))
    return [values[i] for i in results]


def bits(tensors):
    return [(t.dtype, tuple(t.shape), t.numpy().tobytes()) for t in tensors]


SHAPES = [(1, 1), (3, 4), (64, 80), (0, 3)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=programs(), shape=st.sampled_from(SHAPES), seed=st.integers(0, 1000))
def test_random_programs_agree_in_every_mode(program, shape, seed):
    rng = np.random.default_rng(seed)
    x, y, other = (td.constant(rng.standard_normal(shape).astype(np.float32)) for _ in range(3))
    eager = bits(run(program, x, y))
    traced = td.function(lambda x, y: run(program, x, y))
    first = traced(x, y)
    assert bits(first) == eager
    traced(other, other)
    assert bits(first) == eager, "a later call changed an earlier result"
    assert bits(traced(x, y)) == eager
    assert bits(td.function(lambda: run(program, x, y))()) == eager
    sizes = [td.TensorSpec([None, None], td.float32)] * 2
    assert bits(td.function(lambda x, y: run(program, x, y), input_signature=sizes)(x, y)) == eager
    with configuration.override(schedule=[]):
        assert bits(td.function(lambda x, y: run(program, x, y))(x, y)) == eager


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=programs(), shape=st.sampled_from(SHAPES[:3]), seed=st.integers(0, 1000))
def test_gradients_of_random_programs_agree_in_every_mode(program, shape, seed):
    rng = np.random.default_rng(seed)
    x, y = (td.constant(rng.standard_normal(shape)) for _ in range(2))

    def gradients(x, y, f):
        with td.GradientTape() as tape:
            tape.watch([x, y])
            z = td.add_n([td.reduce_sum(td.tanh(v)) for v in f(x, y)])
        return tape.gradient(z, [x, y], unconnected_gradients="zero")

    def f(x, y):
        return run(program, x, y)

    eager = gradients(x, y, f)
    for other in (td.function(lambda x, y: gradients(x, y, f))(x, y), gradients(x, y, td.function(f))):
        for a, b in zip(eager, other, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64", "float16"])
def test_variables_and_large_buffers_keep_what_was_read(dtype):
    v = td.Variable(td.cast(td.fill([200, 200], 1), dtype))

    @td.function
    def f():
        before = v.read_value()
        v.assign_add(before + before)
        middle = v + 1
        v.assign(v * v)
        return before, middle, v.read_value()

    first = [t.numpy() for t in f()]
    second = f()
    assert [complex(a[0, 0]).real for a in first] == [1, 4, 9]
    assert [complex(t.numpy()[0, 0]).real for t in second] == [9, 28, 729]
