"""The ops that draw random numbers: pure functions of a key, and ``random_key``, which gives the key of the next draw of a stream.

The public functions are in ``stateless_random``, ``stateful_random`` and ``random_generator``. A seed is two integers; the same seed gives the same
numbers in every mode and on every device.
"""

from __future__ import annotations

from typing import Any

from treadle import dims as sizes
from treadle.contracts.spec import Spec
from treadle.declare import FreeSpec, HostSpec, gradient, op
from treadle.dims import Dim
from treadle.dtypes import DType, int32, int64, uint64
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle_ops.broadcasting import sum_like
from treadle_ops.elementwise import divide_op, multiply, negative
from treadle_ops.inference import FLOATING, INTEGER, REAL, dims_of_value, require_kind, require_rank, same_dtype
from treadle_ops.special import gamma_density, igamma_derivative
from treadle_ops.zero_safe import divide_no_nan

PHILOX, THREEFRY = "philox", "threefry"
STATE_SIZES = {PHILOX: 3, THREEFRY: 2}


@op("random_key", effect="random")
def random_key(*, seed: int | None) -> Spec:
    """The key of the next draw of the global stream, or of an op seed's own."""
    return Spec((2,), uint64)


def _require_key(key: Spec) -> None:
    if key.dtype.kind not in INTEGER:
        raise DTypeError(f"seed has dtype {key.dtype.name}; expected an integer dtype")
    if key.dims is not None and (len(key.dims) != 1 or sizes.known_different(key.dims[0], 2)):
        raise ShapeError(f"seed must have shape [2], not {list(key.shape)}")


def _require_floating(dtype: DType) -> None:
    if not dtype.is_floating:
        raise DTypeError(f"dtype {dtype.name} cannot be drawn from this distribution; expected a floating dtype")


def _require_broadcast(parameter: Spec, dims: Any, what: str) -> None:
    if parameter.dims is None or dims is None:
        return
    if len(parameter.dims) > len(dims) or any(
        isinstance(n, int) and n != 1 and sizes.known_different(n, m) for n, m in zip(reversed(parameter.dims), reversed(dims), strict=False)
    ):
        raise ShapeError(f"{what} of shape {parameter.shape} does not broadcast to the shape of the result, {Spec(dims, parameter.dtype).shape}")


def _floats(shape: Spec, key: Spec, dtype: DType) -> Spec:
    _require_key(key)
    _require_floating(dtype)
    return Spec(dims_of_value(shape), dtype)


@op("stateless_uniform")
def stateless_uniform_op(shape: HostSpec, key: HostSpec, *, dtype: DType, alg: str = PHILOX) -> Spec:
    """Uniform numbers in [0, 1), a function of the key."""
    return _floats(shape, key, dtype)


@op("stateless_normal")
def stateless_normal_op(shape: HostSpec, key: HostSpec, *, dtype: DType, alg: str = PHILOX) -> Spec:
    """Standard normal numbers, a function of the key."""
    return _floats(shape, key, dtype)


@op("stateless_truncated_normal")
def stateless_truncated_normal_op(shape: HostSpec, key: HostSpec, *, dtype: DType, alg: str = PHILOX) -> Spec:
    """Standard normal numbers given that they lie within 2 of 0, a function of the key."""
    return _floats(shape, key, dtype)


@op("stateless_uniform_bits")
def stateless_uniform_bits_op(shape: HostSpec, key: HostSpec, *, dtype: DType, alg: str = PHILOX) -> Spec:
    """Integers over the whole range of the dtype, a function of the key."""
    _require_key(key)
    if not dtype.is_integer:
        raise DTypeError(f"dtype {dtype.name} has no whole range to draw from; expected an integer dtype")
    return Spec(dims_of_value(shape), dtype)


@op("stateless_uniform_integers", can_fail=True)
def stateless_uniform_integers_op(shape: HostSpec, key: HostSpec, minval: Spec, maxval: Spec, *, alg: str = PHILOX) -> Spec:
    """Integers from ``minval`` up to below ``maxval``, a function of the key."""
    _require_key(key)
    dims = dims_of_value(shape)
    _require_broadcast(minval, dims, "minval")
    _require_broadcast(maxval, dims, "maxval")
    return Spec(dims, same_dtype(minval, maxval, kinds=INTEGER))


@op("stateless_gamma")
def stateless_gamma_op(shape: HostSpec, key: HostSpec, alpha: Spec, beta: Spec, *, alg: str = PHILOX) -> Spec:
    """Gamma numbers, a function of the key."""
    _require_key(key)
    dims = dims_of_value(shape)
    _require_broadcast(alpha, dims, "alpha")
    _require_broadcast(beta, dims, "beta")
    return Spec(dims, same_dtype(alpha, beta, kinds=FLOATING))


@gradient(stateless_gamma_op)
def _(ctx: Any, g: Any) -> Any:
    # The number x / beta, with P(alpha, x) fixed: dx / dalpha = -(dP / dalpha) / (dP / dx)
    _, _, alpha, beta = ctx.inputs
    sample = ctx.output
    of_alpha = of_beta = None
    if ctx.needs[0]:
        x = multiply(sample, beta)
        slope = divide_no_nan(negative(igamma_derivative(alpha, x, order=1)), gamma_density(alpha, x))
        of_alpha = sum_like(multiply(g, divide_op(slope, beta)), alpha)
    if ctx.needs[1]:
        of_beta = sum_like(negative(multiply(g, divide_op(sample, beta))), beta)
    return None, None, of_alpha, of_beta


@op("stateless_poisson")
def stateless_poisson_op(shape: HostSpec, key: HostSpec, lam: Spec, *, dtype: DType, alg: str = PHILOX) -> Spec:
    """Poisson numbers, a function of the key."""
    _require_key(key)
    require_kind(lam, REAL, "lam")
    dims = dims_of_value(shape)
    _require_broadcast(lam, dims, "lam")
    return Spec(dims, _counting(dtype))


@op("stateless_binomial")
def stateless_binomial_op(shape: HostSpec, key: HostSpec, counts: FreeSpec, probs: FreeSpec, *, dtype: DType, alg: str = PHILOX) -> Spec:
    """Binomial numbers, a function of the key."""
    _require_key(key)
    require_kind(counts, REAL, "counts")
    require_kind(probs, REAL, "probs")
    dims = dims_of_value(shape)
    _require_broadcast(counts, dims, "counts")
    _require_broadcast(probs, dims, "probs")
    return Spec(dims, _counting(dtype))


def _counting(dtype: DType) -> DType:
    if dtype.kind not in REAL:
        raise DTypeError(f"dtype {dtype.name} cannot hold counts; expected an integer or floating dtype")
    return dtype


@op("stateless_parameterized_truncated_normal", can_fail=True)
def stateless_parameterized_truncated_normal_op(
    shape: HostSpec, key: HostSpec, means: Spec, stddevs: Spec, minvals: Spec, maxvals: Spec, *, alg: str = PHILOX
) -> Spec:
    """Normal numbers given that they lie between bounds, a function of the key."""
    _require_key(key)
    dims = dims_of_value(shape)
    for parameter, what in ((means, "means"), (stddevs, "stddevs"), (minvals, "minvals"), (maxvals, "maxvals")):
        _require_broadcast(parameter, dims, what)
    return Spec(dims, same_dtype(means, stddevs, minvals, maxvals, kinds=FLOATING))


@op("stateless_categorical", can_fail=True)
def stateless_categorical_op(logits: Spec, num_samples: HostSpec, key: HostSpec, *, dtype: DType, alg: str = PHILOX) -> Spec:
    """Classes with probabilities ``softmax(logits)``, a function of the key."""
    _require_key(key)
    require_kind(logits, FLOATING, "logits")
    rows, classes = require_rank(logits, 2, "logits")
    if isinstance(classes, int) and classes == 0:
        raise InvalidArgumentError(f"logits of shape {logits.shape} have no classes to draw from; num_classes must be positive")
    if num_samples.dims is not None and num_samples.dims != ():
        raise ShapeError(f"num_samples must be a scalar, not of shape {num_samples.shape}")
    count = num_samples.value
    if isinstance(count, int) and count < 0:
        raise InvalidArgumentError(f"num_samples should be nonnegative, got {count}")
    if dtype not in (int32, int64):
        raise DTypeError(f"dtype {dtype.name} is not one for classes; expected int32 or int64")
    return Spec((rows, Dim.symbol() if count is None else count), dtype)


@op("stateless_shuffle")
def stateless_shuffle_op(value: Spec, key: HostSpec, *, alg: str = PHILOX) -> Spec:
    """The same rows in another order, a function of the key."""
    _require_key(key)
    return Spec(value.dims, value.dtype)


@op("generator_key")
def generator_key(state: Spec, *, alg: str) -> Spec:
    """The key of a draw from a generator in this state."""
    _require_state(state, alg)
    return Spec((2,), uint64)


@op("generator_skip")
def generator_skip(state: Spec, delta: FreeSpec, *, alg: str) -> Spec:
    """The state of a generator after ``delta`` more numbers."""
    _require_state(state, alg)
    require_rank(delta, 0, "delta")
    require_kind(delta, INTEGER, "delta")
    return Spec(state.dims, int64)


def _require_state(state: Spec, alg: str) -> None:
    size = STATE_SIZES[alg]
    if state.dtype is not int64:
        raise DTypeError(f"the state of a generator has dtype int64, not {state.dtype.name}")
    if state.dims is not None and (len(state.dims) != 1 or sizes.known_different(state.dims[0], size)):
        raise ShapeError(f"the state of a {alg} generator has shape [{size}], not {list(state.shape)}")
