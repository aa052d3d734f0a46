"""Jacobians: one reverse sweep, run for all elements of the target at once by what fills the role ``vectorized_map``, or once per element."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from treadle import nest
from treadle.autodiff.sweep import dense
from treadle.conversion import convert_to_tensor
from treadle.dtypes import int32
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.registry import registry

_FEW = 8
"""So few sweeps are made one after the other, as tracing one takes longer."""


def _sizes(tensor: Any) -> Any:
    """The shape as a tuple, or as a tensor where sizes are not known while tracing."""
    return tuple(tensor.shape) if tensor.shape.is_fully_defined() else registry.role("shape")(tensor)


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, tuple) and isinstance(second, tuple):
        return (*first, *second)
    return registry.role("concat")([convert_to_tensor(first, int32), convert_to_tensor(second, int32)], 0)


def jacobian(tape: Any, target: Any, sources: Any, unconnected: Any, at_once: bool) -> Any:
    """See ``GradientTape.jacobian``."""
    shape = _sizes(target)
    flat_sources = nest.flatten(sources)
    reshape = registry.role("reshape")
    if isinstance(shape, tuple):
        count = math.prod(shape)
        rows = _swept(tape, target, flat_sources, reshape(_unit_vectors(count, target.dtype), (count, *shape)), count, at_once)
    else:
        count = registry.role("shape")(reshape(target, (-1,)))[0]
        rows = _swept_for_each(tape, target, flat_sources, count, lambda i: reshape(registry.role("one_hot")(i, count, target.dtype), shape))
    is_empty = isinstance(shape, tuple) and 0 in shape
    results = []
    for source, row in zip(flat_sources, rows, strict=True):
        if row is not None:
            results.append(reshape(row, _joined(shape, _sizes(source))))
        elif is_empty or unconnected.value == "zero":
            results.append(registry.role("zeros")(_joined(shape, _sizes(source)), source.dtype))
        else:
            results.append(None)
    return nest.pack_sequence_as(sources, results)


def batch_jacobian(tape: Any, target: Any, source: Any, unconnected: Any, at_once: bool) -> Any:
    """See ``GradientTape.batch_jacobian``."""
    (batch, inner), (source_batch, source_inner) = _of_rows(target, "target"), _of_rows(source, "source")
    if None not in (batch, source_batch) and batch != source_batch:
        raise ShapeError(f"batch_jacobian: target of shape {target.shape} and source of shape {source.shape} must share their first size")
    reshape, zeros = registry.role("reshape"), registry.role("zeros")
    sizes, source_sizes = _sizes(target), _sizes(source)
    full = _joined(sizes, source_sizes[1:])
    count = _product(inner, sizes[1:])
    if isinstance(count, int):
        seeds = registry.role("broadcast_to")(reshape(_unit_vectors(count, target.dtype), (count, 1, *inner)), _joined((count,), sizes))
        (row,) = _swept(tape, target, [source], seeds, count, at_once and batch is not None)
    else:

        def seed(i: Any) -> Any:
            unit = reshape(registry.role("one_hot")(i, count, target.dtype), _joined((1,), sizes[1:]))
            return registry.role("broadcast_to")(unit, sizes)

        (row,) = _swept_for_each(tape, target, [source], count, seed)
    if row is None:
        return zeros(full, source.dtype) if unconnected.value == "zero" or (isinstance(count, int) and not count) else None
    by_batch = registry.role("transpose")(reshape(row, [count, sizes[0], _product(source_inner, source_sizes[1:])]), perm=(1, 0, 2))
    return reshape(by_batch, full)


def _of_rows(tensor: Any, what: str) -> tuple[int | None, tuple[int | None, ...]]:
    """The first size and the others, None for those that are not known while tracing.

    Raises:
        ShapeError: the tensor is a scalar.
        InvalidArgumentError: not even their number is known.
    """
    if tensor.shape.rank == 0:
        raise ShapeError(f"batch_jacobian: the {what} is a scalar; it must have an axis for the batch")
    if tensor.shape.rank is None:
        raise InvalidArgumentError(f"batch_jacobian: the rank of the {what} must be known while tracing. Use set_shape, or reshape")
    first, *others = tensor.shape.as_list()
    return first, tuple(others)


def _product(known: tuple[int | None, ...], sizes: Any) -> Any:
    """How many elements there are with these sizes: a number, or a scalar tensor if one is not known while tracing."""
    if None not in known:
        return math.prod(known)
    return math.prod([sizes[i] if size is None else size for i, size in enumerate(known)])


def _unit_vectors(count: int, dtype: Any) -> Any:
    return registry.role("one_hot")(np.arange(count, dtype=np.int32), count, dtype)


@contextmanager
def _kept(tape: Any) -> Iterator[None]:
    """The tape as a persistent one, for many sweeps."""
    persistent, tape._persistent = tape._persistent, True
    if tape._recording and not persistent:
        tape._pop()
    try:
        yield
    finally:
        tape._persistent = persistent
        if not persistent:
            tape._records = None


def _swept(tape: Any, target: Any, sources: list[Any], seeds: Any, count: int, at_once: bool) -> list[Any]:
    """Per source the gradients for each of the seeds along a new first axis, or None where there are none."""
    connected: list[int] = []

    def sweep(seed: Any) -> list[Any]:
        gradients = tape.gradient(target, sources, seed)
        connected[:] = [i for i, g in enumerate(gradients) if g is not None]
        return [dense(gradients[i]) for i in connected]

    with _kept(tape):
        if at_once and count > _FEW:
            rows = registry.role("vectorized_map")(sweep, seeds, warn=False)
        else:
            rows = [registry.role("stack")(column) for column in zip(*(sweep(seeds[i]) for i in range(count)), strict=True)]
    found = dict(zip(connected, rows, strict=True))
    return [found.get(i) for i in range(len(sources))]


def _swept_for_each(tape: Any, target: Any, sources: list[Any], count: Any, seed: Callable[[Any], Any]) -> list[Any]:
    """The same for as many seeds as a scalar tensor says, one after the other, as for a target whose size is not known while tracing."""
    zeros_like = registry.role("zeros_like")
    connected = [False] * len(sources)

    def sweep(i: Any) -> list[Any]:
        gradients = tape.gradient(target, sources, seed(i))
        connected[:] = [g is not None for g in gradients]
        values = [s.value() if callable(getattr(s, "value", None)) else s for s in sources]
        return [zeros_like(v) if g is None else dense(g) for g, v in zip(gradients, values, strict=True)]

    with _kept(tape):
        rows = registry.role("for_each")(sweep, count, [source.dtype for source in sources])
    return [row if is_connected else None for row, is_connected in zip(rows, connected, strict=True)]
