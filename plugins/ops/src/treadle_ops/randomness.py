"""Random numbers: stateless ops, pure functions of a key, and the stateful ones, which draw a key first."""

from __future__ import annotations

from typing import Any

from treadle.contracts.spec import Spec
from treadle.declare import HostSpec, op, public
from treadle.dtypes import DType, as_dtype, float32, uint64
from treadle.errors import InvalidArgumentError
from treadle_ops import random_state
from treadle_ops.arguments import shape_argument
from treadle_ops.elementwise import add, multiply
from treadle_ops.inference import dims_of_value


@op("random_key", effect="random")
def random_key(*, seed: int | None) -> Spec:
    """The key of the next draw of the global stream, or of an op seed's own."""
    return Spec((2,), uint64)


@op("stateless_uniform")
def stateless_uniform_op(shape: HostSpec, key: HostSpec, *, dtype: DType) -> Spec:
    """Uniform numbers in [0, 1), a function of the key."""
    return Spec(dims_of_value(shape), dtype)


@public("random.set_seed")
def set_seed(seed: int) -> None:
    """Start the streams of all stateful random ops again from a seed, in traced functions too.

    Args:
        seed: any Python int.
    """
    random_state.state.set_seed(seed)


@public("random.uniform")
def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, seed: int | None = None, name: str | None = None) -> Any:
    """Uniform random numbers in ``[minval, maxval)``.

    Args:
        shape: integers.
        minval: the least value.
        maxval: the bound above; 1 by default for floating dtypes.
        dtype: floating.
        seed: a stream of its own.
        name: ignored.

    Returns:
        A tensor of ``shape`` and ``dtype``.

    Raises:
        InvalidArgumentError: the dtype is not floating.
    """
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise InvalidArgumentError(f"random.uniform of dtype {wanted.name}; expected a floating dtype")
    drawn = stateless_uniform_op(shape_argument(shape), random_key(seed=seed), dtype=wanted)
    if maxval is None and type(minval) is int and minval == 0:
        return drawn
    high = 1 if maxval is None else maxval
    return add(multiply(drawn, high - minval), minval)
