"""Arguments that the public random functions share: seeds, algorithms, shapes with those of parameters behind them."""

from __future__ import annotations

import enum
import operator
from typing import Any

from treadle.declare import public
from treadle.dtypes import DType, as_dtype
from treadle.errors import DTypeError
from treadle.state import LOCAL
from treadle.tensor import Tensor
from treadle.variable import Variable
from treadle_ops import random_state
from treadle_ops.arguments import shape_argument, tensor, tensor_argument
from treadle_ops.broadcasting import shape_op
from treadle_ops.called_function import subject
from treadle_ops.joining import concat_op
from treadle_ops.randomness import PHILOX, THREEFRY, random_key


@public("random.Algorithm", "random.experimental.Algorithm")
class Algorithm(enum.Enum):
    """Generators of random bits (TensorFlow's ``tf.random.Algorithm``)."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_NAMES: dict[Any, str] = {
    **dict.fromkeys((PHILOX, Algorithm.PHILOX, 1), PHILOX),
    **dict.fromkeys((THREEFRY, Algorithm.THREEFRY, 2), THREEFRY),
    **dict.fromkeys(("auto_select", Algorithm.AUTO_SELECT, 3), PHILOX),
}


def algorithm_argument(alg: Any) -> str:
    """The name of an algorithm given by name, number or enumeration member; Philox where the choice is ours.

    Raises:
        ValueError: there is no such algorithm.
    """
    if isinstance(alg, Tensor | Variable):
        alg = int(alg)
    known = _NAMES.get(alg.lower() if isinstance(alg, str) else alg)
    if known is None:
        raise ValueError(f"Unsupported algorithm {alg!r}; expected 'philox', 'threefry' or 'auto_select'")
    return known


def next_key(seed: Any) -> Any:
    """The key of the next draw of a stateful op: drawn at once, or by the graph each time it runs."""
    op_seed = None if seed is None else int(seed)
    return random_state.state.next_key(op_seed) if LOCAL.graph is None else random_key(seed=op_seed)


def seed_argument(seed: Any) -> Any:
    """The seed of a stateless op, as a host input wants it.

    Raises:
        DTypeError: it is no number at all.
    """
    if seed is None or isinstance(seed, str | bytes):
        raise DTypeError(f"{subject()}a seed must be two integers, not {seed!r}")
    if isinstance(seed, Tensor) and not seed.dtype.is_integer:
        raise DTypeError(f"{subject()}a seed must be two integers, not of dtype {seed.dtype.name}")
    if isinstance(seed, list | tuple) and all(hasattr(s, "__index__") and not isinstance(s, Tensor | Variable | bool) for s in seed):
        return tuple(operator.index(s) for s in seed)
    return seed


def parameter(value: Any, dtype: DType) -> Any:
    """A parameter of a distribution as a tensor of its dtype."""
    return value if isinstance(value, Tensor) else tensor_of(value, dtype)


def tensor_of(value: Any, dtype: DType) -> Any:
    """A value converted to a dtype, as TensorFlow converts: Python numbers and lists, not tensors of another one."""
    return tensor_argument(value, dtype)


def outer_shape(shape: Any, inner: Any) -> Any:
    """The shape of one draw of shape ``shape`` for every element of ``inner``."""
    first = shape_argument(shape)
    dims = inner.dims
    if type(first) is tuple and dims is not None and all(type(d) is int for d in dims):
        return (*first, *dims)
    if isinstance(first, tuple | list):
        first = tensor(first) if first else None
    behind = shape_op(inner, out_type=as_dtype("int32") if first is None else first.dtype)
    return behind if first is None else concat_op([first, behind], axis=0)
