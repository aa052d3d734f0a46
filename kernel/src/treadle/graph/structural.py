"""The ops that the kernel itself owns: constants, inputs, Variables and calls.

Their meaning is part of tracing and of the runtime, so they have no kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treadle.contracts.op import EFFECTS, Op
from treadle.contracts.spec import Spec
from treadle.conversion import to_tuples
from treadle.dtypes import from_numpy

_LARGEST_VALUE = 64


def _const(*, value: Any) -> Spec:
    """A value known while tracing; ``value`` is a host array. Nested tuples cannot tell the shape of an empty table."""
    is_short = value.size <= _LARGEST_VALUE and (value.size or value.ndim < 2)
    known = to_tuples(value.tolist()) if is_short and value.dtype.kind in "iub" else None
    return Spec(value.shape, from_numpy[value.dtype], known)


def _placeholder(*, spec: Spec, name: str) -> Spec:
    """An input of the graph."""
    return spec


def _read(resource: Spec) -> Spec:
    """The value that a Variable has now."""
    return Spec(resource.dims, resource.dtype)


def _assign(resource: Spec, value: Spec) -> None:
    """Give a Variable another value."""


def _call(inputs: Spec, *, function: Any) -> list[Spec]:
    """Run another function's graph."""
    raise NotImplementedError


def _custom(inputs: Spec, *, pull: Any, count: int) -> list[Spec]:
    """The first ``count`` inputs, with a gradient of the user's for the others."""
    raise NotImplementedError


def _nothing(*, spec: Spec) -> Spec:
    """A value that is never read: what a branch gives for the saved values of the other one."""
    return spec


def _cond(predicate: Spec, inputs: Sequence[Spec], *, branches: Any) -> list[Spec]:
    """Run the first function if the predicate holds, else the second; both take the same inputs."""
    raise NotImplementedError


def _loop(inputs: Sequence[Spec], *, condition: Any, body: Any, carried: int, popped: int) -> list[Spec]:
    """Run a body again and again.

    The inputs are the carried values, the captured ones and lists that are popped from their ends. The condition takes the carried and the captured
    values; without one, the loop runs while the lists last. The body takes carried, captured and popped values and gives the next carried values and
    values to push; the results are the last carried values and the lists pushed. Lists are values of a dtype ``list_of``.
    """
    raise NotImplementedError


def _no_op() -> None:
    """Do nothing: what must have run before it is all there is to it."""


def structural(name: str, infer: Any, **options: Any) -> Op:
    """An op of the kernel's own."""
    op = Op(name, infer, structural=True, **options)
    op.plugin = "treadle-kernel"
    return op


CONST = structural("const", _const)
PLACEHOLDER = structural("placeholder", _placeholder)
READ = structural("read", _read, effect="reads")
ASSIGN = structural("assign", _assign, effect="writes")
CALL = structural("call", _call, effect="pure", can_fail=True)
CUSTOM = structural("custom_gradient", _custom)
NOTHING = structural("nothing", _nothing)
NO_OP = structural("no_op", _no_op)
COND = {effect: structural("cond" if effect == "pure" else f"cond.{effect}", _cond, effect=effect, can_fail=True) for effect in EFFECTS}
LOOP = {effect: structural("while" if effect == "pure" else f"while.{effect}", _loop, effect=effect, can_fail=True) for effect in EFFECTS}
CONDS, LOOPS = frozenset(COND.values()), frozenset(LOOP.values())
"""Branches and loops, one op per effect of what is inside."""

OPS = {op.name: op for op in (CONST, PLACEHOLDER, READ, ASSIGN, CALL, CUSTOM, NOTHING, NO_OP, *COND.values(), *LOOP.values())}


def as_constant(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A host array in the form that constants are kept in: C-contiguous and read-only."""
    if not array.flags.writeable and array.flags.c_contiguous:
        return array
    kept: np.ndarray[Any, Any] = np.ascontiguousarray(array).reshape(np.shape(array)).view()
    kept.flags.writeable = False
    return kept
