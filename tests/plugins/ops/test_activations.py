"""Activation functions: their values at every edge, their first two gradients, and short floats."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import treadle as td
from treadle.errors import DTypeError, InvalidArgumentError

SQRT_HALF = np.float64(np.float32(np.sqrt(0.5)))
CUBIC = np.float64(np.float32(0.044715))
SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772


def gelu(x):
    return 0.5 * x * special.erfc(-x * SQRT_HALF)


def gelu_by_tanh(x):
    return x * special.expit(2 * np.sqrt(2 / np.pi) * (x + CUBIC * x**3))


FUNCTIONS = {
    "relu": (td.nn.relu, lambda x: np.maximum(x, 0)),
    "relu6": (td.nn.relu6, lambda x: np.clip(x, 0, 6)),
    "elu": (td.nn.elu, lambda x: np.where(x > 0, x, np.expm1(x))),
    "selu": (td.nn.selu, lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(x))),
    "leaky_relu": (td.nn.leaky_relu, lambda x: np.where(x > 0, x, np.float32(0.2) * x)),
    "leaky_relu 3": (lambda x: td.nn.leaky_relu(x, 3.0), lambda x: np.where(x > 0, x, 3 * x)),
    "leaky_relu 0": (lambda x: td.nn.leaky_relu(x, 0.0), lambda x: np.where(x > 0, x, 0 * x)),
    "leaky_relu -0.5": (lambda x: td.nn.leaky_relu(x, alpha=-0.5), lambda x: np.where(x > 0, x, -0.5 * x)),
    "gelu": (td.nn.gelu, gelu),
    "gelu by tanh": (lambda x: td.nn.gelu(x, True), gelu_by_tanh),
    "silu": (td.nn.silu, lambda x: x * special.expit(x)),
    "silu 0.5": (lambda x: td.nn.silu(x, 0.5), lambda x: x * special.expit(x / 2)),
    "swish tensor": (lambda x: td.nn.swish(x, td.constant(2.0)), lambda x: x * special.expit(2 * x)),
}
SMOOTH = [name for name in FUNCTIONS if "relu" not in name]


@pytest.fixture(params=FUNCTIONS)
def function(request):
    return FUNCTIONS[request.param]


@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (3, 5), (2, 40_000)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_agree_with_numpy(every_mode, function, shape, dtype):
    ours, reference = function
    x = (np.random.default_rng(1).standard_normal(shape) * 4).astype(dtype)
    (got,) = every_mode(ours, x)
    assert got.dtype == dtype
    close = {"rtol": 2e-6, "atol": 3e-7} if dtype is np.float32 else {"rtol": 1e-13, "atol": 1e-14}
    np.testing.assert_allclose(got, reference(x.astype(np.float64)), **close)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("size", [5, 40_000])
def test_short_floats_are_rounded_once(function, dtype, size):
    ours, reference = function
    x = (np.random.default_rng(2).standard_normal(size) * 3).astype(dtype)
    got = np.asarray(ours(td.constant(x)))
    assert got.dtype == dtype
    want = reference(x.astype(np.float64))
    ulp = float(ml_dtypes.finfo(dtype).eps)
    composite = 3 if function is FUNCTIONS["swish tensor"] else 1
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=0.6 * ulp * composite, atol=1e-6)


def test_values_at_the_edges(function):
    ours, reference = function
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, -1e-30, 88.9, -104.0, 3e38, -3e38], np.float32)
    with np.errstate(all="ignore"):
        want = reference(x.astype(np.float64)).astype(np.float32)
        got = np.asarray(ours(td.constant(x)))
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-36)


def test_gelu_keeps_its_relative_accuracy_in_the_left_tail():
    x = -np.linspace(0.01, 12, 1000)
    np.testing.assert_allclose(np.asarray(td.nn.gelu(td.constant(x, td.float32))), gelu(x.astype(np.float32).astype(np.float64)), rtol=2e-5)
    np.testing.assert_allclose(np.asarray(td.nn.gelu(td.constant(x))), gelu(x), rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_gradients_agree_with_differences(check_gradient, name):
    x = np.array([-3.1, -1.2, -0.4, 0.3, 1.7, 5.5, 7.2])
    check_gradient(FUNCTIONS[name][0], x, rtol=1e-5, atol=2e-7)


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_of_blocks_agree_with_those_of_single_elements(name):
    x = np.linspace(-9, 9, 70_001, dtype=np.float32)

    def slope(values):
        t = td.constant(values)
        with td.GradientTape() as tape:
            tape.watch(t)
            y = FUNCTIONS[name][0](t)
        return np.asarray(tape.gradient(y, t))

    whole = slope(x)
    np.testing.assert_array_equal(whole[::7000], np.concatenate([slope(x[i : i + 1]) for i in range(0, 70_001, 7000)]))


def test_gradients_where_the_function_bends():
    def slope(f, x):
        t = td.constant(x)
        with td.GradientTape() as tape:
            tape.watch(t)
            y = f(t)
        return np.asarray(tape.gradient(y, t)).tolist()

    assert slope(td.nn.relu, [0.0, -0.0, np.nan]) == [0, 0, 0]
    assert slope(td.nn.relu6, [0.0, 6.0, 3.0]) == [0, 0, 1]
    assert slope(td.nn.elu, [0.0, np.nan]) == [1, 1]
    assert slope(td.nn.selu, [0.0, np.nan]) == pytest.approx([SCALE, SCALE])
    assert slope(td.nn.leaky_relu, [0.0, np.nan]) == pytest.approx([0.2, 0.2])
    for f in (td.nn.gelu, lambda x: td.nn.gelu(x, True), td.nn.silu):
        assert slope(f, [0.0, 60.0, -1e30, 1e30]) == [0.5, 1, 0, 1]


def test_the_gradient_of_swish_reaches_a_tensor_of_betas(check_gradient):
    check_gradient(lambda x, beta: td.nn.swish(x, beta), np.array([[-1.0, 0.5, 2.0]] * 2), np.array([0.3, 1.0, 2.0]))


def test_relu_and_relu6_take_integers():
    for dtype in (np.int8, np.uint8, np.int32, np.uint64):
        x = np.array([0, 3, 100]).astype(dtype)
        assert np.asarray(td.nn.relu(td.constant(x))).tolist() == [0, 3, 100]
        got = td.nn.relu6(td.constant(x))
        assert np.asarray(got).tolist() == [0, 3, 6]
        assert got.dtype.as_numpy_dtype is dtype
    assert np.asarray(td.nn.relu(td.constant([-128, 5], td.int8))).tolist() == [0, 5]


def test_leaky_relu_of_integers_is_float32():
    got = td.nn.leaky_relu(td.constant([-5, 5]))
    assert got.dtype is td.float32
    assert np.asarray(got).tolist() == [-1, 5]


def test_crelu_joins_both_signs(every_mode, check_gradient):
    x = np.array([[-1.0, 2.0, -3.0]])
    assert every_mode(td.nn.crelu, x)[0].tolist() == [[0, 2, 0, 1, 0, 3]]
    assert every_mode(lambda t: td.nn.crelu(t, axis=0), x)[0].tolist() == [[0, 2, 0], [1, 0, 3]]
    check_gradient(td.nn.crelu, x)


def test_what_is_not_floating_is_refused(refuses):
    for f in (td.nn.elu, td.nn.selu, td.nn.gelu, td.nn.silu):
        refuses(DTypeError, f, [1, 2, 3], match="int32")
    refuses(DTypeError, td.nn.relu, [1j])
    refuses(InvalidArgumentError, lambda x: td.nn.crelu(x, 2), [[1.0]])


def test_aliases_are_one_object():
    assert td.nn.swish is td.nn.silu


@pytest.mark.parametrize("activation", [td.nn.relu, td.nn.relu6, td.nn.leaky_relu, td.nn.crelu])
def test_the_second_gradient_of_a_product_between_kinks_is_zeros(every_mode, activation):
    def second(x, w):
        with td.GradientTape(persistent=True) as outer:
            outer.watch([x, w])
            with td.GradientTape() as inner:
                inner.watch(w)
                y = td.reduce_sum(activation(x @ w))
            slope = inner.gradient(y, w)
        return outer.gradient(slope, w), outer.gradient(slope, x)

    rng = np.random.default_rng(8)
    along_w, along_x = every_mode(second, rng.standard_normal((4, 3)), rng.standard_normal((3, 2)), rank=False)
    np.testing.assert_array_equal(along_w, np.zeros((3, 2)))
    assert along_x.any()


@pytest.mark.parametrize("activation", [td.nn.relu, td.nn.relu6, td.nn.leaky_relu])
def test_a_first_gradient_makes_no_zeros(activation):
    @td.function(autograph=False)
    def slope(x):
        with td.GradientTape() as tape:
            tape.watch(x)
            y = activation(x)
        return tape.gradient(y, x)

    ops = {node.op.name for node in slope.get_concrete_function(td.TensorSpec([None, 3])).graph.nodes}
    assert not any("zeros" in name for name in ops)


def test_the_hessian_of_a_relu_is_zeros_and_that_of_its_square_is_not():
    @td.function(autograph=False)
    def both(x):
        return td.hessians(td.reduce_sum(td.nn.relu(x)), x) + td.hessians(td.reduce_sum(td.square(td.nn.relu(x))), x)

    flat, curved = both(td.constant([-1.0, 2.0]))
    np.testing.assert_array_equal(flat, np.zeros((2, 2)))
    np.testing.assert_array_equal(curved, [[0, 0], [0, 2]])
