"""Special functions: those of gamma, beta, error and zeta, and their gradients. Those of Bessel and others are in ``bessel``.

Sources:
    NIST Digital Library of Mathematical Functions, chapters 5 to 8 and 25; SciPy ``scipy.special`` on the CPU.
"""

from __future__ import annotations

import math
from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import gradient, op, public
from treadle_ops.arguments import tensor
from treadle_ops.broadcasting import sum_like
from treadle_ops.elementwise import add, exp, log, multiply, negative, square, subtract
from treadle_ops.inference import FLOATING, elementwise
from treadle_ops.reductions import reduce_sum_op
from treadle_ops.rows import binary, unary
from treadle_ops.zero_safe import xlog1py, xlogy

erf = unary("erf", "math.erf", FLOATING, "The error function.")
erfc = unary("erfc", "math.erfc", FLOATING, "``1 - erf(x)``, exact for large ``x``.")
erfinv = unary("erfinv", "math.erfinv", FLOATING, "The inverse of the error function; infinite at -1 and 1, NaN beyond.")
ndtri = unary("ndtri", "math.ndtri", FLOATING, "The quantile of the standard normal distribution.")
lgamma = unary("lgamma", "math.lgamma", FLOATING, "The logarithm of the absolute value of the gamma function.")
digamma = unary("digamma", "math.digamma", FLOATING, "The derivative of lgamma.")
polygamma = binary(
    "polygamma", "math.polygamma", FLOATING, "The ``a``-th derivative of digamma at ``x``; NaN unless ``a`` is whole.", arguments=("a", "x")
)
zeta = binary("zeta", "math.zeta", FLOATING, "The zeta function of Hurwitz, the sum of ``(q + n) ** -x``.", arguments=("x", "q"))
igamma = binary("igamma", "math.igamma", FLOATING, "The regularised lower incomplete gamma function.", arguments=("a", "x"))
igammac = binary("igammac", "math.igammac", FLOATING, "The regularised upper incomplete gamma function, ``1 - igamma(a, x)``.", arguments=("a", "x"))


@op("igamma_derivative", elementwise=True)
def igamma_derivative(a: Spec, x: Spec, *, order: int) -> Spec:
    """The derivative of igamma of that order with respect to ``a``."""
    return elementwise(a, x, kinds=FLOATING)


@op("betainc", public=("math.betainc",), elementwise=True)
def betainc(a: Spec, b: Spec, x: Spec) -> Spec:
    """The regularised incomplete beta function; no gradient flows to ``a`` and ``b``.

    Args:
        a: any shape, floating.
        b: a shape that broadcasts with the others, the same dtype.
        x: the same, in [0, 1].
        name: ignored.

    Returns:
        The broadcast shape, of their dtype.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.betainc``.
    """
    return elementwise(a, b, x, kinds=FLOATING)


@public("math.erfcinv")
def erfcinv(x: Any, name: str | None = None) -> Any:
    """The inverse of ``erfc``.

    Args:
        x: any shape, floating, in [0, 2].
        name: ignored.

    Returns:
        The shape and dtype of ``x``.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.erfcinv``.
    """
    return multiply(ndtri(multiply(tensor(x), 0.5)), -math.sqrt(0.5))


@public("math.lbeta")
def lbeta(x: Any, name: str | None = None) -> Any:
    """The logarithm of the absolute value of the beta function of several numbers: ``sum(lgamma(x)) - lgamma(sum(x))``.

    Args:
        x: ``(..., N)``, floating.
        name: ignored.

    Returns:
        ``(...)`` of the dtype of ``x``.

    Raises:
        DTypeError: the dtype is another one.

    Sources:
        TensorFlow ``tf.math.lbeta``.
    """
    values = tensor(x)
    return subtract(reduce_sum_op(lgamma(values), axis=(-1,), keepdims=False), lgamma(reduce_sum_op(values, axis=(-1,), keepdims=False)))


# ---------------------------------------------------------------------- error functions


@gradient(erf)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, multiply(exp(negative(square(ctx.inputs[0]))), 2 / math.sqrt(math.pi)))


@gradient(erfc)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, multiply(exp(negative(square(ctx.inputs[0]))), -2 / math.sqrt(math.pi)))


@gradient(erfinv)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, multiply(exp(square(ctx.output)), math.sqrt(math.pi) / 2))


@gradient(ndtri)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, multiply(exp(multiply(square(ctx.output), 0.5)), math.sqrt(2 * math.pi)))


# ---------------------------------------------------------------------- gamma functions


@gradient(lgamma)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, digamma(ctx.inputs[0]))


@gradient(digamma)
def _(ctx: Any, g: Any) -> Any:
    return multiply(g, polygamma(1, ctx.inputs[0]))


@gradient(polygamma)
def _(ctx: Any, g: Any) -> Any:
    a, x = ctx.inputs
    return None, sum_like(multiply(g, polygamma(add(a, 1), x)), x) if ctx.needs[1] else None


@gradient(zeta)
def _(ctx: Any, g: Any) -> Any:
    x, q = ctx.inputs
    return None, sum_like(multiply(g, multiply(negative(x), zeta(add(x, 1), q))), q) if ctx.needs[1] else None


@gradient(igamma)
def _(ctx: Any, g: Any) -> Any:
    a, x = ctx.inputs
    return (
        sum_like(multiply(g, igamma_derivative(a, x, order=1)), a) if ctx.needs[0] else None,
        sum_like(multiply(g, gamma_density(a, x)), x) if ctx.needs[1] else None,
    )


@gradient(igammac)
def _(ctx: Any, g: Any) -> Any:
    a, x = ctx.inputs
    return (
        sum_like(negative(multiply(g, igamma_derivative(a, x, order=1))), a) if ctx.needs[0] else None,
        sum_like(negative(multiply(g, gamma_density(a, x))), x) if ctx.needs[1] else None,
    )


def gamma_density(a: Any, x: Any) -> Any:
    """``x ** (a - 1) * exp(-x) / gamma(a)``."""
    return exp(subtract(subtract(xlogy(subtract(a, 1), x), x), lgamma(a)))


@gradient(igamma_derivative)
def _(ctx: Any, g: Any) -> Any:
    a, x = ctx.inputs
    order: int = ctx.order
    return (
        sum_like(multiply(g, igamma_derivative(a, x, order=order + 1)), a) if ctx.needs[0] else None,
        sum_like(multiply(g, gamma_density_derivative(a, x, order)), x) if ctx.needs[1] else None,
    )


def gamma_density_derivative(a: Any, x: Any, order: int) -> Any:
    """The derivative of the density with respect to ``a``: the density times a complete Bell polynomial of those of its logarithm."""
    slopes = [subtract(log(x), digamma(a)), *(negative(polygamma(k, a)) for k in range(1, order))]
    bell: list[Any] = [1]
    for n in range(order):
        terms = [multiply(multiply(bell[n - k], slopes[k]), math.comb(n, k)) for k in range(n + 1)]
        total = terms[0]
        for term in terms[1:]:
            total = add(total, term)
        bell.append(total)
    return multiply(gamma_density(a, x), bell[order])


@gradient(betainc)
def _(ctx: Any, g: Any) -> Any:
    a, b, x = ctx.inputs
    if not ctx.needs[2]:
        return None, None, None
    log_beta = subtract(add(lgamma(a), lgamma(b)), lgamma(add(a, b)))
    density = exp(subtract(add(xlog1py(subtract(b, 1), negative(x)), xlogy(subtract(a, 1), x)), log_beta))
    return None, None, sum_like(multiply(g, density), x)
