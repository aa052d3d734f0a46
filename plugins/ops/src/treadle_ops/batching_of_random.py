"""Batching rules of random ops: every element gets numbers of its own.

The key that a stateful op draws serves all elements in one larger draw. A seed that the program gives is the same for all of them; where only that
is there and what is drawn from differs, the op runs once per element.
"""

from __future__ import annotations

from typing import Any

from treadle.declare import batching
from treadle.dtypes import float64
from treadle_ops.batch_operands import Drawn, NotBatchedError, Operand, length_of, merged, parted, prefixed, sizes_of
from treadle_ops.gathering import gather_op
from treadle_ops.randomness import stateless_uniform_op
from treadle_ops.sorting import argsort_op


def _key_of_all(key: Operand) -> Any:
    if not isinstance(key, Drawn):
        raise NotBatchedError
    return key.key


@batching("stateless_uniform", "stateless_normal", "stateless_truncated_normal", "stateless_uniform_bits")
@batching("stateless_uniform_integers", "stateless_gamma", "stateless_poisson", "stateless_binomial", "stateless_parameterized_truncated_normal")
def _(op: Any, shape: Operand, key: Operand, *parameters: Operand, **attrs: Any) -> Any:
    wanted = shape.shared()
    rank = length_of(wanted)
    return op(prefixed(wanted, key.count), _key_of_all(key), *(o.of_rank(rank) for o in parameters), **attrs)


@batching("stateless_categorical")
def _(op: Any, logits: Operand, num_samples: Operand, key: Operand, **attrs: Any) -> Any:
    rows = logits.batched()
    return parted(op(merged(rows), num_samples.shared(), _key_of_all(key), **attrs), logits.count, sizes_of(rows)[1])


@batching("stateless_shuffle")
def _(op: Any, value: Operand, key: Operand, *, alg: str) -> Any:
    rows = value.batched()
    order = argsort_op(stateless_uniform_op(sizes_of(rows)[:2], _key_of_all(key), dtype=float64, alg=alg), axis=-1, descending=False)
    return gather_op(rows, order, axis=1, batch_dims=1)
