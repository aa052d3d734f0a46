"""Inputs to check every op of the plugin ``core`` on: rows for elementwise ops, a function for an op or a family of ops with parts of their own.

The first sample of an op is also varied: other dtypes, special values, other shapes. An op without samples fails the suite by name.
"""

from __future__ import annotations

import functools
import os
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

import treadle as td
from treadle.testing import Checks, Sample, elementwise_samples, sample
from treadle_ops.print_format import Placeholder

LISTS = "tensor_list_"
"""How the names of ops on lists of tensors begin; lists are no arrays, so the tests of ``TensorArray`` check them."""

UNCHECKED_GRADIENTS = {
    "py_function": "the way back is a call of the program's own, with a first order only",
}
"""Ops that have a gradient of which no second order is compared with differences, and why."""

RNG = np.random.default_rng(0)
FUNCTIONS: dict[str, Callable[[str], list[Sample]]] = {}


def samples_of(name: str) -> list[Sample]:
    """The samples of an op, the same every time; none if it has none."""
    global RNG
    RNG = np.random.default_rng(zlib.crc32(name.encode()))
    if name in ELEMENTWISE:
        low, high, options = ELEMENTWISE[name]
        found = elementwise_samples(name, low, high, **options)
    else:
        found = FUNCTIONS[name](name) if name in FUNCTIONS else []
    return [given if i == 0 else given._replace(checks=given.checks.alone) for i, given in enumerate(found)]


def samples(*names: str) -> Callable[[Callable[[str], list[Sample]]], Callable[[str], list[Sample]]]:
    """Declare the samples of ops."""

    def declare(function: Callable[[str], list[Sample]]) -> Callable[[str], list[Sample]]:
        for name in names:
            assert name not in FUNCTIONS, name
            FUNCTIONS[name] = function
        return function

    return declare


def f(*shape: int, low: float = -2.0, high: float = 2.0, dtype: Any = np.float32) -> np.ndarray:
    """Floating values."""
    return RNG.uniform(low, high, shape).astype(dtype)


def p(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Positive values, none near 0."""
    return f(*shape, low=0.5, high=2.0, dtype=dtype)


def c(*shape: int, dtype: Any = np.complex128) -> np.ndarray:
    """Complex values."""
    return (RNG.uniform(-2, 2, shape) + 1j * RNG.uniform(-2, 2, shape)).astype(dtype)


def i(*shape: int, low: int = -5, high: int = 6, dtype: Any = np.int32) -> np.ndarray:
    """Integers from ``low`` up to but without ``high``."""
    return RNG.integers(low, high, shape).astype(dtype)


def b(*shape: int) -> np.ndarray:
    """Bools."""
    return RNG.integers(0, 2, shape).astype(bool)


def apart(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Values that all differ by 0.25 or more, so that no order changes with a small step."""
    count = int(np.prod(shape))
    return ((RNG.permutation(count) - count // 2) * 0.25 + 0.1).reshape(shape).astype(dtype)


INT = {"dtype": np.int32}
FREE = Checks(sizes_follow=False)
"""The sizes of the result depend on values."""

EMPTY = Checks(order=0)
"""Without elements to reduce, what is given back may be infinite or NaN, and has no derivative."""


def rows(names: str, low: float, high: float, options: dict[str, Any]) -> dict[str, tuple[float, float, dict[str, Any]]]:
    """Ops that are checked on values in one range."""
    return dict.fromkeys(names.split(), (low, high, options))


ELEMENTWISE: dict[str, tuple[float, float, dict[str, Any]]] = {
    **rows(
        "abs add asinh atan atan2 ceil complex cos cosh dawsn elu erf erfc exp expm1 floor fresnel_cos fresnel_sin identity "
        "is_finite is_inf is_nan maximum minimum multiply negative nextafter relu relu6 rint round "
        "selu sigmoid sign silu sin sinh softplus softsign square "
        "subtract tan tanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e gelu",
        -2.0,
        2.0,
        {},
    ),
    **rows("angle conj imag real", -2.0, 2.0, {"dtype": np.complex64}),
    **rows("equal not_equal greater greater_equal less less_equal", -2.0, 2.0, {}),
    **rows("acos asin atanh erfinv", -0.9, 0.9, {}),
    **rows(
        "bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 digamma divide divide_no_nan expint floordiv floormod "
        "igamma igammac lgamma log log1p pow reciprocal rsqrt spence sqrt truncatediv truncatemod",
        0.5,
        3.0,
        {},
    ),
    **rows("multiply_no_nan squared_difference xdivy xlog1py xlogy", 0.5, 3.0, {"checks": Checks(complex_order=0)}),
    "acosh": (1.2, 4.0, {}),
    "ndtri": (0.1, 0.9, {}),
    **rows("bitwise_and bitwise_or bitwise_xor invert", -9, 9, INT),
    **rows("left_shift right_shift", 0, 7, INT),
    "divide_integers": (1, 9, INT),
    **rows("logical_and logical_not logical_or logical_xor", -1, 1, {"dtype": np.bool_}),
    "leaky_relu": (-2.0, 2.0, {"alpha": 0.2}),
}


@samples(
    "elu_grad",
    "relu_grad",
    "relu6_grad",
    "selu_grad",
    "silu_grad",
    "gelu_grad",
    "leaky_relu_grad",
    "sigmoid_grad",
    "tanh_grad",
    "slope_product",
    "sigmoid_cross_entropy",
)
def _(name: str) -> list[Sample]:
    attrs = {"alpha": 0.2} if name == "leaky_relu_grad" else {}
    return [sample(f(3, 5), f(3, 5), **attrs), sample(f(), f(), **attrs), sample(f(0, 2), f(0, 2), **attrs)]


@samples("sigmoid_cross_entropy_grad")
def _(name: str) -> list[Sample]:
    return [sample(f(3, 5), f(3, 5), f(3, 5)), sample(f(), f(), f())]


@samples("betainc")
def _(name: str) -> list[Sample]:
    checks = Checks(constant=("a", "b"))
    x = [f(*shape, low=0.1, high=0.9) for shape in ((3, 2), (), (2,))]
    return [sample(p(3, 2), p(3, 2), x[0], checks=checks), sample(p(), p(), x[1], checks=checks), sample(p(1), p(3, 1), x[2], checks=checks)]


@samples("polygamma")
def _(name: str) -> list[Sample]:
    checks = Checks(constant=("a",))
    return [sample(np.float32([1, 2, 3]), p(3), checks=checks), sample(np.float32(1), p(2, 2), checks=checks)]


@samples("zeta")
def _(name: str) -> list[Sample]:
    checks = Checks(constant=("x",))
    return [sample(f(4, low=1.5, high=4), p(4), checks=checks), sample(np.float32(2.5), p(2, 3), checks=checks)]


@samples("igamma_derivative")
def _(name: str) -> list[Sample]:
    return [sample(p(3), p(3), order=1), sample(p(2, 1), p(3), order=2)]


@samples("clip_by_value")
def _(name: str) -> list[Sample]:
    return [sample(apart(3, 4), np.float32(-0.73), np.float32(0.81)), sample(apart(2, 3), np.float32([-1, 0, 0.02]), np.float32(0.7))]


@samples("where")
def _(name: str) -> list[Sample]:
    return [sample(b(3, 4), f(3, 4), f(3, 4)), sample(b(3, 1), f(4), f(1, 1)), sample(np.array(True), f(), f(2)), sample(b(0, 2), f(0, 2), f())]


@samples("keep_scaled")
def _(name: str) -> list[Sample]:
    bits = RNG.integers(0, 2**32, (3, 4)).astype(np.uint32)
    return [sample(f(3, 4), bits, rate=0.4), sample(f(2, 3, 4), bits, rate=0.5), sample(f(3, 4), bits, rate=0.0)]


# ---------------------------------------------------------------------- reductions and the like


@samples("add_n")
def _(name: str) -> list[Sample]:
    return [sample([f(2, 3), f(2, 3), f(2, 3)]), sample([f()]), sample([f(0, 2), f(0, 2)])]


@samples("argmax", "argmin")
def _(name: str) -> list[Sample]:
    return [
        sample(f(2, 3, 4), axis=-2, output_type=td.int64),
        sample(f(5), axis=0, output_type=td.int32),
        sample(np.float32([1, 3, 3]), axis=0, output_type=td.int64),
    ]


@samples("reduce_sum", "reduce_mean", "reduce_prod", "reduce_logsumexp", "reduce_euclidean_norm", "reduce_variance", "euclidean_norm")
def _(name: str) -> list[Sample]:
    x = f(2, 3, 4)
    first = Checks(complex_order={"reduce_prod": 1, "reduce_euclidean_norm": 0}.get(name, 2))
    found = [sample(x, axis=(1,), keepdims=False, checks=first), sample(x, axis=(0, -1), keepdims=True), sample(x, axis=None, keepdims=False)]
    found += [sample(x, axis=(), keepdims=False), sample(p(), axis=None, keepdims=True), sample(f(0, 3), axis=(0,), keepdims=False, checks=EMPTY)]
    return found[:4] if name == "euclidean_norm" else found


@samples("reduce_max", "reduce_min")
def _(name: str) -> list[Sample]:
    x = apart(2, 3, 4)
    found = [sample(x, axis=(1,), keepdims=False), sample(x, axis=(0, -1), keepdims=True), sample(x, axis=None, keepdims=False)]
    return [*found, sample(x, axis=(), keepdims=True), sample(f(0, 3), axis=(0,), keepdims=False, checks=EMPTY)]


@samples("reduce_all", "reduce_any")
def _(name: str) -> list[Sample]:
    x = b(2, 3, 4)
    return [
        sample(x, axis=(1, -1), keepdims=True),
        sample(x, axis=None, keepdims=False),
        sample(x, axis=(), keepdims=False),
        sample(b(0, 4), axis=(0,), keepdims=False),
    ]


@samples("reduced_count")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 4), axis=(1, -1), dtype=td.float32, checks=Checks(shapes=False)), sample(f(2, 3), axis=None, dtype=td.int32)]


@samples("kept_shape")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 4), axis=(1, -1)), sample(f(2, 3), axis=None)]


@samples("share_among_ties", "mean_of_ties")
def _(name: str) -> list[Sample]:
    x = np.float32([[1, 3, 3], [2, 2, 0]])
    y = x.max(1)
    g = f(2, 3) if name == "mean_of_ties" else f(2)
    checks = Checks(constant=("x", "y"), shapes=False)
    return [
        sample(g, x, y, axis=(1,), keepdims=False, checks=checks),
        sample(g if name == "mean_of_ties" else g[:, None], x, y[:, None], axis=(-1,), keepdims=True, checks=checks),
        sample(f(2, 3) if name == "mean_of_ties" else f(), x, x.max(), axis=None, keepdims=False, checks=checks),
        sample(f(2, 3), x, x, axis=(), keepdims=False, checks=checks),
    ]


@samples("exp_of_difference")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    x = f(2, 3, 4)
    return [
        sample(x, f(2, 4), axis=(1,), keepdims=False, checks=checks),
        sample(x, f(1, 3, 1), axis=(0, -1), keepdims=True, checks=checks),
        sample(x, f(), axis=None, keepdims=False, checks=checks),
    ]


@samples("moments")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 4), axis=(0, 1), keepdims=False), sample(f(2, 3), axis=(), keepdims=False), sample(f(3, 4), axis=(-1,), keepdims=True)]


@samples("l2_loss")
def _(name: str) -> list[Sample]:
    return [sample(f(3, 4)), sample(f()), sample(f(0))]


@samples("zero_fraction")
def _(name: str) -> list[Sample]:
    return [sample(np.float32([0, 1, 0, 2])), sample(f(2, 3)), sample(f(0))]


@samples("count_nonzero")
def _(name: str) -> list[Sample]:
    return [sample(i(2, 3), axis=(1,), keepdims=False, dtype=td.int64), sample(f(2, 3), axis=None, keepdims=True, dtype=td.int32)]


@samples("cumsum", "cumprod")
def _(name: str) -> list[Sample]:
    x = f(2, 3, 4)
    checks = Checks(complex_order=0 if name == "cumprod" else 2)
    return [
        sample(x, axis=axis, exclusive=e, reverse=r, checks=checks)
        for axis, e, r in ((1, False, False), (0, True, False), (-1, False, True), (1, True, True))
    ]


@samples("cumulative_logsumexp")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 4), axis=1, reverse=False), sample(f(3, 4), axis=-1, reverse=True), sample(f(1), axis=0, reverse=False)]


@samples("linear_recurrence")
def _(name: str) -> list[Sample]:
    return [
        sample(f(2, 3, 4), f(2, 3, 4), axis=1, reverse=False),
        sample(f(3, 4), f(3, 4), axis=-1, reverse=True),
        sample(f(1), f(1), axis=0, reverse=False),
    ]


@samples("shift")
def _(name: str) -> list[Sample]:
    return [
        sample(f(2, 3, 4), axis=1, by=-1, fill=0.0),
        sample(f(2), axis=0, by=0, fill=0.0),
        sample(f(3, 4), axis=-1, by=2, fill=0.0),
        sample(f(3), axis=0, by=5, fill=0.0),
    ]


# ---------------------------------------------------------------------- making and describing


@samples("zeros", "ones")
def _(name: str) -> list[Sample]:
    return [
        sample((2, 3), dtype=td.float32),
        sample((), dtype=td.int64),
        sample((0, 2), dtype=td.bool),
        sample((2,), dtype=td.complex64),
        sample((2,), dtype=td.bfloat16),
    ]


@samples("zeros_like", "ones_like")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), dtype=td.float32), sample(f(), dtype=td.int64), sample(f(0, 2), dtype=td.bool)]


@samples("eye")
def _(name: str) -> list[Sample]:
    return [sample((2, 3), dtype=td.float32), sample((3, 3), dtype=td.complex64), sample((0, 2), dtype=td.int32)]


@samples("fill")
def _(name: str) -> list[Sample]:
    return [sample((2, 3), f()), sample((), i()), sample((0, 2), b())]


@samples("range")
def _(name: str) -> list[Sample]:
    return [
        sample(1, 8, 3, dtype=td.int32),
        sample(5, 0, -2, dtype=td.int64),
        sample(0.0, 1.0, 0.25, dtype=td.float32, checks=FREE),
        sample(0.0, 1.0, 0.25, dtype=td.float64, count=4),
    ]


@samples("linspace")
def _(name: str) -> list[Sample]:
    return [sample(f(), f(), 5, axis=0), sample(f(2, 3), f(2, 3), 4, axis=-1), sample(f(2, 1), f(3), 3, axis=1), sample(f(2), f(2), 1, axis=0)]


@samples("one_hot")
def _(name: str) -> list[Sample]:
    return [sample(i(2, 3, low=-1, high=4), 3, axis=-1, dtype=td.float32), sample(i(2, low=0, high=3, dtype=np.int64), 3, axis=0, dtype=td.bool)]


@samples("sequence_mask")
def _(name: str) -> list[Sample]:
    return [
        sample(i(2, 2, low=0, high=4), 4, dtype=td.float32),
        sample(np.int32([1, 3, 0]), (), dtype=td.bool, checks=Checks(sizes_follow=False, hosts_known=True)),
    ]


@samples("shape", "size")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), out_type=td.int32), sample(f(), out_type=td.int64), sample(f(0, 2), out_type=td.int32)]


@samples("rank")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3)), sample(f())]


@samples("axis_size")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), axis=1), sample(f(2, 3), axis=-2)]


@samples("broadcast_dynamic_shape")
def _(name: str) -> list[Sample]:
    return [sample((2, 1), (3,), out_type=td.int32), sample((), (2, 3), out_type=td.int64)]


@samples("reduced_shape")
def _(name: str) -> list[Sample]:
    return [sample((2, 3, 4), (1, -1), keepdims=True), sample((2, 3, 4), (0,), keepdims=False), sample((2, 3), (), keepdims=False)]


@samples("unravel_index")
def _(name: str) -> list[Sample]:
    return [sample(i(3, low=0, high=12), (3, 4)), sample(i(low=0, high=12, dtype=np.int64), (3, 4))]


@samples("equal_sizes")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    found = [sample(f(2, 3), f(3, 2), axis=1, other=0, what="sizes", checks=checks)]
    return [*found, sample(f(4), f(2, 4), axis=0, other=-1, what="sizes", checks=checks)]


@samples("required_rows")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    return [sample(f(2, 3), axis=0, least=1, what="foldl", checks=checks), sample(f(2, 0), axis=1, least=0, what="map_fn", checks=checks)]


# ---------------------------------------------------------------------- shapes and order


@samples("reshape")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 6), (3, -1)), sample(f(), (1, 1)), sample(f(0, 3), (3, 0)), sample(f(1), ())]


@samples("broadcast_to")
def _(name: str) -> list[Sample]:
    return [sample(f(3, 1), (2, 3, 4)), sample(f(2, 3), (2, 3)), sample(f(), (2,)), sample(f(1, 3), (0, 3))]


@samples("sum_to_shape")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 4), (3, 1)), sample(f(2, 3), (2, 3)), sample(f(2, 3), ())]


@samples("ensure_shape")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), shape=(2, None)), sample(f(), shape=())]


@samples("expand_dims")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), axis=1), sample(f(2, 3), axis=-1), sample(f(), axis=0)]


@samples("squeeze")
def _(name: str) -> list[Sample]:
    return [sample(f(1, 3, 1), axis=(0,)), sample(f(1, 3, 1), axis=None), sample(f(2, 1), axis=(-1,)), sample(f(2, 3), axis=None)]


@samples("transpose")
def _(name: str) -> list[Sample]:
    return [
        sample(f(2, 3, 4), perm=(0, 2, 1)),
        sample(f(2, 3, 4), perm=None),
        sample(f(2, 3), perm=(0, 1)),
        sample(f(), perm=None),
        sample(f(1, 3), perm=(1, 0)),
    ]


@samples("matrix_transpose")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3)), sample(f(2, 3, 4)), sample(f(1, 3))]


@samples("transpose_by", "transpose_back")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 4), (1, 2, 0), checks=FREE), sample(f(2, 3), (0, 1), checks=FREE)]


@samples("axis_to_front", "axis_from_front", "axis_to_back", "axis_from_back")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 4), 1), sample(f(2, 3, 4), -1), sample(f(2, 3), 0)]


@samples("rows_of_axes")
def _(name: str) -> list[Sample]:
    found = [sample(f(2, 3, 4), (2, 0), checks=FREE, as_named=as_named) for as_named in (False, True)]
    return [*found, sample(f(2, 3), (1,), checks=FREE), sample(f(2, 3), (), checks=FREE)]


@samples("axes_of_rows")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    found = [sample(f(3, 8), (2, 0), (2, 3, 4), checks=checks, as_named=as_named) for as_named in (False, True)]
    return [*found, sample(f(2, 3), (1,), (2, 3), checks=checks)]


@samples("flatten_leading")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 4), i(2, 3)), sample(f(4, 3), i(4))]


@samples("concat")
def _(name: str) -> list[Sample]:
    return [sample([f(2, 3), f(2, 4)], axis=1), sample([f(2, 3), f(1, 3), f(0, 3)], axis=-2), sample([f(2, 3)], axis=0)]


@samples("stack")
def _(name: str) -> list[Sample]:
    return [sample([f(2, 3), f(2, 3)], axis=0), sample([f(2, 3), f(2, 3), f(2, 3)], axis=-1), sample([f()], axis=0)]


@samples("split")
def _(name: str) -> list[Sample]:
    known = Checks(hosts_known=True)
    return [
        sample(f(2, 7), (3, 4), axis=1, checks=known),
        sample(f(2, 7), (3, -1), axis=-1, checks=known),
        sample(f(2, 3), (2,), axis=0, checks=known),
    ]


@samples("split_evenly")
def _(name: str) -> list[Sample]:
    return [sample(f(4, 6), num=3, axis=1), sample(f(4, 6), num=2, axis=0), sample(f(4, 2), num=1, axis=0)]


@samples("unstack")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 4), num=3, axis=1), sample(f(2, 3), num=2, axis=0), sample(f(1, 3), num=1, axis=-2)]


@samples("tile")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), (2, 3)), sample(f(2, 3), (1, 1)), sample(f(2), (0,)), sample(f(), ())]


@samples("sum_tiles")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    return [sample(f(4, 3), (2, 1), (2, 3), checks=checks), sample(f(2, 3), (1, 1), (2, 3), checks=checks)]


@samples("repeat")
def _(name: str) -> list[Sample]:
    return [
        sample(f(3, 2), np.int32([2, 0, 1]), axis=0, checks=FREE),
        sample(f(3, 2), np.int32(2), axis=-1, checks=FREE),
        sample(f(3), np.int32(1), axis=0, checks=FREE),
    ]


@samples("sum_repeats")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    return [sample(f(3, 2), np.int32([2, 0, 1]), (3, 2), axis=0, checks=checks), sample(f(6), np.int32(2), (3,), axis=0, checks=checks)]


@samples("reverse")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 4), axis=(0, 2)), sample(f(2), axis=()), sample(f(1, 1), axis=(0, 1))]


@samples("reverse_sequence")
def _(name: str) -> list[Sample]:
    return [
        sample(f(3, 5), np.int32([2, 5, 0]), seq_axis=1, batch_axis=0),
        sample(f(5, 3, 2), np.int64([1, 3, 4]), seq_axis=0, batch_axis=1),
        sample(f(2, 3), np.int32([1, 0]), seq_axis=1, batch_axis=0),
    ]


@samples("roll")
def _(name: str) -> list[Sample]:
    return [
        sample(f(2, 3, 4), (1, -2), axis=(0, 2)),
        sample(f(2, 3), 1, axis=(0,)),
        sample(f(2, 3), 0, axis=(1,)),
        sample(f(2, 3), (), axis=()),
        sample(f(2, 3), (1, 2), axis=None),
    ]


@samples("pad")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), ((1, 2), (0, 1))), sample(f(2, 3), ((0, 0), (0, 0))), sample(f(0), ((1, 1),))]


@samples("pad_with")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), ((1, 2), (0, 1)), f(), checks=Checks(constant=("value",))), sample(f(2, 3), ((0, 0), (0, 0)), f())]


@samples("crop")
def _(name: str) -> list[Sample]:
    return [sample(f(6, 5), ((1, 2), (0, 1))), sample(f(2, 3), ((0, 0), (0, 0))), sample(f(3, 3), ((1, 1), (0, 0)))]


@samples("mirror_pad")
def _(name: str) -> list[Sample]:
    return [
        sample(f(3, 4), ((1, 2), (0, 1)), mode="REFLECT"),
        sample(f(3, 4), ((3, 2), (0, 4)), mode="SYMMETRIC"),
        sample(f(2), ((0, 0),), mode="REFLECT"),
    ]


@samples("mirror_fold")
def _(name: str) -> list[Sample]:
    return [
        sample(f(6, 5), ((1, 2), (0, 1)), mode="REFLECT"),
        sample(f(8, 8), ((3, 2), (0, 4)), mode="SYMMETRIC"),
        sample(f(2), ((0, 0),), mode="REFLECT"),
    ]


@samples("space_to_batch_nd")
def _(name: str) -> list[Sample]:
    return [sample(f(1, 4, 5, 2), (2, 3), ((0, 0), (1, 0))), sample(f(2, 3), (1,), ((0, 0),))]


@samples("batch_to_space")
def _(name: str) -> list[Sample]:
    return [sample(f(6, 2, 2, 2), (2, 3), ((0, 1), (1, 0))), sample(f(2, 3), (1,), ((0, 0),))]


@samples("space_to_depth", "depth_to_space")
def _(name: str) -> list[Sample]:
    shape = (2, 4, 6, 3) if name == "space_to_depth" else (2, 2, 3, 8)
    other = (1, 1, 1, 4)
    return [
        sample(f(*shape), block_size=2, data_format="NHWC"),
        sample(f(*(other if name == "depth_to_space" else (1, 2, 2, 1))), block_size=2, data_format="NHWC"),
    ]


# ---------------------------------------------------------------------- picking and putting


@samples("slice")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 4), (0, 1, 1), (2, 2, -1)), sample(f(2, 3), (0, 0), (2, 3)), sample(f(3), (1,), (0,)), sample(f(2, 3), (1, 0), (1, 3))]


@samples("slice_grad")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    return [sample(f(2, 2, 2), (0, 1, 1), (2, 3, 4), checks=checks), sample(f(2, 3), (0, 0), (2, 3), checks=checks)]


@samples("strided_slice")
def _(name: str) -> list[Sample]:
    x = f(3, 4)
    indexes = (
        ((0, 3, 1), (1, 4, 2)),
        ((None, None, -1),),
        (None, 1),
        ("...", (1, 2, 1)),
        ((None, None, 1),),
        (),
        (-1, 0),
        ((2, 1, 1),),
        ((1, 3, 1), "...", None),
    )
    return [sample(x, index=index) for index in indexes]


@samples("strided_slice_grad")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    return [
        sample(f(3, 2), (3, 4), (), index=((0, 3, 1), (1, 4, 2)), checks=checks),
        sample(f(4), (3, 4), (), index=(1, (0, 4, 1)), checks=checks),
        sample(f(2, 3), (3, 4), (), index=((None, 2, 1), (1, None, 1)), checks=checks),
    ]


@samples("dynamic_strided_slice")
def _(name: str) -> list[Sample]:
    at = "?"  # a number of the second input
    return [
        sample(f(3, 4), (1,), index=((at, None, 1),), checks=FREE),
        sample(f(3, 4), (2,), index=(at,), checks=FREE),
        sample(f(3, 4), (0, 3), index=((at, at, 1),), checks=FREE),
    ]


@samples("tensor_strided_slice_update")
def _(name: str) -> list[Sample]:
    return [
        sample(f(3, 4), (), f(2), index=((0, 3, 1), (1, 4, 2))),
        sample(f(3, 4), (), f(), index=(1,)),
        sample(f(3, 4), (1,), f(4), index=("?",)),
    ]


@samples("gather")
def _(name: str) -> list[Sample]:
    return [
        sample(f(4, 3), np.int32([2, 0, 2]), axis=0, batch_dims=0),
        sample(f(3, 4), i(2, 2, low=0, high=4, dtype=np.int64), axis=1, batch_dims=0),
        sample(f(2, 3, 4), i(2, 2, low=0, high=3), axis=1, batch_dims=1),
        sample(f(4, 3), np.int32(1), axis=-1, batch_dims=0),
        sample(f(4, 3), np.zeros(0, np.int32), axis=0, batch_dims=0),
    ]


@samples("gather_grad")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    return [
        sample(f(3, 4), np.int32([2, 0, 2]), (3, 4), axis=0, batch_dims=0, checks=checks),
        sample(f(3, 2, 2), i(2, 2, low=0, high=4, dtype=np.int64), (3, 4), axis=1, batch_dims=0, checks=checks),
        sample(f(2, 2, 4), i(2, 2, low=0, high=3), (2, 3, 4), axis=1, batch_dims=1, checks=checks),
    ]


@samples("gather_nd")
def _(name: str) -> list[Sample]:
    return [
        sample(f(3, 4), np.int32([[0, 1], [2, 3], [0, 1]]), batch_dims=0, ignore=False),
        sample(f(2, 3, 4), i(2, 2, 1, low=0, high=3), batch_dims=1, ignore=False),
        sample(f(3, 4), np.int32([[5], [1]]), batch_dims=0, ignore=True),
        sample(f(3, 4), np.zeros((2, 0), np.int32), batch_dims=0, ignore=False),
    ]


@samples("scatter_nd")
def _(name: str) -> list[Sample]:
    return [
        sample(np.int32([[0, 1], [2, 3], [0, 1]]), f(3), (3, 4), batch_dims=0, ignore=False),
        sample(i(2, 2, 1, low=0, high=3), f(2, 2, 4), (2, 3, 4), batch_dims=1, ignore=False),
        sample(np.int32([[5], [1]]), f(2, 4), (3, 4), batch_dims=0, ignore=True),
    ]


@samples("tensor_scatter_nd_add", "tensor_scatter_nd_sub", "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_update")
def _(name: str) -> list[Sample]:
    x = apart(6, 4)
    attrs = {} if name.endswith("update") else {"ignore": False}
    return [sample(x[:4], np.int32([[2], [0]]), x[4:], **attrs), sample(x[:4], np.int32([[0, 1], [3, 3]]), x[5, :2], **attrs)]


@samples("boolean_mask")
def _(name: str) -> list[Sample]:
    return [
        sample(f(3, 4), np.array([True, False, True]), axis=0, checks=FREE),
        sample(f(3, 2), np.array([False, True]), axis=1, checks=FREE),
        sample(f(2, 3, 4), b(2, 3), axis=0, checks=FREE),
    ]


@samples("boolean_mask_grad")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    return [
        sample(f(2, 4), np.array([True, False, True]), (3, 4), axis=0, checks=checks),
        sample(f(3, 1), np.array([False, True]), (3, 2), axis=1, checks=checks),
    ]


@samples("nonzero")
def _(name: str) -> list[Sample]:
    return [sample(i(2, 3, low=0, high=2), checks=FREE), sample(np.zeros(3, bool), checks=FREE), sample(f(2), checks=FREE)]


@samples("dynamic_partition")
def _(name: str) -> list[Sample]:
    return [
        sample(f(4, 3), np.int32([0, 2, 1, 0]), num_partitions=3, checks=FREE),
        sample(f(3), np.int32([1, 1, 1]), num_partitions=2, checks=FREE),
        sample(f(3), np.int32([0, 0, 0]), num_partitions=1, checks=FREE),
    ]


@samples("dynamic_partition_grad")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    return [sample(np.int32([0, 2, 1, 0]), [f(2, 3), f(1, 3), f(1, 3)], (4, 3), checks=checks)]


@samples("dynamic_stitch")
def _(name: str) -> list[Sample]:
    return [
        sample([np.int32([0, 2]), np.int32([1, 3])], [f(2, 2), f(2, 2)], checks=FREE),
        sample([np.int32(1), np.int32([0, 2])], [f(3), f(2, 3)], checks=FREE),
        sample([np.int32([0, 1])], [f(2, 3)], checks=FREE),
    ]


@samples("segment_sum", "segment_mean", "segment_max", "segment_min", "segment_prod")
def _(name: str) -> list[Sample]:
    checks = Checks(sizes_follow=False, complex_order=0) if name == "segment_prod" else FREE  # its gradient is not conjugated
    return [sample(apart(4, 3), np.int32([0, 0, 1, 3]), checks=checks), sample(apart(3), np.int64([0, 1, 1]), checks=checks)]


@samples("unsorted_segment_sum", "unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod")
def _(name: str) -> list[Sample]:
    checks = Checks(complex_order=0 if name == "unsorted_segment_prod" else 2)
    return [sample(apart(4, 3), np.int32([2, 0, 2, -1]), 4, checks=checks), sample(apart(2, 2, 3), np.int32([[0, 1], [1, 0]]), 2, checks=checks)]


@samples("segment_sizes")
def _(name: str) -> list[Sample]:
    return [sample(np.int32([2, 0, 2, -1]), 4, dtype=td.float32), sample(np.int64([[0, 1], [1, 0]]), 2, dtype=td.int32)]


@samples("share_among_segment_ties", "mean_of_segment_ties")
def _(name: str) -> list[Sample]:
    data, ids = np.float32([[1, 3], [1, 2], [5, 0]]), np.int32([0, 0, 1])
    y = np.float32([[1, 3], [5, 0]])
    checks = Checks(constant=("data", "y"), shapes=False)
    if name == "share_among_segment_ties":
        y = y[ids]
        return [sample(f(3, 2), data, y, ids, checks=checks)]
    return [sample(f(3, 2), data, y, ids, checks=checks)]


@samples("continues_segment", "take_segments")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    return [sample(f(4, 3), np.int32([0, 0, 1, 2]), checks=checks), sample(f(4), np.int32([0, 1, 1, 2]), checks=checks)]


# ---------------------------------------------------------------------- sorting and counting


@samples("sort")
def _(name: str) -> list[Sample]:
    return [sample(apart(2, 3, 4), axis=1, descending=False), sample(apart(5), axis=-1, descending=True)]


@samples("argsort")
def _(name: str) -> list[Sample]:
    return [sample(apart(2, 3, 4), axis=1, descending=False), sample(np.float32([2, 1, 2, 0]), axis=-1, descending=True)]


@samples("top_k")
def _(name: str) -> list[Sample]:
    return [sample(apart(3, 5), 2, index_type=td.int32), sample(apart(2, 2, 3), 3, index_type=td.int64), sample(apart(4), 0, index_type=td.int32)]


@samples("in_top_k")
def _(name: str) -> list[Sample]:
    return [sample(np.int32([0, 3, 7]), f(3, 4), 2), sample(np.int64([1]), f(1, 2), 1)]


@samples("searchsorted")
def _(name: str) -> list[Sample]:
    return [
        sample(np.sort(f(5)), f(3), side="left", out_type=td.int32),
        sample(np.sort(f(2, 4)), f(2, 3), side="right", out_type=td.int64),
    ]


@samples("unique", "unique_with_counts")
def _(name: str) -> list[Sample]:
    return [sample(np.int32([3, 1, 3, 2, 1]), out_idx=td.int32, checks=FREE), sample(np.zeros(0, np.float32), out_idx=td.int64, checks=FREE)]


@samples("is_non_decreasing", "is_strictly_increasing")
def _(name: str) -> list[Sample]:
    return [sample(np.int32([1, 2, 2, 5])), sample(f(2, 3)), sample(f(0))]


@samples("bincount")
def _(name: str) -> list[Sample]:
    return [
        sample(np.int32([1, 1, 4]), [], (-1, -1), rows=False, binary=False, dtype=td.int32, checks=FREE),
        sample(np.int32([1, 1, 4]), [f(3)], (-1, -1), rows=False, binary=False, dtype=td.float32, checks=FREE),
        sample(
            np.int32([[1, 1, 4]]),
            [f(1, 3)],
            (7, -1),
            rows=True,
            binary=False,
            dtype=td.float32,
            checks=Checks(sizes_follow=False, constant=("weights",)),
        ),
        sample(np.int32([[1, 1], [0, 5]]), [], (-1, 3), rows=True, binary=True, dtype=td.int64, checks=FREE),
    ]


@samples("confusion_places")
def _(name: str) -> list[Sample]:
    return [sample(np.int64([0, 2, 1]), np.int64([1, 2, 1]), 3)]


@samples("class_count")
def _(name: str) -> list[Sample]:
    return [sample(np.int64([0, 2, 1]), np.int64([1, 2, 1]))]


@samples("known_places")
def _(name: str) -> list[Sample]:
    return [sample(np.int32([0, 7, 1]), np.int64([0, 0, 0]), checks=Checks(shapes=False))]


@samples("invert_permutation")
def _(name: str) -> list[Sample]:
    return [sample(np.int32([2, 0, 1])), sample(np.int64([0]))]


@samples("inverse_orders")
def _(name: str) -> list[Sample]:
    return [sample(np.int32([[2, 0, 1], [1, 0, 2]]))]


@samples("equal_or_false", "not_equal_or_true")
def _(name: str) -> list[Sample]:
    return [sample(i(2, 3), i(2, 3)), sample(i(3), i(2, 1))]


# ---------------------------------------------------------------------- dtypes and flow


@samples("cast")
def _(name: str) -> list[Sample]:
    exact = [sample(f(2, 3), dtype=d) for d in (td.float64, td.complex128, td.int32, td.bool, td.uint8)]
    return [*exact, *(sample(f(2, 3), dtype=d, checks=Checks(order=0)) for d in (td.bfloat16, td.float32))]


@samples("bitcast")
def _(name: str) -> list[Sample]:
    return [
        sample(f(3), dtype=td.int32),
        sample(i(3), dtype=td.uint8),
        sample(i(2, 4, dtype=np.uint8), dtype=td.int32),
        sample(f(2), dtype=td.float32),
    ]


@samples("stop_gradient")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3)), sample(f())]


@samples("check_numerics")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), message="bad")]


@samples("guard_numerics")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), [f(2), f()], made_by="log", output=0), sample(f(), [], made_by="log", output=1)]


@samples("assert")
def _(name: str) -> list[Sample]:
    return [sample(np.array(True), [f(2)], pieces=(0,), summarize=3)]


@samples("assert_equal", "assert_greater_equal", "assert_less_equal")
def _(name: str) -> list[Sample]:
    x = f(2, 3)
    return [sample(x, x, message="", summarize=None), sample(np.int32(3), np.int32([3, 3]), message="m", summarize=2)]


@samples("assert_greater", "assert_less", "assert_none_equal")
def _(name: str) -> list[Sample]:
    x = f(2, 3)
    return [sample(x, x - 1 if name == "assert_greater" else x + 1, message="", summarize=None)]


@samples("assert_near")
def _(name: str) -> list[Sample]:
    x = f(2, 3)
    return [sample(x, x + 1e-6, np.float32(1e-4), np.float32(1e-4), message="", summarize=None)]


@samples("assert_rank")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), (2,), at_least=False, message=""), sample(f(2, 3), (1,), at_least=True, message="")]


@samples("assert_shapes")
def _(name: str) -> list[Sample]:
    return [sample([f(2, 3), f(3)], constraints=(("N", 3), (3,)), message="")]


@samples("print")
def _(name: str) -> list[Sample]:
    return [sample([f(2)], pieces=("x = ", Placeholder(0)), stream=f"file://{os.devnull}", summarize=3)]


def _double(*arrays: Any) -> Any:
    return arrays[0] * 2


@samples("numpy_function")
def _(name: str) -> list[Sample]:
    return [sample([f(2, 3)], function=_double, dtypes=(td.float32,), checks=Checks(sizes_follow=False, edges=False, dtypes=(), shapes=False))]


@samples("py_function")
def _(name: str) -> list[Sample]:
    return [
        sample(
            [f(2, 3, dtype=np.float64)],
            function=_double,
            dtypes=(td.float64,),
            checks=Checks(sizes_follow=False, edges=False, dtypes=(), shapes=False),
        )
    ]


def _cubes(*tensors: Any) -> Any:
    return tensors[0] ** 3


@samples("py_function_gradient")
def _(name: str) -> list[Sample]:
    checks = Checks(edges=False, dtypes=(), shapes=False)
    x, g = f(2, 3, dtype=np.float64), f(2, 3, dtype=np.float64)
    return [sample([x], [g], np.int64(-1), function=_cubes, dtypes=(td.float64,), checks=checks)]


# ---------------------------------------------------------------------- products and matrices


@samples("matmul")
def _(name: str) -> list[Sample]:
    found = [sample(f(2, 3), f(3, 4))]
    found += [
        sample(f(2, 3, 4), f(2, 5, 4), transpose_b=True),
        sample(f(4, 3), f(2, 4, 1), transpose_a=True),
        sample(f(3, 2), f(4, 3), transpose_a=True, transpose_b=True),
    ]
    return [*found, sample(f(2, 0), f(0, 3)), sample(c(2, 3), c(3, 2))]


@samples("einsum")
def _(name: str) -> list[Sample]:
    return [
        sample([f(2, 3), f(3, 4)], terms=(("i", "j"), ("j", "k")), result=("i", "k")),
        sample([f(2, 3, 4), f(4, 3, 5)], terms=(("a", "b", "c"), ("c", "b", "d")), result=("a", "d")),
        sample([f(2, 3)], terms=(("i", "j"),), result=("j",)),
        sample([f(2, 3)], terms=(("i", "j"),), result=("i", "j")),
        sample([f(1, 3)], terms=(("i", "j"),), result=("j", "i")),
        sample([f(3, 3)], terms=(("i", "i"),), result=("i",)),
        sample([f(2), f(3)], terms=(("i",), ("j",)), result=("j", "i")),
        sample([c(2, 3), c(3, 2)], terms=(("i", "j"), ("j", "k")), result=("k", "i")),
    ]


@samples("cross")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), f(2, 3)), sample(f(3), f(3))]


def well(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Square matrices far from singular."""
    return f(*shape, low=-0.6, high=0.6, dtype=dtype) + 2 * np.eye(shape[-1], dtype=dtype)


def definite(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Symmetric positive definite matrices."""
    x = well(*shape, dtype=dtype)
    return x @ np.swapaxes(x, -1, -2)


def symmetric(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Symmetric matrices with eigenvalues that are apart."""
    x = f(*shape, low=-0.3, high=0.3, dtype=dtype)
    return x + np.swapaxes(x, -1, -2) + np.diag(np.arange(shape[-1])).astype(dtype) * 2


@samples("inv", "det", "slogdet", "cofactors", "expm", "lu")
def _(name: str) -> list[Sample]:
    attrs = {"output_idx_type": td.int32} if name == "lu" else {}
    if name == "slogdet":  # the gradient of the sign is left out, as in TensorFlow
        checks = Checks(through=lambda results: results[-1:], complex_order=0)
        return [sample(x, checks=checks) for x in (well(3, 3), well(2, 2, 2), c(3, 3))]
    return [sample(x, **attrs) for x in (well(3, 3), well(2, 2, 2), c(3, 3) + 3 * np.eye(3))]


@samples("cholesky")
def _(name: str) -> list[Sample]:
    checks = Checks(symmetric=("x",))
    return [sample(definite(3, 3), checks=checks), sample(definite(2, 2, 2), checks=checks)]


@samples("sqrtm")
def _(name: str) -> list[Sample]:
    return [sample(definite(3, 3)), sample(definite(2, 2, 2))]


@samples("logm")
def _(name: str) -> list[Sample]:
    return [sample(well(2, 2).astype(np.complex64))]


@samples("solve")
def _(name: str) -> list[Sample]:
    return [
        sample(well(3, 3), f(3, 2), adjoint=False),
        sample(well(2, 3, 3), f(2, 3, 1), adjoint=True),
        sample(c(3, 3) + 3 * np.eye(3), c(3, 2), adjoint=True),
    ]


@samples("triangular_solve")
def _(name: str) -> list[Sample]:
    return [sample(well(3, 3), f(3, 2), lower=lower, adjoint=adjoint) for lower in (True, False) for adjoint in (False, True)]


@samples("tridiagonal_solve")
def _(name: str) -> list[Sample]:
    return [sample(np.stack([f(4), f(4) + 5, f(4)]), f(4, 2)), sample(np.stack([f(2, 3), f(2, 3) + 5, f(2, 3)], 1), f(2, 3, 1))]


@samples("lstsq")
def _(name: str) -> list[Sample]:
    return [sample(f(5, 3, dtype=np.float64), f(5, 1, dtype=np.float64)), sample(f(2, 3), f(2, 2))]


@samples("pinv")
def _(name: str) -> list[Sample]:
    return [sample(f(4, 3), np.float32(1e-6), checks=Checks(constant=("rcond",)))]


@samples("qr")
def _(name: str) -> list[Sample]:
    return [
        sample(f(4, 3), full_matrices=False),
        sample(f(3, 3), full_matrices=True),
        sample(f(2, 2, 3), full_matrices=False),
        sample(f(2, 3), full_matrices=True),
    ]


@samples("wide_matrices")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3)), sample(f(2, 3, 3))]


@samples("svd")
def _(name: str) -> list[Sample]:
    checks = Checks(complex_order=0)
    singular = Checks(through=lambda results: [r for r in results if r.dtype is td.float64])
    return [
        sample(f(3, 2) + np.float32(np.eye(3, 2)), full_matrices=False, checks=checks),
        sample(f(2, 3), full_matrices=False, checks=checks),
        sample(c(3, 2), full_matrices=False, checks=singular),
    ]


@samples("singular_values")
def _(name: str) -> list[Sample]:
    return [sample(f(3, 4)), sample(f(2, 3, 2))]


def hermitian(size: int) -> np.ndarray:
    """A Hermitian matrix with eigenvalues that are apart."""
    x = 0.3 * c(size, size)
    return x + x.conj().T + np.diag(np.arange(size)) * 3


HERMITIAN = Checks(symmetric=("a",), through=lambda results: [results[0], *(td.abs(r) for r in results[1:])])
"""Eigenvectors are unique but for their phase."""


@samples("eigh", "eigvalsh")
def _(name: str) -> list[Sample]:
    checks = Checks(complex_order=0)
    return [sample(symmetric(3, 3), checks=checks), sample(symmetric(2, 2, 2), checks=checks), sample(hermitian(3), checks=HERMITIAN)]


@samples("eig", "eigvals")
def _(name: str) -> list[Sample]:
    return [sample(symmetric(3, 3) + f(3, 3, low=-0.1, high=0.1), checks=Checks(through=lambda results: [results[0]]))]


@samples("eigh_tridiagonal", "eigvalsh_tridiagonal")
def _(name: str) -> list[Sample]:
    return [sample(f(4), f(3), select="a", bounds=None), sample(f(4, dtype=np.float64), f(3, dtype=np.float64), select="i", bounds=(0, 1))]


@samples("diag")
def _(name: str) -> list[Sample]:
    checks = Checks(constant=("padding",))
    return [
        sample(f(2, 3), f(), (3, 4), k=(-1, 0), align="RIGHT_LEFT", checks=checks),
        sample(f(3), f(), (-1, -1), k=(0, 0), align="RIGHT_LEFT", checks=checks),
        sample(f(2, 3), f(), (-1, -1), k=(1, 1), align="LEFT_LEFT", checks=checks),
        sample(f(4, 3), f(), (3, 4), k=(-1, 2), align="LEFT_RIGHT", checks=checks),
    ]


@samples("diag_part")
def _(name: str) -> list[Sample]:
    checks = Checks(constant=("padding",))
    return [
        sample(f(3, 4), f(), k=(-1, 2), align="RIGHT_LEFT", checks=checks),
        sample(f(3, 3), f(), k=(0, 0), align="RIGHT_LEFT", checks=checks),
        sample(f(2, 4, 4), f(), k=(1, 1), align="LEFT_LEFT", checks=checks),
    ]


@samples("set_diag")
def _(name: str) -> list[Sample]:
    return [
        sample(f(3, 4), f(3), k=(0, 0), align="RIGHT_LEFT"),
        sample(f(3, 3), f(2, 3), k=(0, 1), align="RIGHT_LEFT"),
        sample(f(2, 3, 4), f(2, 3), k=(1, 1), align="LEFT_LEFT"),
    ]


@samples("band_part")
def _(name: str) -> list[Sample]:
    return [sample(f(3, 4), (1, 0)), sample(f(2, 3, 3), (-1, 1)), sample(f(3, 3), (-1, -1))]


# ---------------------------------------------------------------------- layers


@samples("softmax", "log_softmax")
def _(name: str) -> list[Sample]:
    return [sample(f(3, 4), axis=-1), sample(f(2, 3, 4), axis=1), sample(f(0, 3), axis=-1)]


@samples("softmax_grad", "log_softmax_grad")
def _(name: str) -> list[Sample]:
    return [sample(f(3, 4), f(3, 4), axis=-1), sample(f(2, 3, 4), f(2, 3, 4), axis=1)]


@samples("softmax_cross_entropy")
def _(name: str) -> list[Sample]:
    checks = Checks(through=lambda results: [results[0]])
    labels = p(3, 4)
    labels /= labels.sum(-1, keepdims=True)
    return [sample(labels, f(3, 4), checks=checks), sample(labels[:1], f(3, 4), checks=checks)]


@samples("softmax_cross_entropy_grad")
def _(name: str) -> list[Sample]:
    logits, labels = f(3, 4), p(3, 4)
    e = np.exp(logits)
    checks = Checks(shapes=False, constant=("backprop", "labels", "logits"))  # they depend on each other
    return [sample(f(3), e / e.sum(-1, keepdims=True) - labels, labels, logits, checks=checks)]


@samples("sparse_softmax_cross_entropy")
def _(name: str) -> list[Sample]:
    return [sample(np.int32([0, 3, 1]), f(3, 4), checks=Checks(through=lambda results: [results[0]]))]


@samples("sparse_softmax_cross_entropy_grad")
def _(name: str) -> list[Sample]:
    logits = f(3, 4)
    e = np.exp(logits)
    checks = Checks(shapes=False, constant=("backprop", "logits"))  # they depend on each other
    return [sample(f(3), e / e.sum(-1, keepdims=True) - np.eye(4, dtype=np.float32)[[0, 3, 1]], logits, checks=checks)]


@samples("bias_add")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 5), f(3), axis=1), sample(f(3, 4), f(4), axis=-1)]


@samples("standardize")
def _(name: str) -> list[Sample]:
    row = functools.partial(f, 1, 1, 4)
    return [
        sample(f(2, 3, 4), [row()], [row()], [row()]),
        sample(f(2, 3, 4), [f(4)], [f(4), f(4)], []),
        sample(f(2, 4), [], [f(4)], [f(4)]),
        sample(f(2, 4), [], [], []),
    ]


@samples("channel_window_sum")
def _(name: str) -> list[Sample]:
    return [sample(f(1, 2, 2, 5), radius=1), sample(f(1, 2, 2, 3), radius=0), sample(f(1, 1, 2, 3), radius=4)]


CONVOLUTIONS = (
    # input, filters, output, strides, padding, dilations
    ((2, 6, 5, 2), (3, 2, 2, 3), (2, 3, 3, 3), (2, 2), "SAME", (1, 1)),
    ((1, 7, 2), (3, 2, 3), (1, 5, 3), (1,), "VALID", (1,)),
    ((1, 5, 5, 2), (2, 2, 2, 1), (1, 4, 5, 1), (2, 1), ((1, 2), (0, 1)), (1, 1)),
    ((1, 6, 5, 1), (2, 2, 1, 2), (1, 4, 3, 2), (1, 1), "VALID", (2, 2)),
    ((1, 4, 4, 4), (2, 2, 2, 4), (1, 3, 3, 4), (1, 1), "VALID", (1, 1)),
)


@samples("conv")
def _(name: str) -> list[Sample]:
    return [sample(f(*x), f(*w), strides=s, padding=pad, dilations=d) for x, w, _, s, pad, d in CONVOLUTIONS]


@samples("conv_backprop_filter")
def _(name: str) -> list[Sample]:
    return [sample(f(*x), w, f(*y), strides=s, padding=pad, dilations=d) for x, w, y, s, pad, d in CONVOLUTIONS]


@samples("conv_backprop_input")
def _(name: str) -> list[Sample]:
    return [sample(x, f(*w), f(*y), strides=s, padding=pad, dilations=d) for x, w, y, s, pad, d in CONVOLUTIONS]


POOLS = (
    # input, output, window, strides, padding
    ((1, 5, 4, 2), (1, 3, 2, 2), (2, 2), (2, 2), "SAME"),
    ((1, 5, 2), (1, 4, 2), (2,), (1,), "VALID"),
    ((1, 5, 5, 1), (1, 5, 3, 1), (2, 3), (1, 2), "SAME"),
    ((1, 3, 2, 1), (1, 3, 2, 1), (1, 1), (1, 1), "VALID"),
)


@samples("avg_pool", "max_pool")
def _(name: str) -> list[Sample]:
    return [sample(apart(*x), window=w, strides=s, padding=pad, dilations=(1,) * len(w)) for x, _, w, s, pad in POOLS]


@samples("avg_pool_grad")
def _(name: str) -> list[Sample]:
    return [sample(x, f(*y), window=w, strides=s, padding=pad, dilations=(1,) * len(w)) for x, y, w, s, pad in POOLS]


@samples("max_pool_grad", "max_pool_pick")
def _(name: str) -> list[Sample]:
    found = []
    for shape, _, w, s, pad in POOLS:
        x = apart(*shape)
        attrs = {"window": w, "strides": s, "padding": pad, "dilations": (1,) * len(w)}
        y = np.asarray(td.nn.max_pool(x, w, s, pad))
        last = f(*(y.shape if name == "max_pool_grad" else x.shape))
        found.append(sample(x, y, last, checks=Checks(constant=("input", "output"), shapes=False, edges=False), **attrs))
    return found


@samples("max_pool_with_argmax")
def _(name: str) -> list[Sample]:
    attrs = {"window": (2, 2), "strides": (2, 1), "padding": "SAME"}
    return [
        sample(apart(2, 4, 3, 2), output_dtype=td.int64, include_batch_in_index=False, **attrs),
        sample(apart(2, 4, 3, 2), output_dtype=td.int32, include_batch_in_index=True, **attrs),
    ]


@samples("dilation2d", "dilation2d_backprop_filter", "dilation2d_backprop_input", "dilation2d_pick_filter", "dilation2d_pick_input")
def _(name: str) -> list[Sample]:
    found = []
    shapes = (((1, 5, 4, 2), (2, 3, 2), (1, 5, 4, 2), "SAME", (1, 1)), ((1, 5, 5, 1), (2, 2, 1), (1, 3, 3, 1), "VALID", (2, 2)))
    for x, w, y, pad, d in shapes:
        attrs = {"strides": (1, 1), "padding": pad, "dilations": d}
        last = {"dilation2d": [], "dilation2d_pick_filter": [f(*w)], "dilation2d_pick_input": [f(*x)]}.get(name, [f(*y)])
        checks = Checks() if name == "dilation2d" else Checks(constant=("input", "filters"))
        found.append(sample(f(*x), f(*w), *last, checks=checks, **attrs))
    return found


# ---------------------------------------------------------------------- random numbers


KEY = (10224509626041759871, 3)


@samples("random_key")
def _(name: str) -> list[Sample]:
    return [sample(seed=None, checks=Checks(same_bits=False)), sample(seed=3, checks=Checks(same_bits=False))]


@samples("generator_key")
def _(name: str) -> list[Sample]:
    return [sample(np.int64([1, 2, 3]), alg="philox"), sample(np.int64([1, 2]), alg="threefry")]


@samples("generator_skip")
def _(name: str) -> list[Sample]:
    return [sample(np.int64([1, 2, 3]), np.int64(5), alg="philox"), sample(np.int64([1, 2]), np.uint64(5), alg="threefry")]


@samples("stateless_uniform", "stateless_normal", "stateless_truncated_normal")
def _(name: str) -> list[Sample]:
    found = [
        sample((2, 3), KEY, dtype=d, alg=a)
        for d, a in ((td.float32, "philox"), (td.float64, "threefry"), (td.bfloat16, "philox"), (td.float16, "philox"))
    ]
    return [*found, sample((), KEY, dtype=td.float32), sample((0, 2), KEY, dtype=td.float32)]


@samples("stateless_uniform_bits")
def _(name: str) -> list[Sample]:
    return [sample((2, 3), KEY, dtype=d) for d in (td.uint32, td.int64, td.uint64, td.int32)]


@samples("stateless_uniform_integers")
def _(name: str) -> list[Sample]:
    return [sample((2, 3), KEY, np.int32(-3), np.int32(9)), sample((4,), KEY, np.int64(0), np.int64(2**40))]


@samples("stateless_gamma")
def _(name: str) -> list[Sample]:
    return [
        sample((2, 3), KEY, p(3), np.float32(1.5), checks=Checks(constant=("alpha",)))
    ]  # a draw that is rejected or not is no smooth function of alpha


@samples("stateless_poisson")
def _(name: str) -> list[Sample]:
    return [sample((2, 3), KEY, p(3) * 4, dtype=td.float32), sample((3,), KEY, np.float32(20), dtype=td.int32)]


@samples("stateless_binomial")
def _(name: str) -> list[Sample]:
    return [sample((2, 3), KEY, np.float32(9), np.float32(0.4), dtype=td.int32)]


@samples("stateless_categorical")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3), 4, KEY, dtype=td.int64)]


@samples("stateless_parameterized_truncated_normal")
def _(name: str) -> list[Sample]:
    return [sample((2, 3), KEY, np.float32(0), np.float32(1), np.float32(-1), np.float32([0.5, 1, 2]))]


@samples("stateless_shuffle")
def _(name: str) -> list[Sample]:
    return [sample(f(4, 2), KEY), sample(i(5), KEY)]


# ---------------------------------------------------------------------- signals


@samples("fft")
def _(name: str) -> list[Sample]:
    x = c(2, 3, 4, dtype=np.complex64)
    return [
        sample(x, axes=(-1,), inverse=False, norm="backward"),
        sample(x, axes=(-2, -1), inverse=True, norm="backward"),
        sample(x, axes=(0,), inverse=False, norm="ortho"),
        sample(x, axes=(), inverse=False, norm="backward"),
    ]


@samples("rfft")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 5), axes=(-1,), norm="backward"), sample(f(2, 3, 4), axes=(-2, -1), norm="backward"), sample(f(6), axes=(-1,), norm="ortho")]


@samples("irfft")
def _(name: str) -> list[Sample]:
    # The imaginary parts of the first and, for an even length, the last frequency are not read.
    x, y = c(2, 3, dtype=np.complex64), c(2, 3, 3, dtype=np.complex64)
    return [sample(x, 5, axes=(-1,), norm="backward"), sample(x, 4, axes=(-1,), norm="ortho"), sample(y, 5, axes=(-2, -1), norm="backward")]


@samples("fit_axes")
def _(name: str) -> list[Sample]:
    return [sample(f(3, 4), (6,), axes=(-1,)), sample(f(3, 4), (2, 4), axes=(-2, -1)), sample(f(3, 4), (4,), axes=(-1,))]


@samples("spectrum_weights")
def _(name: str) -> list[Sample]:
    return [sample(5, paired=2.0, dtype=td.float32), sample(6, paired=0.5, dtype=td.complex64)]


@samples("cosine_scales")
def _(name: str) -> list[Sample]:
    return [sample(5, type=kind, ortho=ortho, dtype=td.complex64) for kind in (2, 3, 4) for ortho in (False, True)]


@samples("window_positions")
def _(name: str) -> list[Sample]:
    return [sample(5, dtype=td.float32), sample(1, dtype=td.float64)]


@samples("raised_cosine_window")
def _(name: str) -> list[Sample]:
    return [sample(5, periodic=periodic, offset=0.5, amplitude=0.5, dtype=td.float32) for periodic in (False, True)]


@samples("mel_weights")
def _(name: str) -> list[Sample]:
    return [sample(9, 8000.0, mel_bins=4, lower=125.0, upper=3800.0, dtype=td.float32)]


@samples("frame")
def _(name: str) -> list[Sample]:
    checks = Checks(constant=("pad_value",))
    return [
        sample(f(2, 7), f(), (3, 2), axis=-1, pad_end=False, checks=checks),
        sample(f(7, 2), f(), (3, 2), axis=0, pad_end=True, checks=checks),
        sample(f(2), f(), (3, 2), axis=0, pad_end=False, checks=checks),
        sample(f(6), f(), (2, 2), axis=0, pad_end=False, checks=checks),
    ]


@samples("frame_grad")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    return [
        sample(f(2, 3, 3), (2, 7), (3, 2), axis=-1, pad_end=False, checks=checks),
        sample(f(4, 3, 2), (7, 2), (3, 2), axis=0, pad_end=True, checks=checks),
        sample(f(3, 2), (6,), (2, 2), axis=0, pad_end=False, checks=checks),
    ]


@samples("overlap_and_add")
def _(name: str) -> list[Sample]:
    return [sample(f(2, 3, 4), 2), sample(f(3, 4), 5), sample(f(1, 2), 1), sample(f(3, 4), 4)]


# ---------------------------------------------------------------------- images


@samples("resize", "resize_grad")
def _(name: str) -> list[Sample]:
    x = f(1, 4, 3, 2)
    methods = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
    found = [sample(x, (6, 2), method=method, antialias=False) for method in methods]
    found += [sample(x, (4, 3), method=method, antialias=False) for method in ("bilinear", "nearest", "area")]
    return [*found, sample(x, (2, 2), method="bilinear", antialias=True), sample(x, (2, 5), method="lanczos3", antialias=True)]


@samples("image_batch")
def _(name: str) -> list[Sample]:
    return [sample(f(4, 3, 2)), sample(f(2, 4, 3, 1))]


@samples("without_batch")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    return [sample(f(1, 4, 3, 2), f(5, 2, 1), checks=checks), sample(f(2, 4, 3, 1), f(2, 1, 1, 1), checks=checks)]


@samples("extract_patches")
def _(name: str) -> list[Sample]:
    return [
        sample(f(1, 5, 4, 2), window=(2, 3), strides=(1, 2), rates=(1, 1), padding="SAME"),
        sample(f(2, 5, 5, 1), window=(2, 2), strides=(2, 2), rates=(2, 1), padding="VALID"),
        sample(f(1, 2, 3, 1), window=(1, 1), strides=(1, 1), rates=(1, 1), padding="VALID"),
        sample(f(1, 3, 3, 3, 1), window=(2, 2, 2), strides=(1, 1, 1), rates=(1, 1, 1), padding="VALID"),
    ]


@samples("extract_patches_grad")
def _(name: str) -> list[Sample]:
    checks = Checks(shapes=False)
    return [
        sample(f(1, 5, 2, 12), (1, 5, 4, 2), window=(2, 3), strides=(1, 2), rates=(1, 1), padding="SAME", checks=checks),
        sample(f(2, 2, 2, 4), (2, 5, 5, 1), window=(2, 2), strides=(2, 2), rates=(2, 1), padding="VALID", checks=checks),
    ]


@samples("extract_glimpse")
def _(name: str) -> list[Sample]:
    attrs = {"centered": True, "normalized": True}
    return [
        sample(f(2, 5, 5, 1), f(2, 3, 2, 1), f(2, 2, low=-1, high=1), **attrs),
        sample(f(1, 4, 4, 2), f(1, 2, 2, 2), np.float32([[1, 3]]), centered=False, normalized=False),
    ]


@samples("box_batches")
def _(name: str) -> list[Sample]:
    return [sample(np.int32([0, 1, 0]), f(2, 3, 3, 1))]


def boxes(*shape: int) -> np.ndarray:
    """Boxes as (top, left, bottom, right)."""
    corner = f(*shape, 2, low=0, high=1)
    return np.concatenate([corner, corner + f(*shape, 2, low=0.3, high=1)], -1).astype(np.float32)


@samples("non_max_suppression")
def _(name: str) -> list[Sample]:
    return [
        sample(boxes(6), f(6, low=0, high=1), 3, 0.5, 0.25, 0.0, pad=False, inclusive=False, checks=FREE),
        sample(boxes(6), f(6, low=0, high=1), 4, 0.5, 0.0, 0.5, pad=False, inclusive=False, checks=FREE),
        sample(boxes(2, 6), f(2, 6, low=0, high=1), 4, 0.5, 0.25, 0.0, pad=True, inclusive=True),
    ]


@samples("non_max_suppression_overlaps")
def _(name: str) -> list[Sample]:
    return [sample(f(5, 5, low=0, high=1), f(5, low=0, high=1), 3, 0.5, 0.25, checks=FREE)]


@samples("combined_non_max_suppression")
def _(name: str) -> list[Sample]:
    attrs = {"pad_per_class": False, "clip_boxes": True}
    return [
        sample(boxes(2, 6, 1), f(2, 6, 3, low=0, high=1), 2, 4, 0.5, 0.25, **attrs),
        sample(boxes(1, 4, 2), f(1, 4, 2, low=0, high=1), 2, 5, 0.5, 0.25, pad_per_class=True, clip_boxes=False),
    ]
