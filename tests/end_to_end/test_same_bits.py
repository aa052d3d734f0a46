"""Corners of the arithmetic in every way to run it: eager, traced, with constants, for unknown sizes, in a call and in a branch; equal bits."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td

INF, NAN = float("inf"), float("nan")


def f32(*values):
    return np.array(values, np.float32)


def bits(tensors):
    """Dtype, shape and bytes of each leaf, NaNs made alike."""
    found = []
    for leaf in td.nest.flatten(tensors):
        array = np.asarray(leaf)
        if array.dtype.kind in "fc":
            parts = np.atleast_1d(array).view(array.real.dtype)
            array = np.where(np.isnan(parts), np.full_like(parts, NAN), parts)
        found.append((array.dtype.name, np.shape(leaf), array.tobytes()))
    return found


def every_way(fn, *arrays):
    x = [td.constant(a) for a in arrays]
    unknown = [td.TensorSpec([None] * t.shape.rank, t.dtype) for t in x]
    return {
        "eager": fn(*x),
        "traced": td.function(fn)(*x),
        "constants": td.function(lambda: fn(*x))(),
        "unknown sizes": td.function(fn, input_signature=unknown)(*x),
        "called": td.function(lambda *a: td.function(fn)(*a))(*x),
        "in a branch": td.function(lambda c, *a: td.cond(c, lambda: fn(*a), lambda: fn(*[t * 0 for t in a])))(td.constant(True), *x),
    }


EDGES = f32(1, INF, -INF, NAN, -2, 0, -0.0, 1e-40, 120, 3e19)
COMPLEX = np.array([5, 0, 2j, -0.0, complex(-0.0, -0.0), complex(INF, 0), complex(0, NAN)], np.complex64)

PROGRAMS = {
    "zeros": (lambda x: (x * 0.0, 0.0 * x, 0.0 / x, x - x, x / x, x * td.zeros_like(x)), EDGES),
    "ones": (lambda x: (x * 1.0, x / 1.0, x**1.0, x + 0.0, x - 0.0, x * td.ones([2, 1])), EDGES),
    "complex neutral elements": (lambda z: (z * 1, z / 1, z**1, z - 0, z + 0, td.negative(-z), td.math.conj(td.math.conj(z))), COMPLEX),
    "inverse pairs": (lambda x: (1.0 / (1.0 / x), td.math.log(td.exp(x)), td.sqrt(x * x), td.sqrt(x) ** 2, (x * 3.0) / 3.0, (x + 1.0) - 1.0), EDGES),
    "sums in their order": (lambda x: ((1.0 - x) + 1e-8, 1e8 + (x - 1e8), (x * 1e-30) * 1e-30 * 1e30, td.add_n([x, x * 1e8, x * -1e8])), EDGES),
    "floor and modulo": (lambda x: (x // 1.0, x % 1.0, td.floor(x) // 1.0, x // -0.5, x % -0.5), EDGES),
    "maxima": (lambda x: (td.maximum(x, 0.0), td.minimum(0.0, x), td.nn.relu(x), td.nn.relu6(x), td.clip_by_value(x, -1.0, 0.0)), EDGES),
    "powers": (lambda x: (x**0.5, x**-0.5, x**2.0, x**3.0, x**0.0, 1.0**x, td.math.log(x**x)), EDGES),
    "casts there and back": (
        lambda x: [td.cast(td.cast(x, t), td.float32) for t in (td.float16, td.bfloat16, td.float64, td.int8, td.int32, td.bool)],
        EDGES,
    ),
    "small integers wrap": (lambda a: (a * 6, a + a + a + a + a + a, td.square(a), a**2, -a, td.abs(a), td.reduce_sum(a)), np.int8([25, -128, 127])),
    "small integers divide": (
        lambda a: (a // -1, a % -1, td.truncatediv(a, -1), td.truncatemod(a, -1), a // 4, a % 4, a // -3),
        np.int8([-128, 25, -7]),
    ),
    "subnormals": (lambda x: (td.sign(x), x > 0, x * 1.0, td.cast(x, td.float64), td.cast(x, td.bool), x + x), np.tile(f32(1e-40, -1e-40, 0), 12)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_ways_agree(name):
    fn, x = PROGRAMS[name]
    ways = every_way(fn, x)
    expected = bits(ways.pop("eager"))
    for way, result in ways.items():
        assert bits(result) == expected, way


def test_complex_gradients_agree():
    def slope(z):
        with td.GradientTape() as tape:
            tape.watch(z)
            y = td.math.real(td.reduce_prod(z)) + td.math.real(td.reduce_sum(z * z))
        return tape.gradient(y, z)

    z = np.array([5, 0, 2j, -0.0], np.complex64)
    ways = every_way(slope, z)
    expected = bits(ways.pop("eager"))
    for way, result in ways.items():
        assert bits(result) == expected, way


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"])
@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
def test_a_cast_out_of_range_gives_the_same_in_every_lane(source, dtype):
    with np.errstate(over="ignore"):
        x = np.array([NAN, INF, -INF, 3e9, -3e9, 1.9, -1.9, 255.5, 128]).astype(source)
    one_by_one = [np.asarray(td.cast(td.constant(v), dtype)) for v in x]
    for count in (1, 7, 8, 9, 33, 64, 65):
        lanes = td.cast(td.constant(np.resize(x, count)), dtype).numpy()
        np.testing.assert_array_equal(lanes, np.resize(one_by_one, count))


IMAGES = np.random.default_rng(5).standard_normal((8, 64, 64, 33)).astype(np.float32)
MATRIX = np.random.default_rng(6).standard_normal((1501, 1009)).astype(np.float32)


def filter_gradient(x):
    w = td.Variable(td.ones([3, 3, x.shape[-1], 2]))
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")
        loss = td.reduce_sum(y * td.sin(y))
    return tape.gradient(loss, [x, w])


def pool_gradient(x):
    with td.GradientTape() as tape:
        tape.watch(x)
        y = td.nn.max_pool2d(x, 3, 2, "SAME")
        loss = td.reduce_sum(y * y)
    return [y, tape.gradient(loss, x)]


SHARED = {
    "depthwise": (IMAGES, lambda x: td.nn.depthwise_conv2d(x, td.ones([3, 3, 33, 1]), [1, 2, 2, 1], "SAME")),
    "depthwise, one item": (IMAGES[:1], lambda x: td.nn.depthwise_conv2d(x, td.ones([5, 5, 33, 3]), [1, 1, 1, 1], "VALID")),
    "depthwise gradients": (IMAGES, filter_gradient),
    "max_pool": (IMAGES, pool_gradient),
    "avg_pool": (IMAGES, lambda x: td.nn.avg_pool2d(x, 2, 2, "VALID")),
    "resize": (IMAGES, lambda x: td.image.resize(x, [71, 50])),
    "dilation2d": (IMAGES, lambda x: td.nn.dilation2d(x, td.ones([3, 3, 33]), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1])),
    "softmax": (MATRIX, td.nn.softmax),
    "softmax, first axis": (MATRIX, lambda x: td.nn.softmax(x, axis=0)),
    "log_softmax of rows of 10": (MATRIX.reshape(-1)[:1_500_000].reshape(-1, 10), td.nn.log_softmax),
    "gelu": (MATRIX, td.nn.gelu),
    "short gelu": (MATRIX.astype(np.float16), td.nn.gelu),
    "moments": (MATRIX, lambda x: [*td.nn.moments(x, [0]), *td.nn.moments(x, [1]), *td.nn.moments(x, [0, 1])]),
    "variance": (MATRIX, lambda x: td.math.reduce_variance(x, 0)),
    "norm": (MATRIX, lambda x: td.norm(x, axis=0)),
    "sum": (np.concatenate([MATRIX, MATRIX]), lambda x: td.reduce_sum(x, 0)),
    "batch norm": (IMAGES, lambda x: td.nn.batch_normalization(x, *td.nn.moments(x, [0, 1, 2]), None, None, 1e-3)),
}


@pytest.mark.parametrize("name", SHARED)
def test_any_number_of_threads_gives_the_same_bits(name):
    array, compute = SHARED[name]
    x = td.constant(array)
    found = []
    try:
        for threads in (1, 2, 7, 0):
            td.config.threading.set_intra_op_parallelism_threads(threads)
            found.append([np.asarray(y).tobytes() for y in td.nest.flatten(compute(x))])
    finally:
        td.config.threading.set_intra_op_parallelism_threads(0)
    assert all(bits == found[0] for bits in found)
