"""Random numbers from streams that move on at every draw: ``td.random.normal`` and its kin, and ``td.random.set_seed``.

Every draw takes the next key of its stream when the program runs, so re-seeding before a call of a traced function has its effect.
"""

from __future__ import annotations

from typing import Any

from treadle.declare import public
from treadle.dtypes import as_dtype, float32, int64
from treadle_ops import random_state
from treadle_ops.arguments import dtype_argument, tensor
from treadle_ops.called_function import subject
from treadle_ops.random_arguments import next_key, outer_shape, parameter
from treadle_ops.randomness import stateless_categorical_op, stateless_gamma_op, stateless_poisson_op, stateless_shuffle_op
from treadle_ops.stateless_random import drawn_integers, drawn_normal, drawn_truncated_normal, drawn_uniform, samples_argument


@public("random.set_seed")
def set_seed(seed: int) -> None:
    """Start the streams of all stateful random ops again from a seed, in traced functions too.

    Args:
        seed: any Python int.
    """
    random_state.state.set_seed(seed)


@public("random.normal")
def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: int | None = None, name: str | None = None) -> Any:
    """Normal random numbers.

    Args:
        shape: integers.
        mean: of the distribution; a shape that broadcasts with ``shape``.
        stddev: its standard deviation; a shape that broadcasts with ``shape``.
        dtype: floating.
        seed: for a stream of its own.
        name: ignored.

    Returns:
        A tensor of ``shape`` and ``dtype``.

    Raises:
        InvalidArgumentError: the dtype is not floating.

    Sources:
        TensorFlow ``tf.random.normal``.
    """
    return drawn_normal(shape, next_key(seed), mean, stddev, as_dtype(dtype))


@public("random.truncated_normal")
def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: int | None = None, name: str | None = None) -> Any:
    """Normal random numbers, those farther than two standard deviations from the mean drawn again.

    Args:
        shape: integers.
        mean: of the normal distribution.
        stddev: its standard deviation, before truncation.
        dtype: floating.
        seed: for a stream of its own.
        name: ignored.

    Returns:
        A tensor of ``shape`` and ``dtype``.

    Raises:
        InvalidArgumentError: the dtype is not floating.

    Sources:
        TensorFlow ``tf.random.truncated_normal``.
    """
    return drawn_truncated_normal(shape, next_key(seed), mean, stddev, as_dtype(dtype))


@public("random.uniform")
def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, seed: int | None = None, name: str | None = None) -> Any:
    """Uniform random numbers in ``[minval, maxval)``.

    Args:
        shape: integers.
        minval: the least number, a shape that broadcasts with ``shape``.
        maxval: the bound above; 1 by default for floating dtypes.
        dtype: floating or integer.
        seed: for a stream of its own.
        name: ignored.

    Returns:
        A tensor of ``shape`` and ``dtype``.

    Raises:
        ValueError: ``maxval`` is missing for an integer dtype.
        InvalidArgumentError: ``minval`` is not below ``maxval``, for an integer dtype.

    Sources:
        TensorFlow ``tf.random.uniform``.
    """
    wanted = as_dtype(dtype)
    if wanted.is_integer:
        if maxval is None:
            raise ValueError(f"{subject()}Must specify maxval for integer dtype {wanted.name}")
        return drawn_integers(shape, next_key(seed), minval, maxval, wanted)
    return drawn_uniform(shape, next_key(seed), minval, maxval, wanted)


@public("random.gamma")
def gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = float32, seed: int | None = None, name: str | None = None) -> Any:
    """Gamma random numbers: ``shape`` of them for each pair of ``alpha`` and ``beta``. Their gradient reaches both.

    Args:
        shape: integers.
        alpha: the shape of the distribution, positive.
        beta: its rate, a shape that broadcasts with that of ``alpha``; 1 by default.
        dtype: floating.
        seed: for a stream of its own.
        name: ignored.

    Returns:
        ``shape + broadcast(alpha, beta).shape``, of ``dtype``.

    Sources:
        TensorFlow ``tf.random.gamma``; Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", 2018.
    """
    wanted = as_dtype(dtype)
    a = parameter(alpha, wanted)
    b = parameter(1 if beta is None else beta, wanted)
    return stateless_gamma_op(outer_shape(shape, a if b.dims == () else a + b), next_key(seed), a, b)


@public("random.poisson")
def poisson(shape: Any, lam: Any, dtype: Any = float32, seed: int | None = None, name: str | None = None) -> Any:
    """Poisson random numbers: ``shape`` of them for each rate.

    Args:
        shape: integers.
        lam: rates, 0 or more.
        dtype: floating or integer.
        seed: for a stream of its own.
        name: ignored.

    Returns:
        ``shape + lam.shape``, of ``dtype``.

    Sources:
        TensorFlow ``tf.random.poisson``.
    """
    rate = tensor(lam)
    return stateless_poisson_op(outer_shape(shape, rate), next_key(seed), rate, dtype=as_dtype(dtype))


@public("random.shuffle")
def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """The same slices along the first axis in a random order.

    Args:
        value: any shape, any dtype.
        seed: for a stream of its own.
        name: ignored.

    Returns:
        The shape and dtype of ``value``.

    Sources:
        TensorFlow ``tf.random.shuffle``.
    """
    return stateless_shuffle_op(tensor(value), next_key(seed))


@public("random.categorical")
def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None, name: str | None = None) -> Any:
    """Random classes with probabilities ``softmax(logits)``.

    Args:
        logits: ``(batch, classes)``, floating.
        num_samples: how many for each row.
        dtype: int32 or int64; int64 by default.
        seed: for a stream of its own.
        name: ignored.

    Returns:
        ``(batch, num_samples)`` of ``dtype``.

    Raises:
        ShapeError: ``logits`` is not a matrix.

    Sources:
        TensorFlow ``tf.random.categorical``.
    """
    return stateless_categorical_op(tensor(logits), samples_argument(num_samples), next_key(seed), dtype=dtype_argument(dtype, int64))
