"""Random numbers from counter-based generators: bits, and the plain distributions that transform them one by one.

A sampler is a function of the array module and of the generators by name, so that a device may bring generators of its own with the same bits.
Distributions that reject and draw again are in ``rejection_sampling``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from treadle.declare import kernel
from treadle.dtypes import DType, float32
from treadle_array.counter_generators import MASK64, Philox, Threefry, checked, scaled, size_of
from treadle_array.kernels import rejection_sampling

Generators = dict[str, Any]


def unit_doubles(xp: Any, bits: Any) -> Any:
    """Numbers in [0, 1) with 53 random bits each."""
    return (bits >> xp.uint64(11)).astype(xp.float64) * 2.0**-53


_KEPT_BITS = {"float16": 10, "bfloat16": 7}
"""Random bits in a short float, such that it stays below 1 when moved to [1, 2)."""


def uniform(xp: Any, generators: Generators) -> Callable[..., Any]:
    """Numbers in [0, 1), each with about as many random bits as the dtype's mantissa holds."""

    def run(shape: tuple[int, ...], key: Any, *, dtype: DType, alg: str) -> Any:
        count = size_of(shape)
        draw = generators[alg].bits
        if dtype.size == 8:
            return unit_doubles(xp, draw(checked(key), count)).reshape(shape)
        words = draw(checked(key), -(-count // 2)).view(xp.uint32)[:count]
        kept = _KEPT_BITS.get(dtype.name, 24)
        floats = (words >> xp.uint32(32 - kept)).astype(xp.float32)
        xp.multiply(floats, xp.float32(2.0**-kept), floats)
        return (floats if dtype.size == 4 else floats.astype(dtype.numpy)).reshape(shape)

    return run


def uniform_bits(xp: Any, generators: Generators) -> Callable[..., Any]:
    """Integers over the whole range of the dtype."""

    def run(shape: tuple[int, ...], key: Any, *, dtype: DType, alg: str) -> Any:
        count = size_of(shape)
        bits = generators[alg].bits(checked(key), -(-count * dtype.size // 8))
        return bits.view(dtype.numpy)[:count].reshape(shape)

    return run


def uniform_integers(xp: Any, generators: Generators) -> Callable[..., Any]:
    """Integers from ``minval`` up to below ``maxval``: 64 random bits times the range, over 2**64."""

    def run(shape: tuple[int, ...], key: Any, minval: Any, maxval: Any, *, alg: str) -> Any:
        if bool((minval >= maxval).any()):
            raise ValueError("minval must be less than maxval everywhere")
        _require_broadcast(minval, shape, "minval")
        _require_broadcast(maxval, shape, "maxval")
        bits = generators[alg].bits(checked(key), size_of(shape)).reshape(shape)
        low = minval.astype(xp.uint64)
        return (scaled(xp, bits, maxval.astype(xp.uint64) - low) + low).astype(minval.dtype)

    return run


def _require_broadcast(x: Any, shape: tuple[int, ...], what: str) -> None:
    if x.ndim > len(shape) or any(n not in (1, m) for n, m in zip(reversed(x.shape), reversed(shape), strict=False)):
        raise ValueError(f"{what} of shape {x.shape} does not broadcast to {shape}")


def normal(xp: Any, generators: Generators) -> Callable[..., Any]:
    """Standard normal numbers in pairs (Box and Muller, 1958); short floats are rounded from float32."""

    def run(shape: tuple[int, ...], key: Any, *, dtype: DType, alg: str) -> Any:
        count = size_of(shape)
        pairs = -(-count // 2)
        draw = generators[alg].bits
        wide = dtype.size == 8
        result = xp.empty(2 * pairs, xp.float64 if wide else xp.float32)
        radius, angle = result[:pairs], result[pairs:]
        if wide:
            words = draw(checked(key), 2 * pairs)
            xp.right_shift(words, xp.uint64(11), words)
            result[...] = words
            _to_polar(xp, radius, angle, xp.float64, 2.0**-53, 2.0**-53)
        else:
            words = draw(checked(key), pairs).view(xp.uint32)
            xp.right_shift(words[pairs:], xp.uint32(8), words[pairs:])
            result[...] = words
            _to_polar(xp, radius, angle, xp.float32, 2.0**-32, 2.0**-24)
        first = xp.cos(angle, words.view(result.dtype)[:pairs])  # the words are used up: their memory serves
        xp.sin(angle, angle)
        xp.multiply(angle, radius, angle)
        xp.multiply(first, radius, radius)
        result = result if count == 2 * pairs else result[:count].copy()
        return (result if dtype.size >= 4 else result.astype(dtype.numpy)).reshape(shape)

    return run


def _to_polar(xp: Any, radius: Any, angle: Any, number: Any, radius_step: float, angle_step: float) -> None:
    """Whole numbers to the radii and angles of pairs of normal numbers, in place."""
    xp.multiply(radius, number(radius_step), radius)
    xp.add(radius, number(radius_step / 2), radius)  # in (0, 1]
    xp.log(radius, radius)
    xp.multiply(radius, number(-2), radius)
    xp.sqrt(radius, radius)
    xp.multiply(angle, number(2 * math.pi * angle_step), angle)


_CENTRAL = (
    (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
    (
        *(-3.6444120640178196996e-21, -1.685059138182016589e-19, 1.2858480715256400167e-18, 1.115787767802518096e-17, -1.333171662854620906e-16),
        *(2.0972767875968561637e-17, 6.6376381343583238325e-15, -4.0545662729752068639e-14, -8.1519341976054721522e-14, 2.6335093153082322977e-12),
        *(-1.2975133253453532498e-11, -5.4154120542946279317e-11, 1.051212273321532285e-09, -4.1126339803469836976e-09, -2.9070369957882005086e-08),
        *(4.2347877827932403518e-07, -1.3654692000834678645e-06, -1.3882523362786468719e-05, 0.0001867342080340571352, -0.00074070253416626697512),
        *(-0.0060336708714301490533, 0.24015818242558961693, 1.6536545626831027356),
    ),
)
"""Giles, "Approximating the erfinv function", 2010: the central branches, in float32 and float64."""


def truncated_normal(xp: Any, generators: Generators) -> Callable[..., Any]:
    """Standard normal numbers given that they lie in (-2, 2): the inverse of the distribution function."""
    limit = math.erf(math.sqrt(2))
    draw_uniform = uniform(xp, generators)

    def run(shape: tuple[int, ...], key: Any, *, dtype: DType, alg: str) -> Any:
        wide = dtype if dtype.size >= 4 else float32
        x = draw_uniform((size_of(shape),), key, dtype=wide, alg=alg)
        number = wide.numpy.type
        xp.add(x, number(2.0 ** (-54 if dtype.size == 8 else -25) - 0.5), x)
        xp.multiply(x, number(2 * limit), x)
        w = xp.multiply(1 - x, 1 + x)
        xp.log(w, w)
        xp.subtract(number(-3.125 if dtype.size == 8 else -2.5), w, w)
        first, *others = _CENTRAL[dtype.size == 8]
        result = xp.full(x.shape, first, wide.numpy)
        for coefficient in others:
            xp.multiply(result, w, result)
            xp.add(result, number(coefficient), result)
        xp.multiply(result, x, result)
        xp.multiply(result, number(math.sqrt(2)), result)
        return (result if wide is dtype else result.astype(dtype.numpy)).reshape(shape)

    return run


def categorical(xp: Any, generators: Generators) -> Callable[..., Any]:
    """Classes with probabilities ``softmax(logits)`` per row, by inversion: all rows are searched at once, row r between r and r + 1."""

    def run(logits: Any, num_samples: int, key: Any, *, dtype: DType, alg: str) -> Any:
        if logits.ndim != 2 or num_samples < 0:
            raise ValueError(f"logits must be a matrix and num_samples 0 or more, not {logits.shape} and {num_samples}")
        rows, classes = logits.shape
        if not classes and rows * num_samples:
            raise ValueError("logits have no classes to draw from")
        draws = unit_doubles(xp, generators[alg].bits(checked(key), rows * num_samples)).reshape(rows, num_samples)
        if not draws.size:
            return xp.zeros((rows, num_samples), dtype.numpy)
        wide = logits.astype(xp.float64)
        weights = xp.exp(wide - wide.max(axis=1, keepdims=True))
        weights = xp.where(xp.isnan(weights), 1, weights)  # inf - inf: an infinite logit takes all
        total = xp.cumsum(weights, axis=1)
        start = xp.arange(rows, dtype=xp.float64)[:, None]
        edges = (total / total[:, -1:] + start).reshape(-1)
        found = xp.searchsorted(edges, (draws + start).reshape(-1), "right").reshape(rows, num_samples)
        index = xp.arange(classes)
        possible = weights > 0
        first = xp.where(possible, index, classes - 1).min(axis=1, keepdims=True)
        last = xp.where(possible, index, 0).max(axis=1, keepdims=True)
        found = found - xp.arange(rows)[:, None] * classes
        return xp.minimum(xp.maximum(found, first), last).astype(dtype.numpy)

    return run


def shuffle(xp: Any, generators: Generators) -> Callable[..., Any]:
    """The rows in the order of random words."""

    def run(value: Any, key: Any, *, alg: str) -> Any:
        checked(key)
        if not value.ndim or value.shape[0] < 2:
            return value.copy()
        return value[xp.argsort(generators[alg].bits(key, value.shape[0]), kind="stable")]

    return run


def generator_key(xp: Any, generators: Generators) -> Callable[..., Any]:
    """A key of its own for every state: the counter and the key of the state, mixed by the generator itself."""

    def run(state: Any, *, alg: str) -> Any:
        numbers = [int(n) for n in state.tolist()]
        if len(numbers) != STATE_SIZES[alg]:
            raise ValueError(f"the state of {alg} is {STATE_SIZES[alg]} numbers, not {len(numbers)}")
        *counter, key = numbers
        counter += [0] * (2 - len(counter))
        return generators[alg].bits((key, counter[1]), 4)[2:] ^ xp.asarray([counter[0] & MASK64, 0], xp.uint64)

    return run


STATE_SIZES = {"philox": 3, "threefry": 2}
"""Words of a generator's state: its counter, the low word first, then its key."""


def generator_skip(xp: Any, generators: Generators) -> Callable[..., Any]:
    """The state after ``delta`` draws: the counter moves by 256 for each, with the carry into its high word."""

    def run(state: Any, delta: Any, *, alg: str) -> Any:
        words = STATE_SIZES[alg] - 1
        numbers = [int(n) & MASK64 for n in state.tolist()]
        if len(numbers) != words + 1:
            raise ValueError(f"the state of {alg} is {words + 1} numbers, not {len(numbers)}")
        counter = sum(n << (64 * i) for i, n in enumerate(numbers[:words])) + int(delta) * 256
        moved = [(counter >> (64 * i)) & MASK64 for i in range(words)] + numbers[words:]
        return xp.asarray([n - (1 << 64) if n >> 63 else n for n in moved], xp.int64)

    return run


SAMPLERS: dict[str, Callable[[Any, Generators], Callable[..., Any]]] = {
    "stateless_uniform": uniform,
    "stateless_uniform_bits": uniform_bits,
    "stateless_uniform_integers": uniform_integers,
    "stateless_normal": normal,
    "stateless_truncated_normal": truncated_normal,
    "stateless_categorical": categorical,
    "stateless_shuffle": shuffle,
    "generator_key": generator_key,
    "generator_skip": generator_skip,
    **rejection_sampling.SAMPLERS,
}
"""Op name to its sampler."""


def _declared(op: str) -> None:
    @kernel(op)
    def factory(xp: Any) -> Callable[..., Any]:
        return SAMPLERS[op](xp, {"philox": Philox(xp), "threefry": Threefry(xp)})


for _op in SAMPLERS:
    _declared(_op)
