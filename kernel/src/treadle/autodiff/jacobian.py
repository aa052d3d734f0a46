"""Jacobians: one reverse sweep, run for all elements of the target at once by what fills the role ``vectorized_map``, or once per element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treadle import nest
from treadle.autodiff.sweep import dense
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.registry import registry

_FEW = 8
"""So few sweeps are made one after the other, as tracing one takes longer."""


def _static(tensor: Any, what: str) -> tuple[int, ...]:
    shape = tensor.shape
    if not shape.is_fully_defined():
        raise InvalidArgumentError(
            f"the jacobian's {what} has the shape {shape}; it must be known while tracing. Give the function an input_signature, or reshape"
        )
    return tuple(shape)


def jacobian(tape: Any, target: Any, sources: Any, unconnected: Any, at_once: bool) -> Any:
    """See ``GradientTape.jacobian``."""
    shape = _static(target, "target")
    flat_sources = nest.flatten(sources)
    count = math.prod(shape)
    reshape = registry.role("reshape")
    seeds = reshape(_unit_vectors(count, target.dtype), (count, *shape))
    rows = _swept(tape, target, flat_sources, seeds, at_once)
    results = []
    for source, row in zip(flat_sources, rows, strict=True):
        full = [*shape, *_static(source, "source")]
        if row is None:
            empty = count == 0 or unconnected.value == "zero"
            results.append(registry.role("zeros")(full, source.dtype) if empty else None)
        else:
            results.append(reshape(row, full))
    return nest.pack_sequence_as(sources, results)


def batch_jacobian(tape: Any, target: Any, source: Any, unconnected: Any, at_once: bool) -> Any:
    """See ``GradientTape.batch_jacobian``."""
    target_shape, source_shape = _static(target, "target"), _static(source, "source")
    if not target_shape or not source_shape or target_shape[0] != source_shape[0]:
        raise ShapeError(f"batch_jacobian: target of shape {target_shape} and source of shape {source_shape} must share their first size")
    reshape, (batch, *inner) = registry.role("reshape"), target_shape
    count = math.prod(inner)
    seeds = registry.role("broadcast_to")(reshape(_unit_vectors(count, target.dtype), (count, 1, *inner)), (count, *target_shape))
    (row,) = _swept(tape, target, [source], seeds, at_once)
    full = [*target_shape, *source_shape[1:]]
    if row is None:
        return registry.role("zeros")(full, source.dtype) if unconnected.value == "zero" or not count else None
    by_batch = registry.role("transpose")(reshape(row, [count, batch, math.prod(source_shape[1:])]), perm=(1, 0, 2))
    return reshape(by_batch, full)


def _unit_vectors(count: int, dtype: Any) -> Any:
    return registry.role("one_hot")(np.arange(count, dtype=np.int32), count, dtype)


def _swept(tape: Any, target: Any, sources: list[Any], seeds: Any, at_once: bool) -> list[Any]:
    """Per source the gradients for each of the seeds along a new first axis, or None where there are none."""
    persistent, tape._persistent = tape._persistent, True
    if tape._recording and not persistent:
        tape._pop()
    connected: list[int] = []

    def sweep(seed: Any) -> list[Any]:
        gradients = tape.gradient(target, sources, seed)
        connected[:] = [i for i, g in enumerate(gradients) if g is not None]
        return [dense(gradients[i]) for i in connected]

    try:
        if at_once and seeds.shape[0] > _FEW:
            rows = registry.role("vectorized_map")(sweep, seeds, warn=False)
        else:
            rows = [registry.role("stack")(column) for column in zip(*(sweep(seeds[i]) for i in range(seeds.shape[0])), strict=True)]
    finally:
        tape._persistent = persistent
        if not persistent:
            tape._records = None
    found = dict(zip(connected, rows, strict=True))
    return [found.get(i) for i in range(len(sources))]
