"""Dropout: elements set to 0 at random, the others scaled up."""

from __future__ import annotations

from numbers import Real
from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import FreeSpec, gradient, op, public
from treadle.dtypes import float32, uint32
from treadle.errors import DTypeError, InvalidArgumentError, ShapeError
from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle_ops.arguments import shape_argument, tensor
from treadle_ops.broadcasting import shape_of, sum_like
from treadle_ops.called_function import subject
from treadle_ops.casting import cast
from treadle_ops.comparison import greater_equal
from treadle_ops.elementwise import divide_op, subtract
from treadle_ops.inference import FLOATING, broadcast, require_kind
from treadle_ops.masking import where_op
from treadle_ops.random_arguments import algorithm_argument, next_key, seed_argument
from treadle_ops.randomness import PHILOX, stateless_uniform_bits_op
from treadle_ops.stateless_random import drawn_uniform


@op("keep_scaled", elementwise=True)
def keep_scaled(x: Spec, bits: FreeSpec, *, rate: float) -> Spec:
    """``x / (1 - rate)`` where 32 random bits, as a number in ``[0, 1)``, are not below ``rate``, else 0; they broadcast."""
    if bits.dtype is not uint32:
        raise DTypeError(f"the random bits have dtype {bits.dtype.name}; expected uint32")
    return Spec(broadcast(x, bits), require_kind(x, FLOATING))


@gradient(keep_scaled)
def _(ctx: Any, g: Any) -> Any:
    x, bits = ctx.inputs
    return sum_like(keep_scaled(g, bits, rate=ctx.rate), x), None


@public("nn.dropout")
def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None) -> Any:
    """Elements set to 0 with the probability ``rate``, the others divided by ``1 - rate``.

    Args:
        x: any shape, floating.
        rate: a number in ``[0, 1)``, or a scalar tensor.
        noise_shape: a shape that broadcasts to that of ``x``, of the independent choices; by default each element has its own.
        seed: for a stream of its own.
        name: ignored.

    Returns:
        The shape and dtype of ``x``; ``x`` itself for a rate of 0.

    Raises:
        ValueError: the rate is not in ``[0, 1)``, or ``x`` is not floating.

    Sources:
        TensorFlow ``tf.nn.dropout``; Srivastava and others, "Dropout", JMLR 2014.
    """
    return _dropped(x, rate, noise_shape, lambda: next_key(seed), PHILOX)


@public("nn.experimental.stateless_dropout")
def stateless_dropout(x: Any, rate: Any, seed: Any, rng_alg: Any = "auto_select", noise_shape: Any = None, name: str | None = None) -> Any:
    """``dropout`` whose choices are a function of the seed.

    Args:
        x: any shape, floating.
        rate: a number in ``[0, 1)``, or a scalar tensor.
        seed: two integers.
        rng_alg: ``"philox"``, ``"threefry"`` or ``"auto_select"``.
        noise_shape: a shape that broadcasts to that of ``x``, of the independent choices; by default each element has its own.
        name: ignored.

    Returns:
        The shape and dtype of ``x``; ``x`` itself for a rate of 0.

    Raises:
        ValueError: the rate is not in ``[0, 1)``, or ``x`` is not floating.

    Sources:
        TensorFlow ``tf.nn.experimental.stateless_dropout``.
    """
    return _dropped(x, rate, noise_shape, lambda: seed_argument(seed), algorithm_argument(rng_alg))


def _dropped(x: Any, rate: Any, noise_shape: Any, key: Any, alg: str) -> Any:
    is_tensor = isinstance(rate, Tensor | Variable)
    if not is_tensor:
        if not isinstance(rate, Real):
            raise ValueError(f"{subject()}`rate` must be a scalar or scalar tensor. Received: rate={rate}")
        if not 0 <= rate < 1:
            raise InvalidArgumentError(f"{subject()}`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    values = tensor(x)
    if not values.dtype.is_floating:
        raise DTypeError(f"x has dtype {values.dtype.name}; dropout scales it, so it must be floating. Use td.cast to convert it.")
    given = key()  # drawn for a rate of 0 too, so that the rate does not change what is drawn next
    if not is_tensor and rate == 0:
        return values
    shape = _noise_shape(values, noise_shape)
    if not is_tensor:
        return keep_scaled(values, stateless_uniform_bits_op(shape, given, dtype=uint32, alg=alg), rate=float(rate))
    chance = tensor(rate)
    if chance.dims not in ((), None):
        raise ShapeError(f"`rate` has the shape {chance.shape}; it must be a scalar")
    noise = drawn_uniform(shape, given, 0, 1, float32 if values.dtype.size == 2 else values.dtype, alg)
    scaled = divide_op(values, subtract(1, cast(chance, values.dtype)))
    return where_op(greater_equal(noise, cast(chance, noise.dtype)), scaled, 0)


def _noise_shape(x: Any, wanted: Any) -> Any:
    """The wanted shape, in which None stands for the size of ``x``; that of ``x`` by default."""
    if wanted is None:
        return shape_of(x)
    if isinstance(wanted, Tensor | Variable):
        return shape_argument(wanted)
    items = list(wanted.as_list() if hasattr(wanted, "as_list") else wanted)
    if None in items:
        if x.dims is not None and len(x.dims) != len(items):
            raise ShapeError(f"noise_shape {items} does not fit x of shape {x.shape}; None stands for a size of x, so it needs as many axes")
        own = shape_of(x)
        items = [own[i] if size is None else size for i, size in enumerate(items)]
    return shape_argument(items)
