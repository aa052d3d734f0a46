"""Random numbers that are functions of a seed: the same seed gives the same numbers, eagerly, traced and on every device."""

from __future__ import annotations

from typing import Any

from treadle.declare import public
from treadle.dtypes import DType, as_dtype, float32, int32, int64
from treadle.errors import InvalidArgumentError
from treadle.tensor import Tensor
from treadle_ops.arguments import axis_argument, shape_argument, tensor
from treadle_ops.called_function import subject
from treadle_ops.elementwise import add, multiply
from treadle_ops.joining import stack_op
from treadle_ops.random_arguments import algorithm_argument, parameter, seed_argument
from treadle_ops.randomness import (
    PHILOX,
    stateless_binomial_op,
    stateless_categorical_op,
    stateless_gamma_op,
    stateless_normal_op,
    stateless_parameterized_truncated_normal_op,
    stateless_poisson_op,
    stateless_shuffle_op,
    stateless_truncated_normal_op,
    stateless_uniform_bits_op,
    stateless_uniform_integers_op,
    stateless_uniform_op,
)

# ---------------------------------------------------------------------- what stateful and stateless functions share


def _is_number(value: Any, number: int) -> bool:
    return type(value) in (int, float) and value == number


def _moved(drawn: Any, mean: Any, scale: Any, dtype: DType) -> Any:
    """Numbers of a standard distribution scaled and moved."""
    if not _is_number(scale, 1):
        drawn = multiply(drawn, parameter(scale, dtype))
    return drawn if _is_number(mean, 0) else add(drawn, parameter(mean, dtype))


def drawn_normal(shape: Any, key: Any, mean: Any, stddev: Any, dtype: DType, alg: str = PHILOX) -> Any:
    """Normal numbers for a key."""
    return _moved(stateless_normal_op(shape_argument(shape), key, dtype=dtype, alg=alg), mean, stddev, dtype)


def drawn_truncated_normal(shape: Any, key: Any, mean: Any, stddev: Any, dtype: DType, alg: str = PHILOX) -> Any:
    """Normal numbers within two standard deviations of the mean for a key."""
    return _moved(stateless_truncated_normal_op(shape_argument(shape), key, dtype=dtype, alg=alg), mean, stddev, dtype)


def drawn_uniform(shape: Any, key: Any, minval: Any, maxval: Any, dtype: DType, alg: str = PHILOX) -> Any:
    """Floating numbers in ``[minval, maxval)`` for a key."""
    if not dtype.is_floating:
        raise InvalidArgumentError(f"{subject()}uniform random numbers of dtype {dtype.name}; expected a floating or integer dtype")
    if minval is None:
        raise InvalidArgumentError(f"minval is None for dtype {dtype.name}; only integer dtypes have a whole range to draw from")
    low, high = minval, 1 if maxval is None else maxval
    drawn = stateless_uniform_op(shape_argument(shape), key, dtype=dtype, alg=alg)
    if _is_number(low, 0):
        return _moved(drawn, 0, high, dtype)
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        low, high = parameter(low, dtype), parameter(high, dtype)
    return _moved(drawn, low, high - low, dtype)


def drawn_integers(shape: Any, key: Any, minval: Any, maxval: Any, dtype: DType, alg: str = PHILOX) -> Any:
    """Integers in ``[minval, maxval)`` for a key."""
    return stateless_uniform_integers_op(shape_argument(shape), key, parameter(minval, dtype), parameter(maxval, dtype), alg=alg)


def samples_argument(num_samples: Any) -> Any:
    """A number of samples as an int, or as it came for the op to look at."""
    return num_samples if isinstance(num_samples, Tensor | list | tuple) else axis_argument(num_samples, "num_samples")


# ---------------------------------------------------------------------- continuous distributions


@public("random.stateless_normal")
def stateless_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, name: str | None = None, alg: Any = "auto_select"
) -> Any:
    """Normal random numbers, a function of the seed.

    Args:
        shape: integers.
        seed: ``(2,)``, integers.
        mean: of the distribution; a shape that broadcasts with ``shape``.
        stddev: its standard deviation; a shape that broadcasts with ``shape``.
        dtype: floating.
        name: ignored.
        alg: ``"philox"``, ``"threefry"`` or ``"auto_select"``.

    Returns:
        A tensor of ``shape`` and ``dtype``.

    Raises:
        ShapeError: the seed is not two numbers.

    Sources:
        TensorFlow ``tf.random.stateless_normal``.
    """
    return drawn_normal(shape, seed_argument(seed), mean, stddev, as_dtype(dtype), algorithm_argument(alg))


@public("random.stateless_truncated_normal")
def stateless_truncated_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, name: str | None = None, alg: Any = "auto_select"
) -> Any:
    """Normal random numbers within two standard deviations of the mean, a function of the seed.

    Args:
        shape: integers.
        seed: ``(2,)``, integers.
        mean: of the normal distribution.
        stddev: its standard deviation, before truncation.
        dtype: floating.
        name: ignored.
        alg: ``"philox"``, ``"threefry"`` or ``"auto_select"``.

    Returns:
        A tensor of ``shape`` and ``dtype``.

    Raises:
        ShapeError: the seed is not two numbers.

    Sources:
        TensorFlow ``tf.random.stateless_truncated_normal``.
    """
    return drawn_truncated_normal(shape, seed_argument(seed), mean, stddev, as_dtype(dtype), algorithm_argument(alg))


@public("random.stateless_uniform")
def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, name: str | None = None, alg: Any = "auto_select"
) -> Any:
    """Uniform random numbers in ``[minval, maxval)``, a function of the seed.

    Args:
        shape: integers.
        seed: ``(2,)``, integers.
        minval: the least number; None together with ``maxval`` for the whole range of an integer dtype.
        maxval: the bound above; 1 by default for floating dtypes.
        dtype: floating or integer.
        name: ignored.
        alg: ``"philox"``, ``"threefry"`` or ``"auto_select"``.

    Returns:
        A tensor of ``shape`` and ``dtype``.

    Raises:
        ShapeError: the seed is not two numbers.
        ValueError: of ``minval`` and ``maxval`` only one is given for an integer dtype, or one for a dtype that has only its whole range.

    Sources:
        TensorFlow ``tf.random.stateless_uniform``.
    """
    wanted, key, algorithm = as_dtype(dtype), seed_argument(seed), algorithm_argument(alg)
    if not wanted.is_integer:
        return drawn_uniform(shape, key, minval, maxval, wanted, algorithm)
    if (minval is None) != (maxval is None):
        raise ValueError(
            f"{subject()}For integer dtype {wanted.name}, argument `minval` and `maxval` must be both None or not None. "
            f"Got `minval`={minval}, `maxval`={maxval}"
        )
    if minval is None:
        return stateless_uniform_bits_op(shape_argument(shape), key, dtype=wanted, alg=algorithm)
    if wanted.kind == "u" and wanted.size >= 4:
        raise ValueError(
            f"Argument `dtype` got invalid value {wanted.name}: unsigned integers are drawn from their whole range, with minval=None and maxval=None"
        )
    return drawn_integers(shape, key, minval, maxval, wanted, algorithm)


@public("random.stateless_gamma")
def stateless_gamma(shape: Any, seed: Any, alpha: Any, beta: Any = None, dtype: Any = float32, name: str | None = None) -> Any:
    """Gamma random numbers, a function of the seed. Their gradient reaches ``alpha`` and ``beta``.

    Args:
        shape: integers.
        seed: ``(2,)``, integers.
        alpha: the shape of the distribution, positive, broadcasting to ``shape``.
        beta: its rate, broadcasting to ``shape``; 1 by default.
        dtype: floating.
        name: ignored.

    Returns:
        A tensor of ``shape`` and ``dtype``.

    Raises:
        ShapeError: the seed is not two numbers, or a parameter does not broadcast to ``shape``.

    Sources:
        TensorFlow ``tf.random.stateless_gamma``.
    """
    wanted = as_dtype(dtype)
    return stateless_gamma_op(shape_argument(shape), seed_argument(seed), parameter(alpha, wanted), parameter(1 if beta is None else beta, wanted))


@public("random.stateless_parameterized_truncated_normal")
def stateless_parameterized_truncated_normal(
    shape: Any, seed: Any, means: Any = 0.0, stddevs: Any = 1.0, minvals: Any = -2.0, maxvals: Any = 2.0, name: str | None = None
) -> Any:
    """Normal random numbers given that they lie between bounds, a function of the seed.

    Args:
        shape: integers.
        seed: ``(2,)``, integers.
        means: of the normal distribution, broadcasting to ``shape``, floating.
        stddevs: its standard deviation, positive.
        minvals: the bound below.
        maxvals: the bound above.
        name: ignored.

    Returns:
        A tensor of ``shape`` and the dtype of the parameters.

    Raises:
        ShapeError: the seed is not two numbers, or a parameter does not broadcast to ``shape``.
        InvalidArgumentError: ``stddevs`` is not positive, or ``minvals`` is not below ``maxvals``.

    Sources:
        TensorFlow ``tf.random.stateless_parameterized_truncated_normal``.
    """
    given = (means, stddevs, minvals, maxvals)
    dtype = next((p.dtype for p in given if hasattr(p, "dtype")), float32)
    parameters = [parameter(p, as_dtype(dtype)) for p in given]
    return stateless_parameterized_truncated_normal_op(shape_argument(shape), seed_argument(seed), *parameters)


# ---------------------------------------------------------------------- counts and classes


@public("random.stateless_poisson")
def stateless_poisson(shape: Any, seed: Any, lam: Any, dtype: Any = int32, name: str | None = None) -> Any:
    """Poisson random numbers, a function of the seed.

    Args:
        shape: integers.
        seed: ``(2,)``, integers.
        lam: rates, 0 or more, broadcasting to ``shape``.
        dtype: integer or floating.
        name: ignored.

    Returns:
        A tensor of ``shape`` and ``dtype``.

    Raises:
        ShapeError: the seed is not two numbers, or ``lam`` does not broadcast to ``shape``.

    Sources:
        TensorFlow ``tf.random.stateless_poisson``.
    """
    return stateless_poisson_op(shape_argument(shape), seed_argument(seed), tensor(lam), dtype=as_dtype(dtype))


@public("random.stateless_binomial")
def stateless_binomial(shape: Any, seed: Any, counts: Any, probs: Any, output_dtype: Any = int32, name: str | None = None) -> Any:
    """Binomial random numbers, a function of the seed.

    Args:
        shape: integers.
        seed: ``(2,)``, integers.
        counts: of trials, broadcasting to ``shape``.
        probs: of success, in [0, 1], broadcasting to ``shape``.
        output_dtype: integer or floating.
        name: ignored.

    Returns:
        A tensor of ``shape`` and ``output_dtype``.

    Raises:
        ShapeError: the seed is not two numbers, or a parameter does not broadcast to ``shape``.

    Sources:
        TensorFlow ``tf.random.stateless_binomial``.
    """
    return stateless_binomial_op(shape_argument(shape), seed_argument(seed), tensor(counts), tensor(probs), dtype=as_dtype(output_dtype))


@public("random.stateless_categorical")
def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = int64, name: str | None = None) -> Any:
    """Random classes with probabilities ``softmax(logits)``, a function of the seed.

    Args:
        logits: ``(batch, classes)``, floating.
        num_samples: how many for each row.
        seed: ``(2,)``, integers.
        dtype: int32 or int64.
        name: ignored.

    Returns:
        ``(batch, num_samples)`` of ``dtype``.

    Raises:
        ShapeError: the seed is not two numbers, or ``logits`` is not a matrix.

    Sources:
        TensorFlow ``tf.random.stateless_categorical``.
    """
    return stateless_categorical_op(tensor(logits), samples_argument(num_samples), seed_argument(seed), dtype=as_dtype(dtype))


@public("random.experimental.stateless_shuffle")
def stateless_shuffle(value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None) -> Any:
    """The same slices along the first axis in another order, a function of the seed.

    Args:
        value: any shape, any dtype.
        seed: ``(2,)``, integers.
        alg: ``"philox"``, ``"threefry"`` or ``"auto_select"``.
        name: ignored.

    Returns:
        The shape and dtype of ``value``.

    Sources:
        TensorFlow ``tf.random.experimental.stateless_shuffle``.
    """
    return stateless_shuffle_op(tensor(value), seed_argument(seed), alg=algorithm_argument(alg))


# ---------------------------------------------------------------------- seeds from seeds


@public("random.split", "random.experimental.stateless_split")
def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Any:
    """Several seeds from one.

    Args:
        seed: ``(2,)``, int32 or int64.
        num: how many.
        alg: ``"philox"``, ``"threefry"`` or ``"auto_select"``.

    Returns:
        ``(num, 2)`` of the dtype of ``seed``.

    Sources:
        TensorFlow ``tf.random.split``.
    """
    given = tensor(seed)
    count = num if isinstance(num, Tensor) else axis_argument(num, "num")
    return stateless_uniform_bits_op(shape_argument([count, 2]), given, dtype=given.dtype, alg=algorithm_argument(alg))


@public("random.fold_in", "random.experimental.stateless_fold_in")
def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Any:
    """A seed from a seed and a number, such as that of a step.

    Args:
        seed: ``(2,)``, int32 or int64.
        data: a scalar, int32 or int64.
        alg: ``"philox"``, ``"threefry"`` or ``"auto_select"``.

    Returns:
        ``(2,)`` of the dtype of ``data``.

    Sources:
        TensorFlow ``tf.random.fold_in``.
    """
    number = tensor(data)
    first = stateless_uniform_bits_op((), seed_argument(seed), dtype=number.dtype, alg=algorithm_argument(alg))
    return stack_op([first, number], axis=0)
