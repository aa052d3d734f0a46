"""The best plain expressions of ops that work element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
from expressions import SIDE, Array, Line, b, c, f, g, i, line, lines
from scipy import special

import treadle as td


def with_zeros(of_two: Any, x: Array, y: Array) -> Array:
    """``maximum`` or ``minimum``, where 0.0 is larger than -0.0: NumPy gives either."""
    result = of_two(x, y)
    if not result.all():
        x, y = np.broadcast_arrays(x, y)
        zeros = (x == 0) & (y == 0)
        result[zeros] = of_two(1 / x[zeros], 1 / y[zeros]) * 0
    return result


OF_ONE: dict[str, tuple[Any, ...]] = {  # the range of the input, and the expressions
    "abs": (-2, 2, np.abs),
    "acos": (-0.9, 0.9, np.arccos),
    "acosh": (1.2, 4, np.arccosh),
    "asin": (-0.9, 0.9, np.arcsin),
    "asinh": (-2, 2, np.arcsinh),
    "atan": (-2, 2, np.arctan),
    "atanh": (-0.9, 0.9, np.arctanh),
    "bessel_i0": (-2, 2, special.i0),
    "bessel_i0e": (-2, 2, special.i0e),
    "bessel_i1": (-2, 2, special.i1),
    "bessel_i1e": (-2, 2, special.i1e),
    "bessel_j0": (0.5, 3, special.j0),
    "bessel_j1": (0.5, 3, special.j1),
    "bessel_k0": (0.5, 3, special.k0),
    "bessel_k0e": (0.5, 3, special.k0e),
    "bessel_k1": (0.5, 3, special.k1),
    "bessel_k1e": (0.5, 3, special.k1e),
    "bessel_y0": (0.5, 3, special.y0),
    "bessel_y1": (0.5, 3, special.y1),
    "ceil": (-2, 2, np.ceil),
    "cos": (-2, 2, np.cos),
    "cosh": (-2, 2, np.cosh),
    "dawsn": (-2, 2, special.dawsn),
    "digamma": (0.5, 3, special.psi),
    "elu": (-2, 2, lambda x: np.where(x > 0, x, np.expm1(x)), lambda x: np.maximum(x, np.expm1(np.minimum(x, 0)))),
    "erf": (-2, 2, special.erf),
    "erfc": (-2, 2, special.erfc),
    "erfinv": (-0.9, 0.9, special.erfinv),
    "exp": (-2, 2, np.exp),
    "expint": (0.5, 3, special.expi),
    "expm1": (-2, 2, np.expm1),
    "floor": (-2, 2, np.floor),
    "fresnel_cos": (-2, 2, lambda x: special.fresnel(x)[1]),
    "fresnel_sin": (-2, 2, lambda x: special.fresnel(x)[0]),
    "gelu": (-2, 2, lambda x: x * special.ndtr(x), lambda x: np.float32(0.5) * x * (1 + special.erf(x * np.float32(0.5**0.5)))),
    "is_finite": (-2, 2, np.isfinite),
    "is_inf": (-2, 2, np.isinf),
    "is_nan": (-2, 2, np.isnan),
    "lgamma": (0.5, 3, special.gammaln),
    "log": (0.5, 3, np.log),
    "log1p": (0.5, 3, np.log1p),
    "ndtri": (0.1, 0.9, special.ndtri),
    "negative": (-2, 2, np.negative),
    "reciprocal": (0.5, 3, np.reciprocal),
    "relu": (-2, 2, lambda x: np.maximum(x, 0), lambda x: np.where(x < 0, 0, x).astype(x.dtype, copy=False)),
    "relu6": (-2, 9, lambda x: np.clip(x, 0, 6), lambda x: np.minimum(np.maximum(x, 0), 6)),
    "rint": (-2, 2, np.rint),
    "round": (-2, 2, np.rint),
    "rsqrt": (0.5, 3, lambda x: 1 / np.sqrt(x)),
    "selu": (
        -2,
        2,
        lambda x: np.float32(1.05070098) * np.where(x > 0, x, np.float32(1.67326324) * np.expm1(x)),
    ),
    "sigmoid": (-2, 2, special.expit, lambda x: 1 / (1 + np.exp(-x))),
    "sign": (-2, 2, np.sign),
    "silu": (-2, 2, lambda x: x / (1 + np.exp(-x)), lambda x: x * special.expit(x)),
    "sin": (-2, 2, np.sin),
    "sinh": (-2, 2, np.sinh),
    "softplus": (-2, 2, lambda x: np.logaddexp(x, np.float32(0)), lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))),
    "softsign": (-2, 2, lambda x: x / (1 + np.abs(x))),
    "spence": (0.5, 3, special.spence),
    "sqrt": (0.5, 3, np.sqrt),
    "square": (-2, 2, np.square),
    "tan": (-1, 1, np.tan),
    "tanh": (-2, 2, np.tanh),
    "check_numerics": (-2, 2, lambda x: x if np.isfinite(x).all() else None),
    "l2_loss": (-2, 2, lambda x: np.vdot(x, x) * np.float32(0.5), lambda x: np.square(x).sum() * np.float32(0.5)),
    "zero_fraction": (-2, 2, lambda x: np.float32(1 - np.count_nonzero(x) / x.size)),
    "is_non_decreasing": (-2, 2, lambda x: np.array((x.ravel()[1:] >= x.ravel()[:-1]).all())),
    "is_strictly_increasing": (-2, 2, lambda x: np.array((x.ravel()[1:] > x.ravel()[:-1]).all())),
}
EXTRA: dict[str, dict[str, Any]] = {"check_numerics": {"message": ""}}

OF_TWO: dict[str, tuple[Any, ...]] = {
    "add": (-2, 2, np.add),
    "subtract": (-2, 2, np.subtract),
    "multiply": (-2, 2, np.multiply),
    "divide": (0.5, 3, np.divide),
    "maximum": (-2, 2, lambda x, y: with_zeros(np.maximum, x, y)),
    "minimum": (-2, 2, lambda x, y: with_zeros(np.minimum, x, y)),
    "atan2": (-2, 2, np.arctan2),
    "pow": (0.5, 3, np.power),
    "nextafter": (-2, 2, np.nextafter),
    "floordiv": (0.5, 3, lambda x, y: np.floor(x / y)),
    "floormod": (0.5, 3, np.remainder),
    "truncatediv": (0.5, 3, lambda x, y: np.trunc(x / y)),
    "truncatemod": (0.5, 3, np.fmod),
    "squared_difference": (-2, 2, lambda x, y: np.square(x - y)),
    "divide_no_nan": (0.5, 3, lambda x, y: np.where(y == 0, np.float32(0), x / y), lambda x, y: np.divide(x, y, out=np.zeros_like(x), where=y != 0)),
    "multiply_no_nan": (0.5, 3, lambda x, y: np.where(y == 0, np.float32(0), x * y)),
    "slope_product": (0.5, 3, lambda x, y: np.where(y == 0, np.float32(0), x * y)),
    "xdivy": (0.5, 3, lambda x, y: np.where(x == 0, np.float32(0), x / y)),
    "xlogy": (0.5, 3, lambda x, y: np.where(x == 0, np.float32(0), x * np.log(y)), special.xlogy),
    "xlog1py": (0.5, 3, lambda x, y: np.where(x == 0, np.float32(0), x * np.log1p(y)), special.xlog1py),
    "equal": (-2, 2, np.equal),
    "not_equal": (-2, 2, np.not_equal),
    "equal_or_false": (-2, 2, np.equal),
    "not_equal_or_true": (-2, 2, np.not_equal),
    "less": (-2, 2, np.less),
    "less_equal": (-2, 2, np.less_equal),
    "greater": (-2, 2, np.greater),
    "greater_equal": (-2, 2, np.greater_equal),
    "igamma": (0.5, 3, special.gammainc),
    "igammac": (0.5, 3, special.gammaincc),
    "zeta": (1.5, 4, special.zeta),
    "complex": (-2, 2, lambda x, y: x + np.complex64(1j) * y, lambda x, y: np.stack([x, y], -1).view(np.complex64)[..., 0]),
    # gradients, of the cotangent and what was
    "elu_grad": (-0.9, 2, lambda g, y: np.where(y > 0, g, g * (y + 1)), lambda g, y: g * (np.minimum(y, 0) + 1)),
    "relu_grad": (-2, 2, lambda g, y: g * (y > 0), lambda g, y: np.where(y > 0, g, np.float32(0))),
    "relu6_grad": (-2, 9, lambda g, y: g * ((y > 0) & (y < 6))),
    "selu_grad": (-1.5, 2, lambda g, y: g * np.where(y < 0, y + np.float32(1.75809934), np.float32(1.05070098))),
    "sigmoid_grad": (0.1, 0.9, lambda y, g: g * y * (1 - y)),
    "tanh_grad": (-0.9, 0.9, lambda y, g: g * (1 - y * y)),
    "silu_grad": (-2, 2, lambda g, x: (lambda s: g * s * (1 + x * (1 - s)))(1 / (1 + np.exp(-x)))),
    "gelu_grad": (
        -2,
        2,
        lambda g, x: g * (special.ndtr(x) + x * np.exp(np.float32(-0.5) * x * x) * np.float32(0.3989422804)),
    ),
    "sigmoid_cross_entropy": (-2, 2, lambda z, x: np.maximum(x, 0) - x * z + np.log1p(np.exp(-np.abs(x)))),
}


def _of_one(name: str) -> list[Line]:
    low, high, *by = OF_ONE[name]
    return [line(f(low=low, high=high), numpy=tuple(by), **EXTRA.get(name, {}))]


def _of_two(name: str) -> list[Line]:
    low, high, *by = OF_TWO[name]
    x = f(low=low, high=high)
    found = [line(x, g(low=low, high=high), numpy=tuple(by))]
    if not name.endswith(("_grad", "entropy")) and "_or_" not in name:
        found.append(line(x, g(SIDE, low=low, high=high), numpy=tuple(by), what="with a row"))
        found.append(line(x, g(SIDE, 1, low=low, high=high), numpy=tuple(by), what="with a column"))
    return found if name != "complex" else found[:1]


lines(*OF_ONE)(_of_one)
lines(*OF_TWO)(_of_two)


@lines("bitwise_and", "bitwise_or", "bitwise_xor")
def _(name: str) -> list[Line]:
    return [line(i(), i(seed=1), numpy=getattr(np, name))]


@lines("left_shift", "right_shift")
def _(name: str) -> list[Line]:
    shift = getattr(np, name)
    return [line(i(), i(low=0, high=30, seed=1), numpy=lambda x, y: shift(x, np.clip(y, 0, 31)))]


@lines("logical_and", "logical_or", "logical_xor")
def _(name: str) -> list[Line]:
    return [line(b(), b(seed=1), numpy=getattr(np, name))]


@lines("invert", "logical_not")
def _(name: str) -> list[Line]:
    return [line(i() if name == "invert" else b(), numpy=getattr(np, name))]


@lines("divide_integers")
def _(name: str) -> list[Line]:
    return [line(i(), i(low=1), numpy=np.true_divide)]


@lines("conj", "real", "imag", "angle")
def _(name: str) -> list[Line]:
    of = {"conj": np.conj, "real": lambda x: x.real.copy(), "imag": lambda x: x.imag.copy(), "angle": lambda x: np.arctan2(x.imag, x.real)}
    return [line(c(), numpy=of[name])]


@lines("leaky_relu", "leaky_relu_grad")
def _(name: str) -> list[Line]:
    slope = np.float32(0.2)
    if name == "leaky_relu":
        return [line(f(), numpy=(lambda x: np.where(x > 0, x, x * slope), lambda x: np.maximum(x, x * slope)), alpha=0.2)]
    return [line(f(), g(), numpy=(lambda g, x: np.where(x > 0, g, g * slope), lambda g, x: g * np.where(x > 0, np.float32(1), slope)), alpha=0.2)]


@lines("sigmoid_cross_entropy_grad")
def _(name: str) -> list[Line]:
    return [line(f(), g(), f(seed=2), numpy=lambda g, z, x: g * (1 / (1 + np.exp(-x)) - z))]


@lines("betainc")
def _(name: str) -> list[Line]:
    return [line(f(low=0.5), g(low=0.5), f(low=0.1, high=0.9), numpy=special.betainc)]


@lines("polygamma")
def _(name: str) -> list[Line]:
    def by(n: Array, x: Array) -> Array:
        value = np.where(n % 2 == 1, 1.0, -1.0) * special.gamma(n + 1.0) * special.zeta(n + 1, x)
        return np.where(n == 0, special.psi(x), value).astype(np.float32)

    return [line(np.float32(1 + np.arange(SIDE * SIDE) % 3).reshape(SIDE, SIDE), f(low=0.5, high=3), numpy=by)]


@lines("clip_by_value")
def _(name: str) -> list[Line]:
    return [line(f(), np.float32(-0.7), np.float32(0.8), numpy=(np.clip, lambda x, low, high: np.minimum(np.maximum(x, low), high)))]


@lines("where")
def _(name: str) -> list[Line]:
    return [line(b(), f(), g(), numpy=np.where), line(b(), f(), np.float32(0), numpy=np.where, what="with a scalar")]


@lines("keep_scaled")
def _(name: str) -> list[Line]:
    bits = np.random.default_rng(0).integers(0, 2**32, (SIDE, SIDE), np.uint32)
    edge = np.uint32(0.4 * 2**32)

    def by(x: Array, bits: Array) -> Array:
        return np.where(bits >= edge, x * np.float32(1 / 0.6), np.float32(0))

    return [line(f(), bits, numpy=by, rate=0.4)]


@lines("cast")
def _(name: str) -> list[Line]:
    found = [(f(), td.float64), (f(), td.int32), (f(), td.bool), (f(), td.float16), (f(), td.bfloat16), (i(), td.float32), (b(), td.float32)]
    return [line(x, numpy=lambda x, d=d: x.astype(d.numpy), dtype=d, what=f"{x.dtype} to {d.name}") for x, d in found]


@lines("add_n")
def _(name: str) -> list[Line]:
    def by(inputs: list[Array]) -> Array:
        total = inputs[0] + inputs[1]
        for x in inputs[2:]:
            total += x
        return total

    return [line([f(seed=k) for k in range(5)], numpy=by)]


@lines("standardize")
def _(name: str) -> list[Line]:
    def by(x: Array, mean: list[Array], factors: list[Array], offset: list[Array]) -> Array:
        y = x - mean[0]
        y *= factors[0]
        y += offset[0]
        return y

    row, column = f(1, SIDE), f(SIDE, 1)
    return [
        line(f(), [row], [row], [row], numpy=by, what="by rows"),
        line(f(), [column], [column], [row], numpy=by, what="by columns, as layer norm does"),
    ]


@lines("bias_add")
def _(name: str) -> list[Line]:
    image = f(8, 32, 32, 128)
    return [
        line(image, f(128), numpy=np.add, axis=-1, what="last axis"),
        line(image, f(32), numpy=lambda x, y: x + y.reshape(32, 1, 1), axis=1, what="first axis"),
    ]


@lines("exp_of_difference")
def _(name: str) -> list[Line]:
    def by(x: Array, y: Array) -> Array:
        d = x - y[:, None]
        return np.exp(d, d)

    return [line(f(), g(SIDE), numpy=by, axis=(1,), keepdims=False)]


@lines("assert_equal", "assert_greater_equal", "assert_less_equal", "assert_greater", "assert_less", "assert_none_equal")
def _(name: str) -> list[Line]:
    x = f()
    y = x - 1 if name == "assert_greater" else x.copy() if name.endswith("_equal") and "none" not in name else x + 1
    compare = {"assert_none_equal": np.not_equal}.get(name) or getattr(np, name.removeprefix("assert_"))

    def by(x: Array, y: Array) -> None:
        assert compare(x, y).all()

    return [line(x, y, numpy=by, message="", summarize=None)]


@lines("assert_near")
def _(name: str) -> list[Line]:
    x = f()

    def by(x: Array, y: Array, rtol: Any, atol: Any) -> None:
        assert (np.abs(x - y) <= atol + rtol * np.abs(y)).all()

    return [line(x, x + np.float32(1e-6), np.float32(1e-4), np.float32(1e-4), numpy=by, message="", summarize=None)]
