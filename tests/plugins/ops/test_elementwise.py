"""What holds for every elementwise op: dtypes, shapes, modes, gradients, refusals."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import treadle as td
from treadle import dtypes
from treadle.contracts.declared import declarations
from treadle.declare import Spec

td.add(1, 2)  # loads the ops

MODULES = (
    "elementwise trigonometry comparison bitwise logic extremes zero_safe powers division complex_numbers signs rounding sigmoids special bessel"
)
OPS = {op.name: op for module in MODULES.split() for op in declarations(import_module(f"treadle_ops.{module}").__name__).ops if not op.defaults}
NO_GRADIENT = "equal not_equal less less_equal greater greater_equal is_nan is_inf is_finite equal_or_false not_equal_or_true"
INTEGERS = "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift divide_integers"
BOOLS = "logical_and logical_or logical_xor logical_not"
FLAT = "floor ceil rint round floordiv truncatediv truncatemod sign nextafter"
COMPLEX = "conj real imag angle complex"
UNCONJUGATED = ["abs", "squared_difference", "multiply_no_nan", "xdivy", "xlogy", "xlog1py"]
"""Not holomorphic, or not conjugated in TensorFlow."""
SMOOTH = sorted(set(OPS) - set(f"{NO_GRADIENT} {INTEGERS} {BOOLS} {FLAT} {COMPLEX}".split()))
RNG = np.random.default_rng(3)
DOMAIN = {"acosh": (1.2, 2.5), "zeta": (1.2, 2.5)}


def values(shape, dtype, low=0.2, high=0.9):
    if dtype.is_bool:
        return RNG.integers(0, 2, shape).astype(bool)
    if dtype.is_integer:
        return RNG.integers(1, 5, shape).astype(dtype.numpy)
    real = RNG.uniform(low, high, shape)
    return np.asarray(real + 1j * RNG.uniform(low, high, shape) if dtype.is_complex else real).astype(dtype.numpy)


def accepted(op):
    """The dtypes that inference accepts, with the dtype of the result."""
    found = {}
    for dtype in dtypes.ALL:
        try:
            found[dtype] = op.infer(*[Spec((), dtype)] * len(op.inputs)).dtype
        except td.errors.InvalidArgumentError:
            continue
    return found


@pytest.mark.parametrize("name", sorted(OPS))
def test_results_are_as_inferred_for_every_dtype(name):
    op = OPS[name]
    count = len(op.inputs)
    for dtype, result_dtype in accepted(op).items():
        for shapes, shape in (
            ([()] * count, ()),
            ([(0, 3)] * count, (0, 3)),
            ([(5,)] * count, (5,)),
            ([(2, 1, 4), *[(3, 4)] * (count - 1)], (2, 3, 4) if count > 1 else (2, 1, 4)),
            ([*[()] * (count - 1), (37,)], (37,)),
        ):
            inputs = [td.constant(values(s, dtype)) for s in shapes]
            result = op.entry(*inputs)
            assert result.dtype is result_dtype
            assert result.shape == shape
            assert result._buffer.dtype == result_dtype.numpy
            assert not any(np.shares_memory(np.asarray(result), np.asarray(x)) for x in inputs)


@pytest.mark.parametrize("name", sorted(OPS))
def test_every_mode_gives_the_same_bits(name, every_mode):
    op = OPS[name]
    for dtype in accepted(op):
        if dtype.size > 1 and not (name == "polygamma" and dtype is dtypes.bfloat16):  # NaN, which NumPy does not compare there
            inputs = [values((3, 5), dtype, *DOMAIN.get(name, ())) for _ in op.inputs]
            every_mode(op.entry, *inputs, rank=dtype in (dtypes.float32, dtypes.int32, dtypes.bool))


@pytest.mark.parametrize("name", sorted(OPS))
def test_an_element_gives_the_same_alone_and_among_others(name):
    op = OPS[name]
    for dtype in accepted(op):
        inputs = [values(67, dtype, -3, 3) for _ in op.inputs]
        whole = op.entry(*map(td.constant, inputs)).numpy()
        alone = np.array([op.entry(*[td.constant(x[i]) for x in inputs]).numpy() for i in (0, 31, 32, 66)])
        wide = complex if whole.dtype.kind == "c" else float
        np.testing.assert_array_equal(whole[[0, 31, 32, 66]].astype(wide), alone.astype(wide))


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_agree_with_differences(name, check_gradient):
    op = OPS[name]
    with_first = {"zeta": 2.5, "polygamma": 2.0}  # no gradient flows to their first input
    if name in with_first:
        check_gradient(lambda x: op.entry(with_first[name], x), values(3, dtypes.float64))
    elif name == "betainc":
        check_gradient(lambda x: op.entry(2.0, 3.0, x), values(3, dtypes.float64))
    else:
        shapes = [(2, 1), (3,)][: len(op.inputs)]
        check_gradient(op.entry, *[values(shape, dtypes.float64, *DOMAIN.get(name, ())) for shape in shapes])


@pytest.mark.parametrize("name", FLAT.split()[:-1])
def test_no_slope_flows_through_rounding(name):
    op = OPS[name]
    inputs = [td.constant(values(3, dtypes.float32)) for _ in op.inputs]
    with td.GradientTape() as tape:
        tape.watch(inputs)
        result = op.entry(*inputs)
    for gradient in tape.gradient(result, inputs):
        assert gradient is None or (name == "sign" and not np.any(gradient))


@pytest.mark.parametrize("name", [n for n in SMOOTH if n not in UNCONJUGATED and dtypes.complex128 in accepted(OPS[n])])
def test_complex_gradients_are_conjugated_slopes(name):
    op = OPS[name]
    inputs = [values(3, dtypes.complex128) for _ in op.inputs]
    for i in range(len(inputs)):
        tensors = [td.constant(x) for x in inputs]
        with td.GradientTape() as tape:
            tape.watch(tensors)
            result = op.entry(*tensors)
        gradient = tape.gradient(result, tensors)[i]
        step = np.zeros(3, complex) + 1e-6
        ends = [op.entry(*[td.constant(x + sign * step if j == i else x) for j, x in enumerate(inputs)]).numpy() for sign in (1, -1)]
        np.testing.assert_allclose(np.conj(gradient), (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("name", sorted(n for n, op in OPS.items() if len(op.inputs) > 1 and n not in ("equal_or_false", "not_equal_or_true")))
def test_shapes_and_dtypes_that_do_not_fit_are_refused(name, refuses):
    op = OPS[name]
    dtype = next(d for d in (dtypes.float32, dtypes.int32, dtypes.bool) if d in accepted(op))
    rest = [values(3, dtype) for _ in op.inputs[2:]]
    refuses(ValueError, op.entry, values(3, dtype), values(4, dtype), *rest, match=name)
    refuses(TypeError, op.entry, values(3, dtype), values(3, dtypes.complex64), *rest, match=name)


@pytest.mark.parametrize("name", sorted(OPS))
def test_a_dtype_that_an_op_does_not_take_is_refused_by_name(name, refuses):
    op = OPS[name]
    for dtype in (dtypes.bool, dtypes.int32, dtypes.float32, dtypes.complex64):
        if dtype not in accepted(op):
            refuses(TypeError, op.entry, *[values(3, dtype) for _ in op.inputs], match=f"{name}.*{dtype.name}")


def test_python_numbers_take_the_dtype_of_the_tensor(every_mode):
    for dtype in ("float16", "bfloat16", "float64", "int8", "uint8"):
        (result,) = every_mode(lambda x: 2 * x + 1, np.array([3], td.as_dtype(dtype).numpy))
        assert (str(result.dtype), result.tolist()) == (dtype, [7])


def test_whole_numbers_wrap(every_mode):
    (result,) = every_mode(lambda x: (x + 10) * 3, np.array([250, 1], np.uint8))
    assert result.tolist() == [12, 33]
    (result,) = every_mode(td.abs, np.array([-128, -5], np.int8))
    assert result.tolist() == [-128, 5]


def test_arithmetic_on_shapes_stays_known_while_tracing():
    @td.function(input_signature=[td.TensorSpec([None, 6], td.float32)])
    def f(x):
        n = td.shape(x)[1]
        return td.reshape(x, [-1, n // 4 + n % 4 - 1 + td.maximum(n, 2) - td.minimum(n, 8)])

    assert f.get_concrete_function().structured_outputs.shape == [None, 2]
    assert f(td.zeros([2, 6])).shape == [6, 2]
