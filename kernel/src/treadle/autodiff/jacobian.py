"""Jacobians by one reverse sweep per element of the target."""

from __future__ import annotations

from typing import Any

from treadle import nest
from treadle.autodiff.sweep import dense
from treadle.errors import InvalidArgumentError, ShapeError
from treadle.registry import registry


def _static(tensor: Any, what: str) -> tuple[int, ...]:
    shape = tensor.shape
    if not shape.is_fully_defined():
        raise InvalidArgumentError(
            f"the jacobian's {what} has the shape {shape}; it must be known while tracing. Give the function an input_signature, or reshape"
        )
    return tuple(shape)


def jacobian(tape: Any, target: Any, sources: Any, unconnected: Any) -> Any:
    """See ``GradientTape.jacobian``."""
    shape = _static(target, "target")
    flat_sources = nest.flatten(sources)
    count = 1
    for size in shape:
        count *= size
    rows: list[list[Any]] = [[] for _ in flat_sources]
    stack, reshape, one_hot = registry.role("stack"), registry.role("reshape"), registry.role("one_hot")
    persistent, tape._persistent = tape._persistent, True
    if tape._recording and not persistent:
        tape._pop()
    try:
        for i in range(count):
            seed = reshape(one_hot(i, count, target.dtype), shape)
            for row, gradient in zip(rows, nest.flatten(tape.gradient(target, flat_sources, seed)), strict=True):
                row.append(dense(gradient))
    finally:
        tape._persistent = persistent
        if not persistent:
            tape._records = None
    results = []
    for source, row in zip(flat_sources, rows, strict=True):
        full = [*shape, *_static(source, "source")]
        if not row or all(g is None for g in row):
            empty = count == 0 or unconnected.value == "zero"
            results.append(registry.role("zeros")(full, source.dtype) if empty else None)
            continue
        zero = registry.role("zeros_like")
        value = source if not hasattr(source, "value") or not callable(source.value) else source.value()
        results.append(reshape(stack([zero(value) if g is None else g for g in row]), full))
    return nest.pack_sequence_as(sources, results)


def batch_jacobian(tape: Any, target: Any, source: Any, unconnected: Any) -> Any:
    """See ``GradientTape.batch_jacobian``."""
    target_shape, source_shape = _static(target, "target"), _static(source, "source")
    if not target_shape or not source_shape or target_shape[0] != source_shape[0]:
        raise ShapeError(f"batch_jacobian: target of shape {target_shape} and source of shape {source_shape} must share their first size")
    stack, reshape, one_hot = registry.role("stack"), registry.role("reshape"), registry.role("one_hot")
    batch = target_shape[0]
    count = 1
    for size in target_shape[1:]:
        count *= size
    persistent, tape._persistent = tape._persistent, True
    if tape._recording and not persistent:
        tape._pop()
    columns: list[Any] = []
    try:
        for i in range(count):
            row = reshape(one_hot(i, count, target.dtype), (1, *target_shape[1:]))
            seed = registry.role("broadcast_to")(row, target_shape)
            columns.append(dense(tape.gradient(target, source, seed)))
    finally:
        tape._persistent = persistent
        if not persistent:
            tape._records = None
    full = [batch, *target_shape[1:], *source_shape[1:]]
    if not columns or all(c is None for c in columns):
        return registry.role("zeros")(full, source.dtype) if unconnected.value == "zero" or not columns else None
    return reshape(stack([registry.role("zeros_like")(source) if c is None else c for c in columns], 1), full)
