"""Distributions that propose, reject and draw again: gamma, Poisson, binomial, and normal between any bounds.

Element ``i`` reads words of its own in every turn, so it does not matter which elements are still drawing. All is computed in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from treadle.dtypes import DType
from treadle_array.counter_generators import checked, size_of

_TURNS = 1000
"""More than any element needs; what is left then keeps its last proposal."""


class Draws:
    """Four numbers in (0, 1) per element and turn.

    Args:
        xp: the array module.
        generator: of random words.
        key: of the draw.
        turn: the first turn not used yet.
    """

    def __init__(self, xp: Any, generator: Any, key: Any) -> None:
        self._xp = xp
        self._generator = generator
        self._key = key
        self._turn = 0

    def next(self, index: Any) -> list[Any]:
        """Four arrays for the elements of ``index``."""
        xp = self._xp
        words = self._generator.blocks(self._key, index, self._turn)
        self._turn += 1
        return [((w >> xp.uint64(12)).astype(xp.float64) + 0.5) * 2.0**-52 for w in words]


def rejected(xp: Any, draws: Draws, parameters: list[Any], propose: Callable[..., tuple[Any, Any]]) -> Any:
    """Numbers that ``propose(uniforms, *parameters) -> (numbers, accepted)`` accepts, one per element of the flat parameters."""
    count = parameters[0].shape[0]
    result = xp.empty(count, xp.float64)
    index = xp.arange(count, dtype=xp.uint64)
    for _ in range(_TURNS):
        if not index.shape[0]:
            break
        numbers, accepted = propose(draws.next(index), *parameters)
        result[index] = numbers
        left = ~accepted
        index = index[left]
        parameters = [p[left] for p in parameters]
    return result


def _flat(xp: Any, shape: tuple[int, ...], *parameters: Any) -> list[Any]:
    """Parameters repeated over the shape, in one dimension and float64.

    Raises:
        ValueError: one does not broadcast to the shape.
    """
    size_of(shape)
    return [xp.broadcast_to(p, shape).astype(xp.float64).reshape(-1) for p in parameters]


# ---------------------------------------------------------------------- gamma


def gamma(xp: Any, generators: dict[str, Any]) -> Callable[..., Any]:
    """Gamma numbers (Marsaglia and Tsang, 2000), never 0; an alpha below 1 is raised by 1 and the number lowered by a power."""

    def run(shape: tuple[int, ...], key: Any, alpha: Any, beta: Any, *, alg: str) -> Any:
        a, rate = _flat(xp, shape, alpha, beta)
        numbers = rejected(xp, Draws(xp, generators[alg], checked(key)), [a], propose) / rate
        numbers = xp.where(a > 0, numbers, xp.where(a == 0, 0.0, xp.nan))
        least = xp.finfo(xp.float16 if alpha.dtype.itemsize == 2 else alpha.dtype).tiny
        return xp.maximum(numbers, least).reshape(shape).astype(alpha.dtype)

    def propose(u: list[Any], a: Any) -> tuple[Any, Any]:
        small = a < 1
        d = xp.where(small, a + 1, a) - 1 / 3
        z = xp.sqrt(-2 * xp.log(u[0])) * xp.cos(2 * math.pi * u[1])
        v = (1 + z / xp.sqrt(9 * d)) ** 3
        accepted = (v > 0) & (xp.log(u[2]) < 0.5 * z * z + d * (1 - v + xp.log(v)))
        boost = xp.where(small, xp.exp(xp.log(u[3]) / a), 1)
        return d * v * boost, accepted | ~(a > 0)

    return run


# ---------------------------------------------------------------------- counts


def log_factorial(xp: Any, k: Any) -> Any:
    """``log(k!)`` for whole ``k >= 0``: a table below 10, Stirling's series above."""
    table = xp.cumsum(xp.log(xp.maximum(xp.arange(10, dtype=xp.float64), 1)))
    n = xp.maximum(k, 9.0) + 1
    series = (n - 0.5) * xp.log(n) - n + 0.5 * math.log(2 * math.pi) + 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5)
    return xp.where(k < 10, table[xp.minimum(k, 9.0).astype(xp.int64)], series)


def poisson(xp: Any, generators: dict[str, Any]) -> Callable[..., Any]:
    """Poisson numbers: summing the probabilities up for small rates, transformed rejection (Hörmann's PTRS, 1993) for others."""

    def run(shape: tuple[int, ...], key: Any, lam: Any, *, dtype: DType, alg: str) -> Any:
        (rate,) = _flat(xp, shape, lam)
        legal = (rate >= 0) & (rate < xp.inf)
        draws = Draws(xp, generators[alg], checked(key))
        few = ~(rate >= 10)
        small = _poisson_by_sums(xp, draws, xp.where(few & legal, rate, 0))
        large = rejected(xp, draws, [xp.where(few | ~legal, 10.0, rate)], propose) if bool((~few).any()) else small
        numbers = xp.where(legal, xp.where(few, small, large), xp.nan if dtype.is_floating else 0)
        return numbers.reshape(shape).astype(dtype.numpy)

    def propose(u: list[Any], rate: Any) -> tuple[Any, Any]:
        b = 0.931 + 2.53 * xp.sqrt(rate)
        a = -0.059 + 0.02483 * b
        v, w = u[0], u[1] - 0.5
        reach = 0.5 - xp.abs(w)
        k = xp.floor((2 * a / reach + b) * w + rate + 0.43)
        ratio = xp.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (reach * reach) + b))
        inside = ratio <= k * xp.log(rate) - rate - log_factorial(xp, xp.maximum(k, 0.0))
        squeezed = (reach >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        return k, (k >= 0) & (squeezed | ((reach >= 0.013) | (v <= reach)) & inside)

    return run


def _poisson_by_sums(xp: Any, draws: Draws, rate: Any) -> Any:
    u = draws.next(xp.arange(rate.shape[0], dtype=xp.uint64))[0]
    k = xp.zeros(rate.shape[0])
    probability = xp.exp(-rate)
    for n in range(1, 200):
        more = u > probability
        if not bool(more.any()):
            break
        u = xp.where(more, u - probability, 0)
        k = k + more
        probability = probability * (rate / n)
    return k


def binomial(xp: Any, generators: dict[str, Any]) -> Callable[..., Any]:
    """Binomial numbers: summing the probabilities up where few are expected, transformed rejection (Hörmann's BTRS, 1993) elsewhere."""

    def run(shape: tuple[int, ...], key: Any, counts: Any, probs: Any, *, dtype: DType, alg: str) -> Any:
        n, p = _flat(xp, shape, counts, probs)
        n = xp.floor(n)
        legal = (n >= 0) & (n < xp.inf) & (p >= 0) & (p <= 1)
        n, p = xp.where(legal, n, 0), xp.where(legal, p, 0)
        less = xp.minimum(p, 1 - p)
        draws = Draws(xp, generators[alg], checked(key))
        few = n * less < 10
        small = _binomial_by_sums(xp, draws, xp.where(few, n, 0), less)
        large = rejected(xp, draws, [xp.where(few, 100.0, n), xp.where(few, 0.5, less)], propose) if bool((~few).any()) else small
        numbers = xp.where(few, small, large)
        numbers = xp.where(p > 0.5, n - numbers, numbers)
        return xp.where(legal, numbers, xp.nan if dtype.is_floating else 0).reshape(shape).astype(dtype.numpy)

    def propose(u: list[Any], n: Any, p: Any) -> tuple[Any, Any]:
        spread = xp.sqrt(n * p * (1 - p))
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * p
        c = n * p + 0.5
        most_squeezed = 0.92 - 4.2 / b
        odds = p / (1 - p)
        alpha = (2.83 + 5.1 / b) * spread
        mode = xp.floor((n + 1) * p)
        v, w = u[0], u[1] - 0.5
        reach = 0.5 - xp.abs(w)
        k = xp.floor((2 * a / reach + b) * w + c)
        possible = (k >= 0) & (k <= n)
        at = xp.minimum(xp.maximum(k, 0.0), n)
        ratio = xp.log(v * alpha / (a / (reach * reach) + b))
        height = log_factorial(xp, mode) + log_factorial(xp, n - mode) - log_factorial(xp, at) - log_factorial(xp, n - at)
        inside = ratio <= height + (at - mode) * xp.log(odds)
        return k, possible & ((reach >= 0.07) & (v <= most_squeezed) | inside)

    return run


def _binomial_by_sums(xp: Any, draws: Draws, n: Any, p: Any) -> Any:
    u = draws.next(xp.arange(n.shape[0], dtype=xp.uint64))[0]
    k = xp.zeros(n.shape[0])
    odds = p / (1 - p)
    probability = xp.exp(n * xp.log1p(-p))
    for i in range(1, 200):
        more = (u > probability) & (k < n)
        if not bool(more.any()):
            break
        u = xp.where(more, u - probability, 0)
        k = k + more
        probability = probability * odds * xp.maximum(n - (i - 1), 0) / i
    return k


# ---------------------------------------------------------------------- the normal distribution between bounds


def parameterized_truncated_normal(xp: Any, generators: dict[str, Any]) -> Callable[..., Any]:
    """Normal numbers given that they lie between bounds, however far from the mean (Robert, 1995).

    Proposals are normal for wide bounds around the mean, exponential for a tail, and uniform for narrow bounds.
    """

    def run(shape: tuple[int, ...], key: Any, means: Any, stddevs: Any, minvals: Any, maxvals: Any, *, alg: str) -> Any:
        mean, scale, low, high = _flat(xp, shape, means, stddevs, minvals, maxvals)
        if not bool(((scale > 0) & (low < high)).all()):
            raise ValueError("stddevs must be positive and minvals less than maxvals")
        a, b = (low - mean) / scale, (high - mean) / scale
        mirrored = b < 0
        a, b = xp.where(mirrored, -b, a), xp.where(mirrored, -a, b)
        z = rejected(xp, Draws(xp, generators[alg], checked(key)), [a, b], propose)
        numbers = xp.where(mirrored, -z, z) * scale + mean
        return xp.minimum(xp.maximum(numbers, low), high).reshape(shape).astype(means.dtype)

    def propose(u: list[Any], a: Any, b: Any) -> tuple[Any, Any]:
        tail = a > 0
        start = xp.where(tail, a, 0)
        root = xp.sqrt(start * start + 4)
        rate = (start + root) / 2
        enough = xp.where(tail, 2 * math.sqrt(math.e) / (start + root) * xp.exp((start * start - start * root) / 4), math.sqrt(2 * math.pi))
        narrow = b - a < enough
        gauss = xp.sqrt(-2 * xp.log(u[0])) * xp.cos(2 * math.pi * u[1])
        exponential = start - xp.log(u[0]) / rate
        even = xp.where(narrow, a + xp.where(narrow, b - a, 0) * u[0], 0)
        z = xp.where(narrow, even, xp.where(tail, exponential, gauss))
        weight = xp.where(narrow, (start * start - z * z) / 2, xp.where(tail, -((z - rate) ** 2) / 2, 0))
        return z, (xp.log(u[2]) <= weight) & (a <= z) & (z <= b)

    return run


SAMPLERS: dict[str, Callable[..., Any]] = {
    "stateless_gamma": gamma,
    "stateless_poisson": poisson,
    "stateless_binomial": binomial,
    "stateless_parameterized_truncated_normal": parameterized_truncated_normal,
}
"""Op name to its sampler."""
